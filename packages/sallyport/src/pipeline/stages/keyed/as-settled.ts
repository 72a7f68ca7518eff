import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { OutcomeSettlement } from '../../outcome-store.port.ts';
import type { PipelineParts } from '../../parts.ts';

/**
 * The answer of a first call with an unknown outcome to its duplicates, after the outcome was settled (PIPE-13). The
 * row of the first call stays as it is.
 * @param warnings of the duplicate: they say when the first call did not happen
 * @returns `repeatable` when the first call surely did not happen: a duplicate may then run under its key, as after
 *   every call that had no effect; the row as it is while the outcome is not settled
 */
export async function asSettled(
  { outcomes }: Pick<PipelineParts, 'outcomes'>,
  first: InvocationRecord,
  warnings: Warning[],
): Promise<InvocationRecord | 'repeatable'> {
  if (first.failure?.code !== 'E3804') return first;
  const settlement = await outcomes.find(first.tenantId, first.invocationId);
  if (settlement === undefined) return first;
  const warning = settledWarning(first, settlement);
  if (settlement.outcome === 'did_not_happen') {
    warnings.push(warning);
    return 'repeatable';
  }
  const { failure: _unknown, ...row } = first;
  return {
    ...row,
    state: 'COMPLETED',
    ...('result' in settlement ? { result: settlement.result } : {}),
    warnings: [...first.warnings, warning],
  };
}

/** Says who settled it: the caller may trust a tool that looked more, or less, than a person. */
function settledWarning({ invocationId }: InvocationRecord, settlement: OutcomeSettlement): Warning {
  const { outcome, how, by, note, at } = settlement;
  const happened = outcome === 'happened';
  const result = happened && !('result' in settlement) ? ' What it answered is not known.' : '';
  return {
    code: 'outcome_settled',
    message: `The outcome of the call ${invocationId} with this key was not known. It was found out since that it ${
      happened ? 'happened.' : 'did not happen, so this call ran.'
    }${result}`,
    details: {
      invocation_id: invocationId,
      outcome,
      how,
      settled_at: new Date(at).toISOString(),
      ...(by === undefined ? {} : { settled_by: by }),
      ...(note === undefined ? {} : { note }),
    },
  };
}
