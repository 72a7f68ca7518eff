import type { Pool } from 'pg';
import type { Beat, CallKey, CallLeaseStore, HeldProgress } from '../../../orchestration/call-lease-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import {
  BEAT,
  BEGIN,
  END_FORMER_LIVES,
  FIND,
  FORGET_INSTANCE,
  PUT_BACK,
  RELEASE,
  TAKE,
  TAKE_DEAD_INSTANCES,
  TELL,
  TELL_INSTANCE,
  UNATTENDED,
} from './lease-statements.ts';

/** Leases in PostgreSQL: its clock tells when they end. */
export function postgresCallLeaseStore(pool: Pool): CallLeaseStore {
  const act = async (statement: typeof TAKE, values: unknown[]): Promise<number> =>
    (await pool.query({ ...statement, values })).rowCount ?? 0;
  return {
    take: (call, { instanceId, owner }, ttlMs) =>
      inDatabase('lease the call', async () => {
        const values = [...keysOf(call), keyText(instanceId), owner, ttlMs];
        const [row] = (await pool.query<TakenRow>({ ...TAKE, values })).rows;
        if (row === undefined) return undefined;
        const { begun, preemptions, cancel_reason: cancel } = row;
        const taken = { fence: Number(row.fence), begun, preemptions, extendedMs: Number(row.extended_ms) };
        return cancel === null ? taken : { ...taken, cancel };
      }),
    begin: (call, owner, fence) =>
      inDatabase('begin the call', async () => (await act(BEGIN, [...keysOf(call), owner, fence])) > 0),
    beat: (holder, ttlMs, progress) => inDatabase('renew the leases', () => beat(pool, holder, ttlMs, progress)),
    release: (call, owner, fence) =>
      inDatabase('give the lease back', async () => void (await act(RELEASE, [...keysOf(call), owner, fence]))),
    putBack: (call, owner, fence) =>
      inDatabase('put the call back', async () => void (await act(PUT_BACK, [...keysOf(call), owner, fence]))),
    find: (call) =>
      inDatabase('read the lease', async () => {
        const [row] = (await pool.query<LeaseRow>({ ...FIND, values: keysOf(call) })).rows;
        if (row === undefined) return undefined;
        const view = { instanceId: keyOfText(row.instance_id), live: row.live, fence: Number(row.fence) };
        return row.progress === null ? view : { ...view, progress: row.progress };
      }),
    tell: (call, { cancel, extendMs = 0 }) =>
      inDatabase('leave word for the call', async () => {
        return (await act(TELL, [...keysOf(call), wordsOf(cancel) ?? null, extendMs])) > 0;
      }),
    tellInstance: (call, instanceId, cancel) =>
      inDatabase('leave word for the call', async () => {
        await act(TELL_INSTANCE, [...keysOf(call), keyText(instanceId), wordsOf(cancel)]);
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
interface TakenRow {
  readonly fence: string;
  readonly begun: boolean;
  readonly preemptions: number;
  readonly cancel_reason: string | null;
  readonly extended_ms: string;
}
interface LeaseRow {
  readonly instance_id: string;
  readonly live: boolean;
  readonly fence: string;
  readonly progress: HeldProgress | null;
}
interface UnattendedRow extends KeyRow {
  readonly accepted_ms: string;
}
interface BeatRow extends KeyRow {
  /** Null in the row that is there to tell how many instances there are. */
  readonly is_held: boolean | null;
  readonly fence: string;
  readonly cancel_reason: string | null;
  readonly extended_ms: string;
  readonly others: string;
}

async function beat(
  pool: Pool,
  { instanceId, owner }: Parameters<CallLeaseStore['beat']>[0],
  ttlMs: number,
  progress: Parameters<CallLeaseStore['beat']>[2],
): Promise<Beat> {
  const values = [
    keyText(instanceId),
    owner,
    ttlMs,
    progress.map(({ tenantId }) => keyText(tenantId)),
    progress.map(({ invocationId }) => keyText(invocationId)),
    progress.map((each) => JSON.stringify(each.progress)),
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
  const held = { ...keyOf(row), fence: Number(row.fence), extendedMs: Number(row.extended_ms) };
  return row.cancel_reason === null ? held : { ...held, cancel: row.cancel_reason };
}

const keysOf = ({ tenantId, invocationId }: CallKey): string[] => [keyText(tenantId), keyText(invocationId)];

const keyOf = ({ tenant_id, invocation_id }: KeyRow): CallKey => ({
  tenantId: keyOfText(tenant_id),
  invocationId: keyOfText(invocation_id),
});

/** A column cannot hold U+0000. */
const wordsOf = (text: string | undefined): string | undefined => text?.replaceAll('\0', '\uFFFD').toWellFormed();
