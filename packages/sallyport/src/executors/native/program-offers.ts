import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ServerMethod } from '../../domain/tool/server-methods.ts';
import { mayComeFrom } from '../../domain/tool/uri-templates.ts';
import type { OfferingUpstream } from '../../mcp-servers/upstreams.ts';
import type { NativeCallContext, NativeFunction } from './native-executor.ts';
import { contentsOf, type Members, messagesOf, type PromptAnswer, type ResourceAnswer } from './offer-answers.ts';

/** Suggests values for an argument. @param others what is known of the other arguments */
export type Complete = (
  value: string,
  others: Readonly<Record<string, string>>,
) => readonly string[] | Promise<readonly string[]>;

/** What is listed of a resource, a template or a prompt; further members of MCP are listed as they are. */
interface Described {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly [member: string]: unknown;
}

/** A resource of the embedding program. */
export interface ProgramResource extends Described {
  readonly uri: string;
  readonly mimeType?: string;
  /** Its content: a text, bytes, or contents as MCP has them. */
  read(uri: string, context: NativeCallContext): ResourceAnswer | Promise<ResourceAnswer>;
}

/** A template of the URIs of resources (RFC 6570). */
export interface ProgramTemplate extends Described {
  readonly uriTemplate: string;
  readonly mimeType?: string;
  /** Suggests values, by the variables of the template. */
  readonly complete?: Readonly<Record<string, Complete>>;
  read(uri: string, context: NativeCallContext): ResourceAnswer | Promise<ResourceAnswer>;
}

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Complete;
}

/** A prompt of the embedding program; its name has no two underscores in a row. */
export interface ProgramPrompt extends Described {
  readonly arguments?: readonly PromptArgument[];
  /** Its messages: one text of the user, or messages as MCP has them. */
  get(given: Readonly<Record<string, string>>, context: NativeCallContext): PromptAnswer | Promise<PromptAnswer>;
}

/** A resource that is offered until disposed. */
export interface OfferedResource extends Disposable {
  /** Notifies the clients that watch it. @param uri of a template: the resource that changed */
  updated(uri?: string): void;
}

/** Resources and prompts that the embedding program offers, and the functions that give them. */
export interface ProgramOffers {
  /** @throws ToolLayerError E3007 when the URI or template is offered already, E3803 for one too many */
  addResource(resource: ProgramResource | ProgramTemplate): OfferedResource;
  /** @throws ToolLayerError E3007 when the name is taken, E3801 for a name with two underscores, E3803 for one too many */
  addPrompt(prompt: ProgramPrompt): Disposable;
  /** The function that answers a request of MCP. */
  answer(method: ServerMethod): NativeFunction;
  /** As an upstream offers its own; undefined for other tenants than the program's. */
  offers(tenantId: string): Promise<OfferingUpstream | undefined>;
  onOffersChanged(listener: () => void): () => void;
  watchResource(uri: string, onUpdated: () => void): Disposable;
}

/** Most resources, templates and prompts together. */
const OFFERS_MAX = 10_000;
/** Most values that one answer suggests (MCP). */
const VALUES_MAX = 100;
/** JSON-RPC: invalid parameters. */
const INVALID_PARAMS = -32602;

/** What a program offers. */
interface Offered {
  readonly resources: Map<string, ProgramResource>;
  readonly templates: Map<string, ProgramTemplate>;
  readonly prompts: Map<string, ProgramPrompt>;
}

/** @param tenantId tenant of the embedding program */
export function createProgramOffers(tenantId: string): ProgramOffers {
  const offered: Offered = { resources: new Map(), templates: new Map(), prompts: new Map() };
  const { resources, templates, prompts } = offered;
  const answers = answersFrom(offered);
  const watched = new Listeners<string>();
  const changes = new Listeners<'offers'>();
  const add = <Offer>(all: Map<string, Offer>, key: string, offer: Offer): Disposable => {
    if (all.has(key)) throw new ToolLayerError('E3007', `${key} is offered already. Dispose it first.`);
    if (resources.size + templates.size + prompts.size >= OFFERS_MAX)
      throw new ToolLayerError('E3803', `A program offers ${OFFERS_MAX} resources and prompts at most.`);
    all.set(key, offer);
    changes.notify('offers');
    return {
      [Symbol.dispose]() {
        if (all.get(key) !== offer) return;
        all.delete(key);
        changes.notify('offers');
      },
    };
  };
  return {
    addResource(resource) {
      const own = 'uri' in resource ? String(resource.uri) : undefined;
      const added =
        own === undefined
          ? add(templates, String(resource['uriTemplate']), resource as ProgramTemplate)
          : add(resources, own, resource as ProgramResource);
      const updated = (uri = own): void => (uri === undefined ? undefined : watched.notify(uri));
      return { ...added, updated };
    },
    addPrompt(prompt) {
      if (!prompt.name.includes('__')) return add(prompts, prompt.name, prompt);
      const message = `The prompt ${prompt.name} has two underscores in a row, as those of upstreams. Name it otherwise.`;
      throw new ToolLayerError('E3801', message);
    },
    answer: (method) => answers[method],
    offers: async (asked) => (asked === tenantId ? listedOffers(offered) : undefined),
    onOffersChanged(listener) {
      const added = changes.add('offers', listener);
      return () => added[Symbol.dispose]();
    },
    watchResource: (uri, onUpdated) => watched.add(uri, onUpdated),
  };
}

