import { isFailure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { createOpenRegister, type Holder, type OpenBounds } from '../../../domain/principal/open-register.ts';

/** A call that waits for a person, kept so that its client can repeat the request. */
export interface WaitingCall {
  readonly invocationId: string;
  /** Epoch ms. */
  readonly until: number;
  /** How often the user was asked at the client. */
  asked: number;
}

/** Maps requests to their waiting calls, so that a repeated request does not ask people twice. */
export interface WaitingCalls {
  /** Returns undefined at once for tools without waiting calls. */
  find(token: string | undefined, input: ToolInvokeRequest, now: number): WaitingCall | undefined;
  /** Remembers a call; at a limit, the oldest call of the same holder is forgotten, or else this one. */
  add(call: NewWaitingCall): WaitingCall;
  forget(token: string | undefined, input: ToolInvokeRequest): void;
}

/** A call that has just begun to wait. */
export interface NewWaitingCall {
  readonly holder: Holder;
  readonly token: string | undefined;
  readonly input: ToolInvokeRequest;
  readonly response: ToolInvokeResponse;
  /** Epoch ms. */
  readonly now: number;
}

interface Remembered {
  readonly call: WaitingCall;
  readonly toolId: string;
  readonly place: Disposable;
}

/** How long a call whose end is unknown is remembered, in ms. */
const REMEMBERED_MS = 24 * 3_600_000;

/** Makes the map, empty. */
export function createWaitingCalls(bounds: OpenBounds): WaitingCalls {
  const register = createOpenRegister('waiting calls', bounds);
  const calls = new Map<string, Remembered>();
  const perTool = new Map<string, number>();
  const drop = (key: string): void => {
    const known = calls.get(key);
    if (known === undefined) return;
    calls.delete(key);
    known.place[Symbol.dispose]();
    const left = (perTool.get(known.toolId) ?? 1) - 1;
    if (left > 0) perTool.set(known.toolId, left);
    else perTool.delete(known.toolId);
  };
  const keyOf = (token: string | undefined, input: ToolInvokeRequest): string =>
    `${callDigest(input)} ${sha256(token ?? '')}`;
  return {
    find: (token, input, now) => {
      if (!perTool.has(input.tool_id)) return undefined;
      const key = keyOf(token, input);
      const known = calls.get(key)?.call;
      if (known === undefined || now < known.until) return known;
      drop(key);
      return undefined;
    },
    add: ({ holder, token, input, response: { invocation_id, approval }, now }) => {
      const key = keyOf(token, input);
      drop(key);
      const until = (approval === undefined ? now : Date.parse(approval.expires_at)) + REMEMBERED_MS;
      const call = { invocationId: invocation_id, until, asked: 0 };
      const place = register.add(holder, () => drop(key));
      if (isFailure(place)) return call;
      calls.set(key, { call, toolId: input.tool_id, place });
      perTool.set(input.tool_id, (perTool.get(input.tool_id) ?? 0) + 1);
      return call;
    },
    forget: (token, input) => drop(keyOf(token, input)),
  };
}

/** Digest of everything that a request asks for. */
export function callDigest(input: ToolInvokeRequest): string {
  return sha256(canonicalJson(input));
}
