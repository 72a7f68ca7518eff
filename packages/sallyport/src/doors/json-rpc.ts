// Hot path: every message is parsed and answered here.

import { isObject } from '../domain/shape/is-object.ts';
import type { Refusal } from './protected-resource.ts';

/** Id of a request; MCP allows no null. */
export type RpcId = string | number;

/** Members of a request or notification; empty when it has none. */
export type Params = Readonly<Record<string, unknown>>;

/** A message that expects an answer. */
export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  readonly params: Params;
}

/** A client's answer to a request of ours: has either `result` or `error`. */
export interface RpcResponse {
  readonly kind: 'response';
  readonly id: RpcId;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The kinds of messages; `invalid` carries the reason, and the id for its refusal. */
export type RpcMessage =
  | RpcRequest
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | RpcResponse
  | { readonly kind: 'invalid'; readonly id: RpcId | null; readonly message: string };

/** An answer as JSON text, ready to be sent. */
export interface RpcAnswer {
  readonly text: string;
  /** It is a JSON-RPC error. */
  readonly failed?: true;
  /** HTTP status when not 200, and the reason to ask for another credential. */
  readonly http?: number;
  readonly challenge?: Refusal;
}

/** Codes of JSON-RPC 2.0 and of MCP 2026-07-28. */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** 2025 era only; 2026-07-28 answers invalidParams. */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  /** 2026-07-28: the request needs a capability that its client did not declare. */
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** 2025-11-25 alone: the user has to open an address before the request can be made again. */
  urlElicitationRequired: -32_042,
} as const;

const NO_PARAMS: Params = {};

/** Refusal of a request whose id another one of the same client has: its answer and its end would be ambiguous. */
export const ID_IN_USE = 'A request of this id runs already. Give each request an id of its own.';

/** Longest id of a request. */
const ID_CHARACTERS_MAX = 1_024;

/** Determines the kind of a parsed message. */
export function classify(value: unknown): RpcMessage {
  // Only 2025-03-26 knew batches, and let servers do without sending them; nothing here reads them.
  if (Array.isArray(value)) return invalid(null, 'Batches are not supported. Send one message at a time.');
  if (!isObject(value)) return invalid(null, 'A message must be a JSON object.');
  const { jsonrpc, id, method, params, result, error } = value;
  const known = isId(id) ? id : null;
  if (typeof id === 'string' && id.length > ID_CHARACTERS_MAX)
    return invalid(null, `The member id must have at most ${ID_CHARACTERS_MAX} characters.`);
  if (jsonrpc !== '2.0') return invalid(known, 'The member jsonrpc must be "2.0".');
  if (method === undefined && known !== null && ('result' in value || 'error' in value)) {
    return error === undefined ? { kind: 'response', id: known, result } : { kind: 'response', id: known, error };
  }
  if (typeof method !== 'string') return invalid(known, 'The member method must be a string.');
  if (params !== undefined && !isObject(params)) return invalid(known, 'The member params must be an object.');
  if (!('id' in value)) return { kind: 'notification', method, params: params ?? NO_PARAMS };
  if (known === null) return invalid(null, 'The member id must be a string or a whole number.');
  return { kind: 'request', id: known, method, params: params ?? NO_PARAMS };
}

/** @param result JSON text of the result */
export function resultAnswer(id: RpcId, result: string): RpcAnswer {
  return { text: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}` };
}

/** An error answer; `data` is left out when undefined, `http` is the status when not 200. */
export function errorAnswer(id: RpcId | null, code: number, message: string, data?: unknown, http?: number): RpcAnswer {
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
  return http === undefined ? { text, failed: true } : { text, failed: true, http };
}

/** A request to a client as JSON text. */
export function requestText(id: RpcId, method: string, params: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** A notification as JSON text. */
export function notificationText(method: string, params?: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value));
}

function invalid(id: RpcId | null, message: string): RpcMessage {
  return { kind: 'invalid', id, message };
}
