import type { Warning } from '../../../../api/schemas/invocation.ts';
import { isOwner } from '../../../domain/invocation/call-owner.ts';
import type { Admitted, Executed, Inspected, Noted, Ran, Resolved, Validated } from '../../call.ts';
import type { SeenOutput } from '../../output-store.port.ts';
import type { PipelineParts } from '../../parts.ts';
import type { Recalled } from './output-memory.ts';

type Records = PipelineParts['records'];
type Call = Noted & Admitted & Resolved & Validated & Ran & Executed & Inspected;

/**
 * Reports a tool that claims to be deterministic and gave another output than before for the same input, in any
 * instance and across restarts: as a warning to the caller and an event (PIPE-10). Results are compared as the tool
 * gave them, before hooks. Other tools cost nothing. The comparison fails no call: when it could not be made, the
 * warning says so.
 * @returns the warnings and facts of the call with those of the comparison
 */
export async function checkDeterminism(
  parts: Pick<PipelineParts, 'outputs' | 'records' | 'clock'>,
  call: Call,
): Promise<Partial<Noted> | undefined> {
  const { outputs, clock } = parts;
  if (call.outcome !== call.ran) return undefined;
  const { tool, principal, inputHash, outputHash, invocationId } = call;
  const key = { tenantId: principal.tenantId, ownerId: tool.tenantId, contentHash: tool.contentHash, inputHash };
  const at = clock.now();
  const before = await outputs.seen(key, { outputHash, invocationId, at });
  return before === undefined ? undefined : compared(parts.records, call, before, at);
}

async function compared(
  records: Records,
  call: Call,
  before: NonNullable<Recalled>,
  at: number,
): Promise<Partial<Noted> | undefined> {
  const { outputHash, warnings, facts } = call;
  const { tool_id } = call.tool.manifest;
  if (before === 'unknown') {
    const message = `${tool_id} says that it is deterministic, and its result could not be compared with those of earlier calls. Verify the call later where that matters.`;
    return { warnings: [...warnings, { code: 'determinism_not_checked', message }] };
  }
  if (before.outputHash === outputHash) return undefined;
  const data = {
    earlier_invocation_id: before.invocationId,
    earlier_output_hash: before.outputHash,
    output_hash: outputHash,
  };
  return {
    warnings: [...warnings, await warningOf(records, call, before)],
    facts: [...facts, { type: 'ai.agent.tool.determinism_broken', at, data }],
  };
}

/** The audit always names the earlier call; the caller learns of it only when it is the caller's own. */
async function warningOf(records: Records, { tool, principal }: Call, before: SeenOutput): Promise<Warning> {
  const { invocationId } = before;
  const earlier = await records.findInvocation(principal.tenantId, invocationId).catch(() => undefined);
  return {
    code: 'not_deterministic',
    message: `${tool.manifest.tool_id} says that it is deterministic, and gave another result for the same input before.`,
    ...(isOwner(principal, earlier) ? { details: { earlier_invocation_id: invocationId } } : {}),
  };
}
