import { setTimeout as sleep } from 'node:timers/promises';
import type { LayerReady } from './layer-process.ts';
import type { PlannedCall } from './plan.ts';
import { type Answer, askOnce, type Target } from './target.ts';

/** One final answer that a client received. */
export interface FinalAnswer {
  readonly invocationId: string;
  readonly status: string;
  readonly code?: string;
  readonly result?: unknown;
}

/** What one client received for one key. */
export interface CallStory {
  readonly call: PlannedCall;
  /** Final answers, in the order in which the client received them. */
  readonly received: FinalAnswer[];
  /** Ids of calls that the layer accepted, by its answers to the client. */
  readonly accepted: Set<string>;
  /**
   * Decisions that the layer has confirmed, by the id of their approval: a call that was approved, and ended before its
   * tool ran, asks for a new approval at the next try.
   */
  readonly decided: Map<string, 'approval' | 'denial'>;
  /** Descriptions of whatever is wrong. */
  readonly faults: string[];
  /** The last tries: where, when they were sent and answered in ms, and the answers. Explains a call without an end. */
  readonly tries: { readonly url: string; readonly sent: number; answered?: number; answer?: Answer }[];
}

/** Nothing has been received for the call yet. */
export const storyOf = (call: PlannedCall): CallStory => ({
  call,
  received: [],
  accepted: new Set(),
  decided: new Map(),
  faults: [],
  tries: [],
});

/** Called when a client sends its decision on an approval. */
type OnDecision = () => void;

/**
 * Codes after which the client may try again with the same key: the layer could not take the call or record its end.
 */
const AGAIN: ReadonlySet<string> = new Set(['E3106', 'E3303', 'E3803', 'E3811', 'E3812']);
/** Codes that say that the call is not on record. */
const UNRECORDED: ReadonlySet<string> = new Set(['E3803', 'E3812']);
/** Codes for a call whose end the layer could not write: the end is in the record, once it can be read. */
const CUT_OFF: ReadonlySet<string> = new Set(['E3804', 'E3811']);

const PAUSE_MS = 20;
const POLL_MS = 30;
/** A key that is tried more often than this is stuck. */
const TRIES_MAX = 2_000;
/** So many of the last tries are kept. */
const TRIES_KEPT = 5;

/**
 * Makes one call until it has ended; after each lost connection the same request is sent again.
 * @param story receives the answers
 * @param targets the instances of the layer: each try goes to the next instance
 * @param first index of the instance for the first try
 */
export async function makeCall(
  story: CallStory,
  targets: readonly Target[],
  first: number,
  onDecision: OnDecision,
): Promise<void> {
  const { call } = story;
  let last: Answer | undefined;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const target = targets[(first + tries) % targets.length] as Target;
    if (call.stranger) await refused(story, target);
    const answer = await invoke(story, target, tries === 0 ? call.breaksAfterMs : 0);
    last = answer ?? last;
    const end = answer === undefined ? undefined : await followed(story, target, answer, onDecision);
    if (end !== undefined && !isAgain(end)) return;
    await sleep(PAUSE_MS);
  }
  story.faults.push(`was tried ${TRIES_MAX} times, and answered last with ${JSON.stringify(last)}`);
}

const tokenOf = ({ tokens }: LayerReady, { client }: PlannedCall): string => tokens[client] ?? '';

/** The request of a call: the same at each try. */
function requestOf({ toolId: tool_id, parameters, key, later, names }: PlannedCall) {
  const execution_options = {
    ...(names === 'id' ? {} : { idempotency_key: key }),
    ...(later ? { async_mode: true } : {}),
  };
  return { tool_id, parameters, execution_options, ...(names === 'key' ? {} : { invocation_id: `call-${key}` }) };
}

async function invoke({ call, tries }: CallStory, target: Target, breaksAfterMs: number): Promise<Answer | undefined> {
  const ready = await target.up();
  const attempt: CallStory['tries'][number] = { url: ready.url, sent: performance.now() };
  tries.push(attempt);
  if (tries.length > TRIES_KEPT) tries.shift();
  const answer = await askOnce(ready, tokenOf(ready, call), 'POST', '/v1/invocations', requestOf(call), breaksAfterMs);
  attempt.answered = performance.now();
  if (answer !== undefined) attempt.answer = answer;
  return answer;
}

