import type { Caller } from '../../../domain/principal/principal.ts';
import type { RpcAnswer, RpcRequest } from '../json-rpc.ts';
import type { Era } from '../protocol.ts';

/** Who sent a request, and how to reach them while it runs. */
export interface Peer {
  readonly era: Era;
  /** Without signal and progress: the method adds them where it has use for them. */
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to the running request. */
  readonly notify: (text: string) => void;
}

/** Answers the requests of one JSON-RPC method; may throw ToolLayerError. */
export type Method = (request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;
