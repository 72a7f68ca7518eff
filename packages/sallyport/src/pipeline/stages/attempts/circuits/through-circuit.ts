// One comparison for calls without a circuit.
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { OngoingCall } from '../../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../../parts.ts';
import type { CircuitCall, Circuits } from './circuits.ts';

/** Makes an attempt, and reports its outcome and duration to the circuit. */
export function throughCircuit<Ran>(
  { circuits, clock }: Pick<PipelineParts, 'circuits' | 'clock'>,
  call: CircuitCall,
  ongoing: OngoingCall,
  attempt: () => Promise<Ran>,
): Promise<Ran> {
  if (ongoing.toolRun.permit === undefined || circuits === undefined) return attempt();
  return reported(circuits, clock, call, ongoing, attempt);
}

async function reported<Ran>(
  circuits: Circuits,
  clock: PipelineParts['clock'],
  call: CircuitCall,
  ongoing: OngoingCall,
  attempt: () => Promise<Ran>,
): Promise<Ran> {
  const begunAt = clock.monotonic();
  try {
    const ran = await attempt();
    await circuits.ended(call, ongoing, { durationMs: clock.monotonic() - begunAt });
    return ran;
  } catch (thrown) {
    const { signal } = ongoing.controller;
    const durationMs = clock.monotonic() - begunAt;
    // The abort reason takes precedence over the executor's result: a cancel says nothing about the service.
    await circuits.ended(call, ongoing, { failed: failureOf(signal.aborted ? signal.reason : thrown), durationMs });
    throw thrown;
  }
}
