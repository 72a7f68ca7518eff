import type { UpstreamDefinition, UpstreamStatus } from '../../api/schemas/upstream.ts';
import type { CheckDocument } from '../domain/document/given-document.ts';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { LogMessage } from '../domain/invocation/log-message.ts';
import type { Principal } from '../domain/principal/principal.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { UpstreamTool } from './quarantine-store.port.ts';

/** Owner of the call and its granted credentials. */
export interface UpstreamCaller {
  readonly principal: Pick<Principal, 'tenantId' | 'agentDid' | 'userDid'>;
  /** Values of the credentials of this call, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** For a document server in this process; absent for every other one. */
  readonly checkDocument?: CheckDocument;
}

/** Result of adding an upstream. */
export interface AddedUpstream {
  readonly status: UpstreamStatus;
  /** Its tools as listed; empty for a disabled upstream. */
  readonly tools: readonly ListedMcpTool[];
  /** The server's version as it states it; empty when it states none. */
  readonly serverVersion: string;
  /** Invalid entries of its list, with the reason. */
  readonly malformed: readonly { readonly place: string; readonly reason: string }[];
}

/** The current state of an upstream. */
export interface CurrentUpstream {
  readonly status: UpstreamStatus;
  readonly definition: UpstreamDefinition;
  /** The last known list. */
  readonly tools: readonly ListedMcpTool[];
  /** The server's version as it states it; empty when it states none, and before the first connection. */
  readonly serverVersion: string;
  /** Invalid entries of its list, with the reason; the first hundred. */
  readonly malformed: AddedUpstream['malformed'];
}

/** What upstreams offer beside their tools. */
export interface UpstreamOffers {
  /**
   * What an upstream offers beside its tools; undefined when there is no such upstream. Never rejects.
   * @param caller whose own connection is asked, where each caller has one; absent: nothing is offered there
   */
  offers(tenantId: string, name: string, caller?: UpstreamCaller): Promise<OfferingUpstream | undefined>;
  /**
   * Notifies of each change of a resource until disposed.
   * @throws E3809 for no such upstream; see `WatchedResources.add`, and `CallerWatches.add` where each caller has a
   *   connection
   */
  watchResource(
    tenantId: string,
    name: string,
    wanted: WantedResource,
    listener: ResourceListener,
  ): Promise<Disposable>;
  /** Notifies when prompts or templates begin, or end, to wait for an operator. @returns a function that removes the listener */
  onOffersHeld(listener: OffersHeldAt): () => void;
  /** Notifies when an upstream offers something else than before. @returns a function that removes the listener */
  onOffersChanged(listener: () => void): () => void;
}

/** A resource to be watched, and for whom. */
export interface WantedResource {
  readonly uri: string;
  /** Whose resource is meant, at an upstream of the catalogue that runs in this process. */
  readonly tenantId: string;
  /** Over whose connection, where each caller has one; absent: the asker has no credential there. */
  readonly caller: UpstreamCaller | undefined;
}

/** Notified of a resource that is watched. */
export interface ResourceListener {
  onUpdated(): void;
  /** The connection of the caller ended, and the subscription with it. Never called where all share a connection. */
  onEnded(): void;
}

/** Called with log messages of upstreams that belong to no call. @param owner see `SupervisedParts.onLog` */
export type UpstreamLogged = (tenantId: string, upstream: string, message: LogMessage, owner?: string) => void;

/** Called when prompts or templates of an upstream begin or end to wait for an operator. */
export type OffersHeldAt = (
  tenantId: string,
  upstream: string,
  change: 'tools-quarantined' | 'tools-restored',
  offers: readonly UpstreamTool[],
) => void;

/** The state of an upstream from now on, also after a restart of the layer, and the events of its change. */
export interface UpstreamSwitch {
  readonly disabled: boolean;
  readonly events?: EventsOf<void>;
}

/** Called when the tools of an upstream differ from the last list known in this process; never for `add`. */
export type ToolsChanged = (
  tenantId: string,
  name: string,
  tools: readonly ListedMcpTool[],
  serverVersion: string,
) => void;

/** What an upstream offers beside its tools, and its version. */
export interface OfferingUpstream {
  readonly serverVersion: string;
  readonly offers: ServerOffers;
}

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
