import { ERRORS, type ErrorCode, type ErrorEntry } from '@sallyport/std/error/catalogue';
import { errorBody } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { TokenHolder } from '../../api/schemas/capability-token.ts';
import type { ToolErrorBody } from '../../api/schemas/error.ts';
import { type Holder, holderIn } from '../domain/principal/open-register.ts';
import type { Caller } from '../domain/principal/principal.ts';
import type { Log } from '../telemetry/log.ts';
import {
  errorAnswer,
  type Params,
  RPC,
  type RpcAnswer,
  type RpcId,
  type RpcRequest,
  resultAnswer,
} from './json-rpc.ts';
import { ALL_VERSIONS, CACHE_HINTS, type Era, META_SERVER, negotiate } from './mcp-protocol.ts';
import { isChallenged, refusalOf } from './protected-resource.ts';

/** The client that sent a request, and the ways to reach it while the request runs. */
export interface Peer {
  readonly era: Era;
  /** Without signal and progress: methods add them where needed. */
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to the running request. */
  readonly notify: (text: string) => void;
  /** The client's capabilities as it stated them; absent when it stated none. */
  readonly can?: Params;
  /** Asks the client of the running request. In the 2026 era, where the answer carries the question, a method adds it. */
  readonly ask?: AskClient;
  /** Subscription of the 2025-era session; undefined in the 2026 era, which has no sessions. */
  readonly watch?: Watch;
}

/**
 * Puts a request to a client and waits for its answer, as long as `signal` and the running request last.
 * @param key name of the question where clients see one (2026-07-28)
 * @returns the result, as the client wrote it
 * @throws Error when the client answers with an error, cannot be reached, or is asked too much at once
 */
export type AskClient = (method: string, params: Params, signal: AbortSignal, key?: string) => Promise<unknown>;

