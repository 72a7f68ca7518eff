// Hot path: the timer, the race and the slot of every run.
import { failureOf, ToolLayerError } from '../../domain/error/tool-layer-error.ts';
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
import type { Flight } from '../flight/flight.ts';
import type { Stage, StageEnd } from '../stage.ts';
import { executorCall } from './executor-call.ts';

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

/** How long an executor may take to stop after its call was aborted; then the call ends without it. */
const ABORT_GRACE_MS = 5_000;

/** Stage 9: one attempt, with the grant's timeout. Cancel and timeout reach the running tool (PIPE-06). */
export function execute(): Stage<Needs, Ran> {
  return {
    name: 'execute',
    begins: 'EXECUTING',
    run(call, flight) {
      flight.attempts += 1;
      return attempt(call, executorCall(call, flight), flight);
    },
  };
}

async function attempt(call: Needs, executorCall: ExecutorCall, flight: Flight): Promise<StageEnd<Ran>> {
  const { controller } = flight;
  const { timeoutMs } = call.grant.limits;
  const timer = setTimeout(() => controller.abort(timedOut(timeoutMs)), timeoutMs);
  try {
    const running = call.confirmed
      ? call.executor.executeConfirmed(executorCall, controller.signal)
      : call.executor.execute(executorCall, controller.signal);
    return { ran: await orAbandoned(running, controller.signal) };
  } catch (thrown) {
    // The reason of the abort wins over whatever the executor made of it.
    return failureOf(controller.signal.aborted ? controller.signal.reason : thrown);
  } finally {
    clearTimeout(timer);
  }
}

const timedOut = (timeoutMs: number): ToolLayerError =>
  new ToolLayerError('E3103', `The tool did not end within ${timeoutMs / 1000} s and was stopped.`, {
    details: { timeout_ms: timeoutMs },
  });

/** The run's outcome, or the abort's reason when the executor does not stop in time. */
function orAbandoned(running: Promise<ExecutorOutcome>, signal: AbortSignal): Promise<ExecutorOutcome> {
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      grace = setTimeout(() => reject(signal.reason), ABORT_GRACE_MS);
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
