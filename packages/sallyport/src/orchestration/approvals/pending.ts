import { type Failure, failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ApprovalBinding, ApprovalRequest, WaitingCall } from '../../domain/invocation/waiting-call.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { ApprovalOutcome, HeldClosing } from '../approval-store.port.ts';
import { type ApprovalTerms, DEFAULT_TERMS, levelAt, termsFor } from '../approval-terms.ts';
import { type ApprovalState, keyOf, remember } from './approvals-state.ts';

/** Rows that are read at a time. */
export const PAGE_ROWS = 100;

/** A call that waits for a person, with the question and how it is decided. */
export interface Pending {
  readonly record: InvocationRecord;
  readonly waiting: WaitingCall;
  readonly request: ApprovalRequest;
  readonly digest: string;
  readonly terms: ApprovalTerms;
  /** The escalation level reached by now. */
  readonly level: number;
  /** Undefined when the version that was asked for is gone or was replaced: then nobody can approve. */
  readonly tool: ToolVersion | undefined;
}

/** A digest of what an approval is bound to: an approver who names it approves exactly this. */
export const digestOf = (binding: ApprovalBinding): string => sha256(canonicalJson(binding));

/** The question that a call waits for; undefined for any other call. */
export function requestOf({ state, waiting }: InvocationRecord): ApprovalRequest | undefined {
  return state === 'AUTHORIZED' && waiting?.wait.for === 'approval' ? waiting.wait.approval : undefined;
}

/** The pending approval of a row; undefined when the row waits for none. */
export function pendingOf(state: ApprovalState, record: InvocationRecord): Pending | undefined {
  const request = requestOf(record);
  if (request === undefined || record.waiting === undefined) return undefined;
  const { binding, reason, requestedAt } = request;
  const found = state.toolOf(record.tenantId, binding.toolId, binding.toolVersion);
  const tool = found?.contentHash === binding.contentHash ? found : undefined;
  const terms = tool === undefined ? DEFAULT_TERMS : termsFor(state.terms, tool, reason);
  const level = levelAt(terms, state.clock.now() - requestedAt);
  return { record, waiting: record.waiting, request, digest: digestOf(binding), terms, level, tool };
}

/**
 * A pending approval.
 * @returns E3809 when the tenant has none of this id, E3817 when it is decided, E3808 when it expired
 */
export async function findPending(
  state: ApprovalState,
  tenantId: string,
  approvalId: string,
): Promise<Pending | Failure> {
  const closing = await state.store.closing(tenantId, approvalId);
  if (closing !== undefined) return decidedAlready(closing);
  const record = await recordOf(state, tenantId, approvalId);
  const pending = record === undefined ? undefined : pendingOf(state, record);
  return pending?.request.approvalId === approvalId ? pending : noSuchApproval(approvalId);
}

async function recordOf(
  state: ApprovalState,
  tenantId: string,
  approvalId: string,
): Promise<InvocationRecord | undefined> {
  const { seen, store, records } = state;
  const known = seen.get(keyOf(tenantId, approvalId)) ?? (await store.invocationOf(tenantId, approvalId));
  if (known !== undefined) return records.findInvocation(tenantId, known);
  // Searches the rows: an approval asked this very moment is not in the store's notices yet.
  for await (const record of waitingRecords(state, tenantId)) {
    if (requestOf(record)?.approvalId === approvalId) return record;
  }
  return undefined;
}

/** All calls that wait for a person, of one tenant or of all, oldest first; read page by page. */
export async function* waitingRecords(state: ApprovalState, tenantId?: string): AsyncGenerator<InvocationRecord> {
  let after: InvocationRecord | undefined;
  do {
    const page: readonly InvocationRecord[] = await state.records.waitingCalls({
      waitsFor: 'approval',
      limit: PAGE_ROWS,
      ...(tenantId === undefined ? {} : { tenantId }),
      ...(after === undefined ? {} : { after }),
    });
    for (const record of page) {
      const request = requestOf(record);
      if (request !== undefined) remember(state, record.tenantId, request.approvalId, record.invocationId);
      yield record;
    }
    after = page.length < PAGE_ROWS ? undefined : page.at(-1);
  } while (after !== undefined);
}

/** The same answer for an approval that does not exist and for one of another tenant. */
export const noSuchApproval = (approvalId: string): Failure =>
  failure('E3809', `There is no approval ${approvalId} that waits. See "approvals list".`);

const OVER: Readonly<Record<ApprovalOutcome, string>> = {
  approved: 'was approved already',
  denied: 'was denied already',
  expired: 'expired',
  withdrawn: 'was withdrawn with its call',
};

/** The failure for a decision that comes too late. */
export function decidedAlready({ outcome, approvalId }: Pick<HeldClosing, 'outcome' | 'approvalId'>): Failure {
  const code = outcome === 'expired' ? 'E3808' : 'E3817';
  return failure(code, `The approval ${approvalId} ${OVER[outcome]}. Nothing was changed.`, { details: { outcome } });
}
