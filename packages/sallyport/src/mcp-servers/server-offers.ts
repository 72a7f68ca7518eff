/** A resource, resource template or prompt as its server lists it: known members of the right type only. Untrusted. */
export interface ListedOffer {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly [member: string]: unknown;
}

/** A resource. */
export interface ListedResource extends ListedOffer {
  readonly uri: string;
}

/** A template of the URIs of resources (RFC 6570). */
export interface ListedTemplate extends ListedOffer {
  readonly uriTemplate: string;
}

/** What an MCP server offers beside its tools. */
export interface ServerOffers {
  /** What the server says of its use; undefined when it says nothing. */
  readonly instructions?: string;
  /** The capabilities that it declares, as it declares them. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedTemplate[];
  readonly prompts: readonly ListedOffer[];
}

/** Those of a server that was not asked yet, or whose lists may differ from caller to caller. */
export const NO_OFFERS: ServerOffers = { capabilities: {}, resources: [], templates: [], prompts: [] };

/** What a server offers, and what of its lists was left out. */
export interface OfferListing {
  readonly offers: ServerOffers;
  /** Methods whose list is incomplete, with the reason. */
  readonly incomplete: readonly { readonly method: string; readonly reason: string }[];
}
