import type { LifecycleState } from '../../../api/schemas/invocation.ts';
import type { CallQuery } from '../../../src/audit/ledger-store.port.ts';
import { type CallOwner, isOwner } from '../../../src/domain/invocation/call-owner.ts';
import type { InvocationRecord } from '../../../src/domain/invocation/record.ts';

/** The members of a row that decide whether it is listed. */
export interface ListedRow extends CallOwner {
  readonly invocationId: string;
  readonly toolId: string;
  readonly turnGroupId: string | undefined;
  readonly acceptedAt: number;
  readonly state: LifecycleState;
  readonly deferred: boolean;
  /** Whether the call's tool is not pure. */
  readonly leavesTraces: boolean;
}

const REACHED: ReadonlySet<string> = new Set(['EXECUTING', 'COMPLETED', 'FAILED', 'ABORTED', 'ROLLED_BACK']);

/** Whether a row matches a query. */
export function isListed(row: ListedRow, query: CallQuery): boolean {
  const { tenantId, sideEffects, deferred, turnGroupId, toolId, states, since, until, agentDid, owner, before } = query;
  return (
    row.tenantId === tenantId &&
    (sideEffects !== true || (row.leavesTraces && (states !== undefined || REACHED.has(row.state)))) &&
    (deferred !== true || row.deferred) &&
    (turnGroupId === undefined || row.turnGroupId === turnGroupId) &&
    (toolId === undefined || row.toolId === toolId) &&
    (states === undefined || states.includes(row.state)) &&
    (since === undefined || row.acceptedAt >= since) &&
    (until === undefined || row.acceptedAt < until) &&
    (agentDid === undefined || row.agentDid === agentDid) &&
    (owner === undefined || isOwner(owner, row)) &&
    (before === undefined || byAcceptance(row, { ...before, tenantId }) < 0)
  );
}

type Place = Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;

/** Orders rows by the time of acceptance, the earliest first. */
export function byAcceptance(one: Place, other: Place): number {
  if (one.acceptedAt !== other.acceptedAt) return one.acceptedAt - other.acceptedAt;
  if (one.tenantId !== other.tenantId) return one.tenantId < other.tenantId ? -1 : 1;
  if (one.invocationId === other.invocationId) return 0;
  return one.invocationId < other.invocationId ? -1 : 1;
}
