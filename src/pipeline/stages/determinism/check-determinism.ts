import type { Admitted, Executed, Inspected, Ran, Resolved, Validated } from '../../call.ts';
import type { Flight } from '../../flight/flight.ts';
import type { PipelineParts } from '../../parts.ts';
import type { Recalled } from './output-memory.ts';

type Call = Admitted & Resolved & Validated & Ran & Executed & Inspected;

/**
 * Reports a tool that says it is deterministic and gave something else than before for the same input, in any instance and
 * before any restart: as a warning to the caller and an event (PIPE-10). What a hook made of a result is not the tool's.
 * Tools that say nothing cost nothing, and the comparison fails no call: one that could not be made says so.
 * @returns a promise only where the comparison has to be waited for
 */
export function checkDeterminism(
  { outputs, clock }: Pick<PipelineParts, 'outputs' | 'clock'>,
  call: Call,
  flight: Flight,
): Promise<void> | undefined {
  if (outputs === undefined || call.outcome !== call.ran) return undefined;
  const { tool, principal, inputHash, outputHash, invocationId } = call;
  const key = { tenantId: principal.tenantId, ownerId: tool.tenantId, contentHash: tool.contentHash, inputHash };
  const at = clock.now();
  const before = outputs.seen(key, { outputHash, invocationId, at });
  if (before instanceof Promise) return before.then((recalled) => report(call, flight, recalled, at));
  report(call, flight, before, at);
  return undefined;
}

function report({ tool, outputHash }: Call, flight: Flight, before: Recalled, at: number): void {
  if (before === undefined) return;
  const { tool_id } = tool.manifest;
  if (before === 'unknown') {
    flight.warnings.push({
      code: 'determinism_not_checked',
      message: `${tool_id} says that it is deterministic, and its result could not be compared with those of earlier calls. Verify the call later where that matters.`,
    });
    return;
  }
  if (before.outputHash === outputHash) return;
  flight.warnings.push({
    code: 'not_deterministic',
    message: `${tool_id} says that it is deterministic, and gave another result for the same input before.`,
    details: { earlier_invocation_id: before.invocationId },
  });
  flight.facts ??= [];
  flight.facts.push({
    type: 'ai.agent.tool.determinism_broken',
    at,
    data: {
      earlier_invocation_id: before.invocationId,
      earlier_output_hash: before.outputHash,
      output_hash: outputHash,
    },
  });
}
