import assert from 'node:assert/strict';
import type { CommandResult, ServingLayer } from '../first-call/sallyport-process.ts';
import type { Story } from '../first-call/story.ts';
import type { MailRoom } from './mail-room.ts';

/** What every chapter gets. */
export interface ApprovalParts {
  readonly story: Story;
  readonly mailRoom: MailRoom;
  /** Asks the layer that serves, as its operator. */
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
  /** The layer as it serves now. */
  readonly layer: () => ServingLayer;
  /** Serves again after a power cut. */
  readonly restart: () => Promise<void>;
  /** Of the agent that calls, for its user. */
  readonly token: string;
}

/** What is on record of a call, or what calling was answered with. */
export interface Call {
  readonly invocation_id: string;
  readonly status: string;
  readonly error?: { readonly e_code: string; readonly message: string };
  readonly approval?: { readonly approval_id: string };
}

/** Longest wait for something to come true, in ms. */
const PATIENCE_MS = 30_000;

/** Calls a tool over REST. */
export async function call({ layer, token }: ApprovalParts, tool: string, to: string, more = {}): Promise<Call> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ tool_id: `send-${tool}`, parameters: { to }, ...more });
  const response = await fetch(`${layer().url}/v1/invocations`, { method: 'POST', headers, body });
  return (await response.json()) as Call;
}

/** The same for a call that has to wait for a person. */
export async function waitingCall(parts: ApprovalParts, tool: string, to: string) {
  const answered = await call(parts, tool, to);
  assert.equal(answered.status, 'pending_approval', JSON.stringify(answered));
  return { id: answered.invocation_id, approval: answered.approval?.approval_id ?? '' };
}

/** A command that must succeed, and answers with JSON. */
export async function done({ sallyport }: ApprovalParts, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await sallyport(...args, '--json');
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

/** A command that has to be refused, with this code. */
export async function refused({ sallyport }: ApprovalParts, eCode: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await sallyport(...args);
  assert.equal(code, 1, args.join(' '));
  assert.match(stderr, new RegExp(eCode));
}

/** Looks again until the mail room has sent so many letters. */
export async function untilSent({ mailRoom }: ApprovalParts, count: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (mailRoom.sent.length < count) {
    assert.ok(performance.now() < end, `${mailRoom.sent.length} of ${count} letters were sent`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
