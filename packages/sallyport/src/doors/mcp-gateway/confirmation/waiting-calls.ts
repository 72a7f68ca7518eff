import { isFailure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { createOpenRegister, type Holder, type OpenBounds } from '../../../domain/principal/open-register.ts';

/** A call that waits for a person, as its client may ask for it again. */
export interface WaitingCall {
  readonly invocationId: string;
  /** Epoch ms. */
  readonly until: number;
  /** How often the user was asked at the client. */
  asked: number;
}

/** Which call waits for which request, so that the same request again does not ask people twice. */
export interface WaitingCalls {
  /** Undefined at once for tools of which no call waits. */
  find(token: string | undefined, input: ToolInvokeRequest, now: number): WaitingCall | undefined;
  /** Remembers a call; where a bound is reached, the oldest of the same holder is forgotten, or this one. */
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

/** Of a call whose end is not known, in ms. */
const REMEMBERED_MS = 24 * 3_600_000;

/** Nothing waits yet. */
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

/** Everything that a request asks for, in one word. */
export function callDigest(input: ToolInvokeRequest): string {
  return sha256(canonicalJson(input));
}
