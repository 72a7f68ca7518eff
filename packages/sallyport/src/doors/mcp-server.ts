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

/** Who sent a request, and how to reach them while it runs. */
export interface Peer {
  readonly era: Era;
  /** Without signal and progress: the method adds them where it has use for them. */
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to the running request. */
  readonly notify: (text: string) => void;
  /** What the client said that it can do, in its own words; absent when it said nothing. */
  readonly can?: Params;
  /** Puts a request to the client of the running one. Absent in the 2026 era, which answers with its questions instead. */
  readonly ask?: AskClient;
  /** What the session of the 2025 era is told of; undefined in the 2026 era, which has no sessions. */
  readonly watch?: Watch;
}

/**
 * Puts a request to a client and waits for its answer, as long as `signal` and the running request last.
 * @returns the result, as the client wrote it
 * @throws Error when the client answers with an error, cannot be reached, or is asked too much at once
 */
export type AskClient = (method: string, params: Params, signal: AbortSignal) => Promise<unknown>;

/** Answers the requests of one JSON-RPC method; may throw ToolLayerError. */
export type Method = (request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;

/** Sends a notification that belongs to no request. */
export type Tell = (method: string, params?: Params) => void;

/** One client's wish to be told of changes, until disposed. Nothing is told before `listen`. */
export interface Watch extends Disposable {
  /** What of the wish is granted, as SubscriptionFilter of 2026-07-28. */
  readonly granted: Params;
  /** From now on somebody listens, with this caller's token; undefined: nobody does any more. */
  listen(caller: Caller | undefined): Promise<void>;
  /** Adds a resource to what is told of, false when there is none; only servers that have resources know this. */
  readonly subscribe?: (uri: string, caller: Caller) => Promise<boolean>;
  /** Takes it away again; one that was not there is no fault. */
  readonly unsubscribe?: (uri: string) => void;
}

/** An MCP server, as a transport sees it. */
export interface McpServer {
  /** Answers one request. Never throws. */
  answer(request: RpcRequest, peer: Peer): Promise<RpcAnswer>;
  /**
   * For whom a caller speaks: the same for all tokens of the same agent and user of a tenant.
   * @throws ToolLayerError E32xx for a token that is not good
   */
  holderOf(caller: Caller): Promise<Holder>;
  /** A failure as the answer to a request that it ended. */
  explain(id: RpcId | null, thrown: unknown): RpcAnswer;
  /** Refuses a caller who may not even see what the server offers; undefined for one who may. */
  refuseCaller(id: RpcId | null, caller: Caller): Promise<RpcAnswer | undefined>;
  /** @param wish SubscriptionFilter of 2026-07-28; what the server does not know of it is not granted */
  watch(wish: Params, caller: Caller, tell: Tell): Promise<Watch>;
}

/** Name and version of the product as clients are told. */
export interface ServerIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** What one MCP server is made of. */
export interface McpServerParts {
  readonly log: Log;
  readonly identity: ServerIdentity;
  readonly capabilities: Readonly<Record<Era, Params>>;
  /** Told to every client in the handshake. */
  readonly instructions: string;
  /** The methods beside those of the handshake. */
  readonly methods: Readonly<Record<Era, Iterable<readonly [string, Method]>>>;
  /** Throws for a caller who may not even see what the server offers. */
  readonly admit: (caller: Caller) => Promise<unknown>;
  /** Says for whom a caller's token speaks; throws for one that is not good. */
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

/** A failure as a JSON-RPC error, where no model reads a result. */
export function protocolError(
  id: RpcId | null,
  error: ToolErrorBody,
  entry: ErrorEntry = errorEntry(error.e_code),
): RpcAnswer {
  const { code, e_code, details } = error;
  const rpc = entry.rpc === 'result' ? RPC.internalError : entry.rpc;
  const answer = errorAnswer(id, rpc, error.message, { e_code, code, ...(details === undefined ? {} : { details }) });
  if (!isChallenged(entry.http, e_code)) return answer;
  return { ...answer, http: entry.http, challenge: refusalOf(e_code, details) };
}

/** The row of a code that came over the wire; of one that is not known, that of an unexpected failure. */
export function errorEntry(code: string): ErrorEntry {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : ERRORS.E3900;
}

/** A handshake is only for who may see what the server offers. */
function legacyHandshake({ admit, capabilities, identity, instructions }: McpServerParts): [string, Method][] {
  const initialize: Method = async ({ id, params }, { caller }) => {
    await admit(caller);
    const protocolVersion = negotiate(params['protocolVersion']);
    const result = { protocolVersion, capabilities: capabilities.legacy, serverInfo: identity, instructions };
    return resultAnswer(id, JSON.stringify(result));
  };
  return [
    ['initialize', initialize],
    ['ping', async ({ id }) => resultAnswer(id, '{}')],
  ];
}

function modernHandshake({ admit, capabilities, identity, instructions }: McpServerParts): [string, Method] {
  const result = JSON.stringify({
    resultType: 'complete',
    supportedVersions: ALL_VERSIONS,
    capabilities: capabilities.modern,
    instructions,
    ...CACHE_HINTS,
    _meta: { [META_SERVER]: identity },
  });
  const discover: Method = async ({ id }, { caller }) => {
    await admit(caller);
    return resultAnswer(id, result);
  };
  return ['server/discover', discover];
}

function unknownMethod(request: RpcRequest, era: Era): RpcAnswer {
  const message = `There is no method ${request.method.slice(0, 100)} here.`;
  return errorAnswer(request.id, RPC.methodNotFound, message, undefined, era === 'modern' ? 404 : undefined);
}
