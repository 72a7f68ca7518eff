import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { canonicalJson } from '../../../std/canonical-json.ts';
import { sha256 } from '../../../std/sha256.ts';

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
  add(token: string | undefined, input: ToolInvokeRequest, response: ToolInvokeResponse, now: number): WaitingCall;
  forget(token: string | undefined, input: ToolInvokeRequest): void;
}

/** Of a call whose end is not known, in ms. */
const REMEMBERED_MS = 24 * 3_600_000;

/** @param callsMax the oldest are forgotten beyond it */
export function createWaitingCalls(callsMax: number): WaitingCalls {
  const calls = new Map<string, WaitingCall>();
  const perTool = new Map<string, number>();
  const drop = (key: string, toolId: string): void => {
    if (!calls.delete(key)) return;
    const left = (perTool.get(toolId) ?? 1) - 1;
    if (left > 0) perTool.set(toolId, left);
    else perTool.delete(toolId);
  };
  const keyOf = (token: string | undefined, input: ToolInvokeRequest): string =>
    `${callDigest(input)} ${sha256(token ?? '')} ${input.tool_id}`;
  return {
    find: (token, input, now) => {
      if (!perTool.has(input.tool_id)) return undefined;
      const key = keyOf(token, input);
      const known = calls.get(key);
      if (known === undefined || now < known.until) return known;
      drop(key, input.tool_id);
      return undefined;
    },
    add: (token, input, { invocation_id, approval }, now) => {
      const key = keyOf(token, input);
      drop(key, input.tool_id);
      const until = (approval === undefined ? now : Date.parse(approval.expires_at)) + REMEMBERED_MS;
      const call = { invocationId: invocation_id, until, asked: 0 };
      calls.set(key, call);
      perTool.set(input.tool_id, (perTool.get(input.tool_id) ?? 0) + 1);
      for (const oldest of calls.keys()) {
        if (calls.size <= callsMax) break;
        drop(oldest, oldest.slice(oldest.indexOf(' ', oldest.indexOf(' ') + 1) + 1));
      }
      return call;
    },
    forget: (token, input) => drop(keyOf(token, input), input.tool_id),
  };
}

/** Everything that a request asks for, in one word. */
export function callDigest(input: ToolInvokeRequest): string {
  return sha256(canonicalJson(input));
}
