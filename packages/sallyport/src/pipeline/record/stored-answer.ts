import { type Failure, failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import { gapOf } from '../../audit/verify-ledger.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Log } from '../../telemetry/log.ts';

/** The events that a stored answer is compared with, and the log for an answer that was changed. */
interface Parts {
  readonly records: Pick<LedgerStore, 'eventsAbout'>;
  readonly log: Log;
}

/**
 * Compares the row of a call with its events before it answers a duplicate (PIPE-09, AUD-07): otherwise anybody who can
 * write to the tables could choose the answer.
 * @param row as it is stored
 * @param answer what the duplicate would get: the row, or a later settlement of its outcome
 * @returns the answer, with a warning where the effect of the call was taken back since; a failure when row and events
 *   do not agree
 */
export async function storedAnswer(
  { records, log }: Parts,
  row: InvocationRecord,
  answer: InvocationRecord,
): Promise<InvocationRecord | Failure> {
  if (!isFinal(row.state)) return answer;
  const { tenantId, invocationId } = row;
  const found = await records.eventsAbout([{ tenantId, invocationId }]);
  const about = found.filter(({ tenantid, data }) => tenantid === tenantId && data['invocation_id'] === invocationId);
  const reason = gapOf(row, about) ?? (answer === row ? undefined : gapInSettlement(answer, about));
  if (reason === undefined) return asTakenBack(answer, about);
  log.error('stored-answer-changed', { tenant_id: tenantId, invocation_id: invocationId, reason });
  return failure(
    'E3820',
    'The stored answer of the first call with this key is not what the audit says of it, so it is not given. ' +
      'Ask the operator to run audit verify, and find out what the call did before you make it again.',
    { details: { invocation_id: invocationId } },
  );
}

/** Otherwise its caller would take for done what is not there any more. */
function asTakenBack(answer: InvocationRecord, about: readonly CloudEvent[]): InvocationRecord {
  if (!about.some(({ type }) => type === 'ai.agent.tool.side_effect.compensated')) return answer;
  const warning: Warning = {
    code: 'compensated',
    message: `The effect of the call ${answer.invocationId}, which this request repeats, was taken back since, and nothing ran now. Take a new key, or begin a new turn group, to run it anew.`,
    details: { invocation_id: answer.invocationId },
  };
  return { ...answer, warnings: [...answer.warnings, warning] };
}

/** A settlement is audited, with the hash of its result, after it was stored. */
function gapInSettlement({ result }: InvocationRecord, about: readonly CloudEvent[]): string | undefined {
  const settled = about.filter(({ type }) => type === 'ai.agent.tool.outcome_settled');
  if (result === undefined || settled.length === 0) return undefined;
  const hash = sha256(canonicalJson(result));
  return settled.some(({ data }) => data['output_hash'] === hash)
    ? undefined
    : 'its outcome was settled with another result than the chain has the hash of';
}