/** Listeners by what they are notified of. */
class Listeners<Key> {
  readonly #all = new Map<Key, Set<() => void>>();

  add(key: Key, listener: () => void): Disposable {
    const listening = this.#all.get(key) ?? new Set();
    this.#all.set(key, listening.add(listener));
    return {
      [Symbol.dispose]: () => {
        listening.delete(listener);
        if (listening.size === 0 && this.#all.get(key) === listening) this.#all.delete(key);
      },
    };
  }

  notify(key: Key): void {
    for (const listener of this.#all.get(key) ?? []) listener();
  }
}

function answersFrom({ resources, templates, prompts }: Offered): Readonly<Record<ServerMethod, NativeFunction>> {
  const completerOf = ({ type, name, uri }: Members, argument: string): Complete | undefined =>
    type === 'ref/prompt'
      ? prompts.get(String(name))?.arguments?.find((each) => each.name === argument)?.complete
      : templates.get(String(uri))?.complete?.[argument];
  return {
    async 'resources/read'({ uri: asked }, context) {
      const uri = String(asked);
      const reader = resources.get(uri) ?? [...templates.values()].find((each) => mayComeFrom(each.uriTemplate, uri));
      if (reader === undefined) throw unknown('resource');
      return { contents: contentsOf(await reader.read(uri, context), uri, reader.mimeType) };
    },
    async 'prompts/get'({ name, arguments: given = {} }, context) {
      const prompt = prompts.get(String(name));
      if (prompt === undefined) throw unknown('prompt');
      const values = given as Readonly<Record<string, string>>;
      const missing = prompt.arguments?.find((each) => each.required === true && values[each.name] === undefined);
      if (missing !== undefined) throw invalid('E3801', `The prompt needs the argument ${missing.name}.`);
      return messagesOf(await prompt.get(values, context), prompt.description);
    },
    async 'completion/complete'({ ref, argument, context }) {
      const { name, value } = argument as { name: string; value: string };
      const { arguments: others = {} } = (context ?? {}) as { arguments?: Readonly<Record<string, string>> };
      const values = (await completerOf(ref as Members, name)?.(value, others)) ?? [];
      const hasMore = values.length > VALUES_MAX;
      return { completion: { values: values.slice(0, VALUES_MAX), total: values.length, hasMore } };
    },
  };
}

function listedOffers({ resources, templates, prompts }: Offered): OfferingUpstream {
  return {
    serverVersion: '',
    offers: {
      capabilities: { resources: { subscribe: true }, prompts: {}, completions: {} },
      resources: [...resources.values()].map(({ read: _read, ...listed }) => listed),
      templates: [...templates.values()].map(({ read: _read, complete: _complete, ...listed }) => listed),
      prompts: [...prompts.values()].map(({ get: _get, ...listed }) => listedPrompt(listed)),
    },
  };
}

function listedPrompt(prompt: Omit<ProgramPrompt, 'get'>): Described {
  const { arguments: given } = prompt as Pick<ProgramPrompt, 'arguments'>;
  if (given === undefined) return prompt as Described;
  return { ...(prompt as Described), arguments: given.map(({ complete: _complete, ...listed }) => listed) };
}

const unknown = (what: string): ToolLayerError => invalid('E3809', `The program has no such ${what}.`);

const invalid = (code: 'E3801' | 'E3809', message: string): ToolLayerError =>
  new ToolLayerError(code, message, { details: { rpc_code: INVALID_PARAMS } });