/** Answers the requests of one JSON-RPC method; may throw ToolLayerError. */
export type Method = (request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;

/** Sends a notification that belongs to no request. */
export type Notify = (method: string, params?: Params) => void;

/** One client's subscription to changes, until disposed. Nothing is sent before `listen`. */
export interface Watch extends Disposable {
  /** Granted part of the wish, as SubscriptionFilter of 2026-07-28. */
  readonly granted: Params;
  /** Starts notifications with this caller's token; undefined stops them. */
  listen(caller: Caller | undefined): Promise<void>;
  /** Adds a resource to the subscription; false when it does not exist. Only servers with resources have this. */
  readonly subscribe?: (uri: string, caller: Caller) => Promise<boolean>;
  /** Removes a resource; unknown ones are ignored. */
  readonly unsubscribe?: (uri: string) => void;
  /** Notifies a session of the states of a task that one of its requests made. Only servers with tasks have this. */
  readonly followTask?: (taskId: string, request: RpcRequest, peer: Peer) => void;
}

/** An MCP server, as a transport sees it. */
export interface McpServer {
  /** Answers one request. Never throws. */
  answer(request: RpcRequest, peer: Peer): Promise<RpcAnswer>;
  /**
   * The holder of a caller's token: the same for all tokens of one agent and user of a tenant.
   * @throws ToolLayerError E32xx for an invalid token
   */
  holderOf(caller: Caller): Promise<Holder>;
  /** Turns a failure into the answer of the request that it ended. */
  explain(id: RpcId | null, thrown: unknown): RpcAnswer;
  /** Refuses a caller who may not even see what the server offers; undefined when the caller may. */
  refuseCaller(id: RpcId | null, caller: Caller): Promise<RpcAnswer | undefined>;
  /**
   * @param wish SubscriptionFilter of 2026-07-28; unknown members are not granted
   * @param can the client's capabilities, where the subscription states them (2026-07-28)
   */
  watch(wish: Params, caller: Caller, notify: Notify, can?: Params): Promise<Watch>;
}

/** Name and version of the product, as shown to clients. */
export interface ServerIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** What a server says of itself in the handshake. */
export interface Introduction {
  readonly capabilities: Readonly<Record<Era, Params>>;
  /** Left out when undefined. */
  readonly instructions: string | undefined;
}

/** Parts of one MCP server. */
export interface McpServerParts {
  readonly log: Log;
  readonly identity: ServerIdentity;
  /** What a client learns in the handshake. Throws for a caller who may not even see what the server offers. */
  readonly introduce: (caller: Caller) => Promise<Introduction>;
  /** The methods beside those of the handshake. */
  readonly methods: Readonly<Record<Era, Iterable<readonly [string, Method]>>>;
  /** Throws for a caller who may not even see what the server offers. */
  readonly admit: (caller: Caller) => Promise<unknown>;
  /** Identifies the holder of a caller's token; throws for an invalid token. */
  readonly inspect: (caller: Caller) => Promise<TokenHolder>;
  readonly watch: McpServer['watch'];
}

/** Builds a server that answers in both eras; transports are mounted on it. */
export function createMcpServer(parts: McpServerParts): McpServer {
  const { log, methods, admit, inspect, watch } = parts;
  const known: Readonly<Record<Era, ReadonlyMap<string, Method>>> = {
    legacy: new Map([...legacyHandshake(parts), ...methods.legacy]),
    modern: new Map([modernHandshake(parts), ...methods.modern]),
  };
  const explain = (id: RpcId | null, thrown: unknown): RpcAnswer => {
    const failed = failureOf(thrown);
    if (failed.code === 'E3900') log.error('mcp-request-failed', { cause: thrown });
    return protocolError(id, errorBody(failed));
  };
  return {
    answer: async (request, peer) => {
      const method = known[peer.era].get(request.method);
      if (method === undefined) return unknownMethod(request, peer.era);
      try {
        return await method(request, peer);
      } catch (thrown) {
        return explain(request.id, thrown);
      }
    },
    refuseCaller: (id, caller) =>
      admit(caller).then(
        () => undefined,
        (thrown) => explain(id, thrown),
      ),
    holderOf: async (caller) => holderIn(await inspect(caller)),
    explain,
    watch,
  };
}

/** A failure as a JSON-RPC error, for requests whose result no model reads. */
export function protocolError(
  id: RpcId | null,
  error: ToolErrorBody,
  entry: ErrorEntry = errorEntry(error.e_code),
): RpcAnswer {
  const { code, e_code, details } = error;
  const inPlaceOfResult = entry.http === 400 ? RPC.invalidParams : RPC.internalError;
  const rpc = entry.rpc === 'result' ? inPlaceOfResult : entry.rpc;
  const answer = errorAnswer(id, rpc, error.message, { e_code, code, ...(details === undefined ? {} : { details }) });
  if (!isChallenged(entry.http, e_code)) return answer;
  return { ...answer, http: entry.http, challenge: refusalOf(e_code, details) };
}

/** The catalogue row of a received error code; for unknown codes the row of an unexpected failure. */
export function errorEntry(code: string): ErrorEntry {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : ERRORS.E3900;
}

/** Only callers who may see what the server offers get a handshake. */
function legacyHandshake({ introduce, identity }: McpServerParts): [string, Method][] {
  const initialize: Method = async ({ id, params }, { caller }) => {
    const { capabilities, instructions } = await introduce(caller);
    const protocolVersion = negotiate(params['protocolVersion']);
    const result = { protocolVersion, capabilities: capabilities.legacy, serverInfo: identity, instructions };
    return resultAnswer(id, JSON.stringify(result));
  };
  return [
    ['initialize', initialize],
    ['ping', async ({ id }) => resultAnswer(id, '{}')],
  ];
}

function modernHandshake({ introduce, identity }: McpServerParts): [string, Method] {
  const discover: Method = async ({ id }, { caller }) => {
    const { capabilities, instructions } = await introduce(caller);
    const result = {
      resultType: 'complete',
      supportedVersions: ALL_VERSIONS,
      capabilities: capabilities.modern,
      instructions,
      ...CACHE_HINTS,
      _meta: { [META_SERVER]: identity },
    };
    return resultAnswer(id, JSON.stringify(result));
  };
  return ['server/discover', discover];
}

function unknownMethod(request: RpcRequest, era: Era): RpcAnswer {
  const message = `There is no method ${request.method.slice(0, 100)} here.`;
  return errorAnswer(request.id, RPC.methodNotFound, message, undefined, era === 'modern' ? 404 : undefined);
}

/** Longest URI that an error repeats, in characters. */
const URI_CHARACTERS_SHOWN = 2_048;

/** The URI that a request about a resource names, or the refusal of the request. */
export function uriIn({ id, params }: RpcRequest): string | RpcAnswer {
  const { uri } = params;
  return typeof uri === 'string' ? uri : errorAnswer(id, RPC.invalidParams, 'The member uri must be a string.');
}

/** The same answer for missing resources and for those of others. 2026-07-28 has no separate code for it. */
export function noSuchResource(id: RpcId, uri: string, era: Era, data?: object): RpcAnswer {
  const code = era === 'modern' ? RPC.invalidParams : RPC.resourceNotFound;
  return errorAnswer(id, code, 'There is no such resource.', { ...data, uri: uri.slice(0, URI_CHARACTERS_SHOWN) });
}

/** The methods by which sessions subscribe to single resources; 2026-07-28 has `subscriptions/listen` for that. */
export function subscriptionMethods(): readonly (readonly [string, Method])[] {
  const subscribe: Method = async (request, { caller, watch }) => {
    const uri = uriIn(request);
    if (typeof uri !== 'string') return uri;
    if (watch?.subscribe === undefined) {
      return errorAnswer(request.id, RPC.invalidParams, 'Send initialize first.');
    }
    const isThere = await watch.subscribe(uri, caller);
    return isThere ? resultAnswer(request.id, '{}') : noSuchResource(request.id, uri, 'legacy');
  };
  const unsubscribe: Method = async (request, { watch }) => {
    const uri = uriIn(request);
    if (typeof uri !== 'string') return uri;
    watch?.unsubscribe?.(uri);
    return resultAnswer(request.id, '{}');
  };
  return [
    ['resources/subscribe', subscribe],
    ['resources/unsubscribe', unsubscribe],
  ];
}
