import { setTimeout as sleep } from 'node:timers/promises';
import type { LayerReady } from './layer-process.ts';
import type { PlannedCall } from './plan.ts';
import { type Answer, askOnce, type Target } from './target.ts';

/** One thing that a client was told as final. */
export interface Told {
  readonly invocationId: string;
  readonly status: string;
  readonly code?: string;
  readonly result?: unknown;
}

/** What one client lived through with one key. */
export interface CallStory {
  readonly call: PlannedCall;
  /** In the order in which it was told. */
  readonly told: Told[];
  /** Calls that the client was told are accepted. */
  readonly accepted: Set<string>;
  /** A decision that the layer has confirmed. */
  decided?: 'approval' | 'denial';
  /** What must not be. */
  readonly faults: string[];
}

/** A moment in the life of a call that only its client sees. */
type OnDecision = () => void;

/** The layer could not take the call, or its end; the same key may be tried again. */
const AGAIN: ReadonlySet<string> = new Set(['E3106', 'E3303', 'E3803', 'E3811', 'E3812']);
/** Answers that say that their call is on nobody's record. */
const UNRECORDED: ReadonlySet<string> = new Set(['E3803', 'E3812']);
/** What the layer says of a call whose end it could not write: the record says more once it can be read. */
const CUT_OFF: ReadonlySet<string> = new Set(['E3804', 'E3811']);

const PAUSE_MS = 20;
const POLL_MS = 30;
/** A key that is tried more often is stuck. */
const TRIES_MAX = 2_000;

/**
 * Makes one call until it is over, with the same request after each lost connection.
 * @param targets the instances of the layer: each try goes to the next of them
 * @param first which of them the first try goes to
 */
export async function makeCall(
  call: PlannedCall,
  targets: readonly Target[],
  first: number,
  onDecision: OnDecision,
): Promise<CallStory> {
  const story: CallStory = { call, told: [], accepted: new Set(), faults: [] };
  let last: Answer | undefined;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const target = targets[(first + tries) % targets.length] as Target;
    if (call.stranger) await refused(story, target);
    const answer = await invoke(call, target, tries === 0 ? call.breaksAfterMs : 0);
    last = answer ?? last;
    const end = answer === undefined ? undefined : await followed(story, target, answer, onDecision);
    if (end !== undefined && !isAgain(end)) return story;
    await sleep(PAUSE_MS);
  }
  story.faults.push(`was tried ${TRIES_MAX} times, and answered last with ${JSON.stringify(last)}`);
  return story;
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

async function invoke(call: PlannedCall, target: Target, breaksAfterMs: number): Promise<Answer | undefined> {
  const ready = await target.up();
  const bearer = tokenOf(ready, call);
  return askOnce(ready, bearer, 'POST', '/v1/invocations', requestOf(call), breaksAfterMs);
}

/** Others name the id and the key of the call, and are refused: nothing of the call may change by that. */
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
    if (status !== undefined && status !== 'error') faults.push(`a stranger was told ${JSON.stringify(answer)}`);
  }
}

const codeOf = ({ body }: Answer): string | undefined => body.error?.e_code ?? body.e_code;
const isAgain = (answer: Answer): boolean => AGAIN.has(codeOf(answer) ?? '');
const isWaiting = ({ body }: Answer): boolean =>
  body.status === 'pending' || body.status === 'running' || body.status === 'pending_approval';

/** Waits for the end of a call that was accepted. The answer that is the end. */
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
    if (approvalId === undefined || story.decided !== undefined) await sleep(POLL_MS);
    else await decide(story, target, approvalId, onDecision);
    answer = await status(story.call, target, invocation_id);
    if (answer.http === 404) {
      story.faults.push(`${invocation_id} was accepted, and is not known`);
      return undefined;
    }
    // The database may be away; the call is not.
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

/** Says yes or no to a call as an operator. A lost answer is asked for once more, by the caller of this. */
async function decide(story: CallStory, target: Target, approvalId: string, onDecision: OnDecision): Promise<void> {
  const decision = story.call.kind === 'denied' ? 'denial' : 'approval';
  const reason = decision === 'denial' ? { reason: 'The test says no.' } : {};
  const ready = await target.up();
  onDecision();
  const answer = await askOnce(ready, ready.operator, 'POST', `/v1/approvals/${approvalId}/${decision}`, reason);
  if (answer === undefined) await sleep(PAUSE_MS);
  // Decided already, by this client before its connection was lost or by its twin: 409, or 404 at an instance that never saw
  // the approval wait.
  else if (answer.http === 200 || answer.http === 409 || (answer.http === 404 && story.call.twice))
    story.decided = decision;
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
  story.told.push({
    invocationId,
    status: said,
    ...(code === undefined ? {} : { code }),
    ...(result === undefined ? {} : { result }),
  });
}