/**
 * Other agents send requests with the id and the key of the call, and are refused; the call must not change by that.
 */
async function refused({ call, faults }: CallStory, target: Target): Promise<void> {
  const ready = await target.up();
  const other = ready.tokens[(call.client + 1) % ready.tokens.length] ?? '';
  const request = requestOf(call);
  for (const [bearer, changes] of [
    [other, { tool_id: 'absent' }],
    [tokenOf(ready, call), { parameters: { rubbish: true } }],
  ] as const) {
    const answer = await askOnce(ready, bearer, 'POST', '/v1/invocations', { ...request, ...changes });
    const { status } = answer?.body ?? {};
    if (status !== undefined && status !== 'error')
      faults.push(`a stranger was answered with ${JSON.stringify(answer)}`);
  }
}

const codeOf = ({ body }: Answer): string | undefined => body.error?.e_code ?? body.e_code;
const isAgain = (answer: Answer): boolean => AGAIN.has(codeOf(answer) ?? '');
const isWaiting = ({ body }: Answer): boolean =>
  body.status === 'pending' || body.status === 'running' || body.status === 'pending_approval';

/** Waits for the end of an accepted call, and returns the answer with the end. */
async function followed(
  story: CallStory,
  target: Target,
  first: Answer,
  onDecision: OnDecision,
): Promise<Answer | undefined> {
  let answer = first;
  const { invocation_id } = first.body;
  const isCutOff = CUT_OFF.has(codeOf(first) ?? '');
  if (codeOf(first) === 'E3811') return first;
  while (invocation_id !== undefined && (isWaiting(answer) || (isCutOff && answer === first))) {
    story.accepted.add(invocation_id);
    const approvalId = answer.body.approval?.approval_id;
    if (approvalId === undefined || story.decided.has(approvalId)) await sleep(POLL_MS);
    else await decide(story, target, approvalId, onDecision);
    answer = await status(story.call, target, invocation_id);
    if (answer.http === 404) {
      story.faults.push(`${invocation_id} was accepted, and is not known`);
      return undefined;
    }
    // The database may be down while the call still exists.
    if (answer.body.status === undefined && isAgain(answer)) answer = first;
  }
  noteEnd(story, answer);
  return answer;
}

async function status(call: PlannedCall, target: Target, invocationId: string): Promise<Answer> {
  for (;;) {
    const ready = await target.up();
    const answer = await askOnce(ready, tokenOf(ready, call), 'GET', `/v1/invocations/${invocationId}`);
    if (answer !== undefined) return answer;
    await sleep(PAUSE_MS);
  }
}

/** Approves or denies a call as an operator. After a lost answer the caller of this function decides again. */
async function decide(story: CallStory, target: Target, approvalId: string, onDecision: OnDecision): Promise<void> {
  const decision = story.call.kind === 'denied' ? 'denial' : 'approval';
  const reason = decision === 'denial' ? { reason: 'The test says no.' } : {};
  const ready = await target.up();
  onDecision();
  const answer = await askOnce(ready, ready.operator, 'POST', `/v1/approvals/${approvalId}/${decision}`, reason);
  if (answer === undefined) await sleep(PAUSE_MS);
  // The approval is decided already, by this client before its connection was lost or by the client that makes the same
  // call: 409, or 404 at an instance that never saw the approval wait.
  else if (answer.http === 200 || answer.http === 409 || (answer.http === 404 && story.call.twice))
    story.decided.set(approvalId, decision);
  else if (answer.http < 500) story.faults.push(`the ${decision} was refused: ${JSON.stringify(answer)}`);
}

function noteEnd(story: CallStory, answer: Answer): void {
  const { invocation_id: invocationId, status: said, result } = answer.body;
  const code = codeOf(answer);
  if (code !== undefined && UNRECORDED.has(code)) return;
  if (invocationId === undefined || said === undefined) {
    if (!isAgain(answer)) story.faults.push(`was answered with ${JSON.stringify(answer)}`);
    return;
  }
  story.received.push({
    invocationId,
    status: said,
    ...(code === undefined ? {} : { code }),
    ...(result === undefined ? {} : { result }),
  });
}
