import { type Failure, failure } from '@sallyport/std/error/failure';
import type { CircuitRefusal } from '../../../../domain/circuit/circuit.ts';

/** Retry hint when the state is not known, in ms. */
const UNKNOWN_RETRY_MS = 1_000;

/**
 * The refusal of a call that a circuit does not let through: E3401 with the remaining wait, or E3405 when this very
 * call was a trial before and failed.
 */
export function refusalOf(name: string, { state, waitMs }: CircuitRefusal, trialFailed: boolean): Failure {
  const details = { circuit: name, state };
  if (state === 'forced_open')
    return failure('E3401', `An operator holds the circuit ${name} open. Ask the operator of the layer.`, { details });
  const retry = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  const when = waitMs === undefined ? '' : ` Try again in ${Math.ceil(waitMs)} ms.`;
  if (state === 'open' && trialFailed)
    return failure('E3405', `The trial call through the circuit ${name} failed as calls did before.${when}`, {
      details,
      ...retry,
    });
  const why =
    state === 'half_open'
      ? `The circuit ${name} lets only some trial calls through, and this is none of them.`
      : `The circuit ${name} is open: too many calls failed or were slow.`;
  return failure('E3401', `${why}${when}`, { details, ...retry });
}

/** The refusal of a call when the state of its circuit is unknown. */
export function unknownStateRefusal(name: string, cause: unknown): Failure {
  return failure('E3402', `The state of the circuit ${name} is not known, so it counts as open. Try again later.`, {
    details: { circuit: name },
    retryAfterMs: UNKNOWN_RETRY_MS,
    cause,
  });
}
