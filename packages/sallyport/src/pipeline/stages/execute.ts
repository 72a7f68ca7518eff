import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { underShownNames } from '../../domain/tool/property-names/original-names.ts';
import type { ExecutorCall, ExecutorOutcome } from '../../executors/executor.port.ts';
import type {
  Admitted,
  Approved,
  Authorized,
  CallRequest,
  Consulted,
  Fresh,
  Prepared,
  Ran,
  Reserved,
  Resolved,
  Validated,
} from '../call.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import { type DeadlineTerms, startDeadline } from '../ongoing/time/deadline.ts';
import type { ToolRun } from '../ongoing/tool-run.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';
import { openCheckpoints } from './attempts/call-checkpoints.ts';
import { throughCircuit } from './attempts/circuits/through-circuit.ts';
import { executorCall } from './attempts/executor-call.ts';
import { forWorker } from './attempts/for-worker.ts';
import type { LazyCheckpoints } from './attempts/lazy-checkpoints.ts';
import { endOfAborted } from './attempts/outcome-unknown.ts';
import { tryAgain } from './attempts/try-again.ts';

type Needs = CallRequest &
  Admitted &
  Resolved &
  Validated &
  Authorized &
  Fresh &
  Consulted &
  Approved &
  Reserved &
  Prepared;

/** How long an executor may take to stop after its call was aborted, ms; then the call ends without it. */
const ABORT_GRACE_MS = 5_000;

type Parts = Pick<
  PipelineParts,
  | 'clock'
  | 'log'
  | 'limits'
  | 'rateLimiter'
  | 'circuits'
  | 'retries'
  | 'transactions'
  | 'instanceId'
  | 'redactor'
  | 'clients'
  | 'state'
  | 'records'
  | 'running'
  | 'visible'
  | 'checkpoints'
  | 'context'
  | 'ledger'
  | 'secrets'
  | 'policy'
  | 'documents'
>;

/**
 * Runs the attempts, under one timeout from the grant. Cancel and timeout reach the running tool (PIPE-06). A failed
 * attempt is repeated only when that is safe (PIPE-05).
 */
export function execute(parts: Parts): Stage<Needs, Ran> {
  return {
    name: 'execute',
    begins: 'EXECUTING',
    async run(call, ongoing) {
      // The call may have been cancelled while its row was written; then nothing ran.
      if (ongoing.controller.signal.aborted) return failureOf(ongoing.controller.signal.reason);
      const checkpoints = await openCheckpoints(parts, call, ongoing);
      ongoing.toolRun.beginAttempt();
      try {
        const end = await attempts(parts, call, ongoing, checkpoints);
        return 'ran' in end && end.ran.later === true ? { waits: forWorker(call) } : end;
      } finally {
        checkpoints.close();
      }
    },
  };
}

async function attempts(
  parts: Parts,
  call: Needs,
  ongoing: OngoingCall,
  checkpoints: LazyCheckpoints,
): Promise<StageEnd<Ran>> {
  const { controller, toolRun } = ongoing;
  const startedAt = parts.clock.monotonic();
  const deadline = startDeadline(parts.clock, termsOf(call), (error) => controller.abort(error));
  toolRun.begin(deadline);
  // Each attempt has an executor call of its own, so leftovers of a failed attempt can change nothing.
  const attempt = async (): Promise<Ran> => {
    const running = start(call, executorCall(call, ongoing, parts, checkpoints), controller.signal);
    try {
      return { ran: await orAbandoned(running, controller.signal, toolRun) };
    } catch (thrown) {
      throw underShownNames(call.tool.manifest, thrown);
    }
  };
  const run = (): Promise<Ran> => throughCircuit(parts, call, ongoing, attempt);
  try {
    return await run();
  } catch (thrown) {
    if (controller.signal.aborted) return endOfAborted(thrown, controller.signal);
    const again = (): Promise<Ran> => {
      deadline.touch();
      return run();
    };
    return await tryAgain(parts, call, ongoing, { startedAt, failed: failureOf(thrown), attempt: again });
  } finally {
    toolRun.end();
  }
}

function termsOf({ grant, tool }: Needs): DeadlineTerms {
  const { timeoutMs, timeoutMsMax } = grant.limits;
  const silence = tool.manifest.execution_config?.heartbeat_seconds;
  return silence === undefined ? { timeoutMs, timeoutMsMax } : { timeoutMs, timeoutMsMax, idleMs: silence * 1000 };
}

const start = (call: Needs, given: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> =>
  call.confirmed ? call.executor.executeConfirmed(given, signal) : call.executor.execute(given, signal);

/**
 * The run's outcome, or the abort's reason when the executor does not stop in time. One that undoes what its tool did is
 * waited for: nobody is to look at files that are half restored. It ends by itself when that does not move any more.
 */
function orAbandoned(
  running: Promise<ExecutorOutcome>,
  signal: AbortSignal,
  toolRun: Pick<ToolRun, 'isUndoing' | 'noteAbandoned'>,
): Promise<ExecutorOutcome> {
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      grace = setTimeout(() => {
        if (toolRun.isUndoing) return;
        toolRun.noteAbandoned();
        reject(signal.reason);
      }, ABORT_GRACE_MS);
    };
    const done = (): void => {
      clearTimeout(grace);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    running.then(resolve, reject).finally(done);
  });
}
