import type { Admitted, Executed, Inspected, Ran, Resolved, Validated } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';

type Call = Admitted & Resolved & Validated & Ran & Executed & Inspected;

/**
 * Reports a tool that says it is deterministic and gave something else than before for the same input: as a warning to the
 * caller and an event (PIPE-10). What a hook made of a result is not the tool's. Tools that say nothing cost nothing.
 */
export function checkDeterminism(
  { outputs, clock }: Pick<PipelineParts, 'outputs' | 'clock'>,
  call: Call,
  flight: Flight,
): void {
  if (outputs === undefined || call.outcome !== call.ran) return;
  const { tool, inputHash, outputHash, invocationId } = call;
  const before = outputs.seen(`${tool.tenantId}\n${tool.contentHash}`, inputHash, { outputHash, invocationId });
  if (before === undefined || before.outputHash === outputHash) return;
  flight.warnings.push({
    code: 'not_deterministic',
    message: `${tool.manifest.tool_id} says that it is deterministic, and gave another result for the same input before.`,
    details: { earlier_invocation_id: before.invocationId },
  });
  flight.facts ??= [];
  flight.facts.push({
    type: 'ai.agent.tool.determinism_broken',
    at: clock.now(),
    data: {
      earlier_invocation_id: before.invocationId,
      earlier_output_hash: before.outputHash,
      output_hash: outputHash,
    },
  });
}
