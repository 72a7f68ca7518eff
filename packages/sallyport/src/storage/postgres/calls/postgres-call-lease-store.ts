import type { Pool } from 'pg';
import type { CallKey } from '../../../domain/invocation/call-key.ts';
import type { Beat, CallLeaseStore, HeldProgress } from '../../../orchestration/call-lease-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { columnsOf } from './call-columns.ts';
import { leaseBatches } from './lease-batches.ts';
import {
  BEAT,
  END_FORMER_LIVES,
  FIND,
  FORGET_ENDED,
  FORGET_INSTANCE,
  NOTIFY_HOLDER,
  NOTIFY_INSTANCE,
  PUT_BACK,
  TAKE_DEAD_INSTANCES,
  UNATTENDED,
} from './lease-statements.ts';

/** Leases in PostgreSQL; they expire by its clock. */
export function postgresCallLeaseStore(pool: Pool): CallLeaseStore {
  const act = async (statement: typeof BEAT, values: unknown[]): Promise<number> =>
    (await pool.query({ ...statement, values })).rowCount ?? 0;
  const { take, begin, release } = leaseBatches(pool);
  return {
    take: (call, holder, ttlMs) => inDatabase('lease the call', () => take({ ...columnsOf(call), holder, ttlMs })),
    begin: (call, owner, fence) => inDatabase('begin the call', () => begin({ ...columnsOf(call), owner, fence })),
    beat: (holder, ttlMs, attended) => inDatabase('renew the leases', () => beat(pool, holder, ttlMs, attended)),
    release: (call, owner, fence) =>
      inDatabase('give the lease back', () => release({ ...columnsOf(call), owner, fence })),
    putBack: (call, owner, fence, counted) =>
      inDatabase('put the call back', async () => {
        await act(PUT_BACK, [...keyValues(call), owner, fence, counted ? 1 : 0]);
      }),
    forgetEnded: () => inDatabase('forget ended leases', async () => void (await act(FORGET_ENDED, []))),
    find: (call) =>
      inDatabase('read the lease', async () => {
        const [row] = (await pool.query<LeaseRow>({ ...FIND, values: keyValues(call) })).rows;
        if (row === undefined) return undefined;
        const { live, progress } = row;
        return progress === null ? { live } : { live, progress };
      }),
    notifyHolder: (call, { cancel, extendMs = 0, answers }) =>
      inDatabase('leave word for the call', async () => {
        const said = answers === undefined ? null : JSON.stringify(mapped(answers, (each) => JSON.stringify(each)));
        return (await act(NOTIFY_HOLDER, [...keyValues(call), wordsOf(cancel) ?? null, extendMs, said])) > 0;
      }),
    notifyInstance: (call, instanceId, cancel) =>
      inDatabase('leave word for the call', async () => {
        await act(NOTIFY_INSTANCE, [...keyValues(call), keyText(instanceId), wordsOf(cancel)]);
      }),
    unattended: (limit, idleMs) =>
      inDatabase('list the unattended calls', async () => {
        const { rows } = await pool.query<UnattendedRow>({ ...UNATTENDED, values: [limit, idleMs] });
        return rows.map((row) => ({ ...keyOf(row), acceptedAt: Number(row.accepted_ms) }));
      }),
    endFormerLives: ({ instanceId, owner }) =>
      inDatabase('end former leases', () => act(END_FORMER_LIVES, [keyText(instanceId), owner])),
    takeDeadInstances: ({ instanceId, owner }, ttlMs) =>
      inDatabase('find dead instances', async () => {
        const values = [keyText(instanceId), owner, ttlMs];
        const { rows } = await pool.query<{ instance_id: string }>({ ...TAKE_DEAD_INSTANCES, values });
        return rows.map(({ instance_id }) => keyOfText(instance_id));
      }),
    forgetInstance: (instanceId, owner) =>
      inDatabase('forget the instance', async () => void (await act(FORGET_INSTANCE, [keyText(instanceId), owner]))),
  };
}

interface KeyRow {
  readonly tenant_id: string;
  readonly invocation_id: string;
}
interface LeaseRow {
  readonly live: boolean;
  readonly progress: HeldProgress | null;
}
interface UnattendedRow extends KeyRow {
  readonly accepted_ms: string;
}
interface BeatRow extends KeyRow {
  /** Null in the row that exists only to carry the number of instances. */
  readonly is_held: boolean | null;
  readonly fence: string;
  readonly cancel_reason: string | null;
  readonly extended_ms: string;
  /** Each as JSON text: an answer may hold U+0000, which `jsonb` refuses. */
  readonly answers: Readonly<Record<string, string>> | null;
  readonly others: string;
}

async function beat(
  pool: Pool,
  { instanceId, owner }: Parameters<CallLeaseStore['beat']>[0],
  ttlMs: number,
  attended: Parameters<CallLeaseStore['beat']>[2],
): Promise<Beat> {
  const values = [
    keyText(instanceId),
    owner,
    ttlMs,
    attended.map(({ tenantId }) => keyText(tenantId)),
    attended.map(({ invocationId }) => keyText(invocationId)),
    attended.map(({ progress }) => (progress === undefined ? null : JSON.stringify(progress))),
  ];
  const { rows } = await pool.query<BeatRow>({ ...BEAT, values });
  return {
    held: rows.filter((row) => row.is_held === true).map(heldOf),
    unheld: rows
      .filter((row) => row.is_held === false)
      .map((row) => ({ ...keyOf(row), cancel: row.cancel_reason ?? '' })),
    instances: Number(rows[0]?.others ?? 0) + 1,
  };
}

function heldOf(row: BeatRow): Beat['held'][number] {
  const { fence, extended_ms, cancel_reason, answers } = row;
  return {
    ...keyOf(row),
    fence: Number(fence),
    extendedMs: Number(extended_ms),
    ...(cancel_reason === null ? {} : { cancel: cancel_reason }),
    ...(answers === null ? {} : { answers: mapped(answers, (each) => JSON.parse(each) as unknown) }),
  };
}

const mapped = <From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));

const keyValues = ({ tenantId, invocationId }: CallKey): string[] => [keyText(tenantId), keyText(invocationId)];

const keyOf = ({ tenant_id, invocation_id }: KeyRow): CallKey => ({
  tenantId: keyOfText(tenant_id),
  invocationId: keyOfText(invocation_id),
});

/** A column cannot hold U+0000. */
const wordsOf = (text: string | undefined): string | undefined => text?.replaceAll('\0', '\uFFFD').toWellFormed();
