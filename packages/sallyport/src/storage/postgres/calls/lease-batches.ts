import { type Batched, type BatchOptions, createBatched } from '@sallyport/std/batches';
import type { Pool } from 'pg';
import type { LeaseHolder, TakenLease } from '../../../orchestration/call-lease-store.port.ts';
import { keyText } from '../key-text.ts';
import { byKey, type CallColumns, type CallRow, keyOf } from './call-columns.ts';
import { queryGivenRows } from './given-rows.ts';
import { BEGIN, RELEASE, TAKE } from './lease-statements.ts';

interface WantedLease extends CallColumns {
  readonly holder: LeaseHolder;
  readonly ttlMs: number;
}

interface NamedLease extends CallColumns {
  readonly owner: string;
  readonly fence: number;
}

interface TakenRow extends CallRow {
  readonly fence: string;
  readonly begun: boolean;
  readonly preemptions: number;
  readonly cancel_reason: string | null;
  readonly extended_ms: string;
}

/** Operations that every waiting call does once, batched so that simultaneous calls share a statement. */
interface LeaseBatches {
  readonly take: Batched<WantedLease, TakenLease | undefined>;
  readonly begin: Batched<NamedLease, boolean>;
  readonly release: Batched<NamedLease, void>;
}

const BATCHES: BatchOptions<CallColumns> = { max: 64, atOnceMax: 2, keyOf };

export function leaseBatches(pool: Pool): LeaseBatches {
  return {
    take: createBatched<WantedLease, TakenLease | undefined>(async (wanted) => {
      const columns = [
        ...keyColumns(wanted),
        wanted.map(({ holder }) => keyText(holder.instanceId)),
        wanted.map(({ holder }) => holder.owner),
        wanted.map(({ ttlMs }) => String(ttlMs)),
      ];
      const rows = byKey((await queryGivenRows<TakenRow>(pool, TAKE, columns)).rows);
      return wanted.map((each) => takenLease(rows.get(keyOf(each))));
    }, BATCHES),
    begin: createBatched<NamedLease, boolean>(async (named) => {
      const { rows } = await queryGivenRows<TakenRow>(pool, BEGIN, namedColumns(named));
      const mine = byKey(rows);
      return named.map((each) => mine.has(keyOf(each)));
    }, BATCHES),
    release: createBatched<NamedLease, void>(async (named) => {
      await queryGivenRows(pool, RELEASE, namedColumns(named));
      return named.map(() => undefined);
    }, BATCHES),
  };
}

function takenLease(row: TakenRow | undefined): TakenLease | undefined {
  if (row === undefined) return undefined;
  const { begun, preemptions, cancel_reason: cancel } = row;
  const taken = { fence: Number(row.fence), begun, preemptions, extendedMs: Number(row.extended_ms) };
  return cancel === null ? taken : { ...taken, cancel };
}

const keyColumns = (calls: readonly CallColumns[]): string[][] => [
  calls.map(({ tenant }) => tenant),
  calls.map(({ invocation }) => invocation),
];

const namedColumns = (leases: readonly NamedLease[]): string[][] => [
  ...keyColumns(leases),
  leases.map(({ owner }) => owner),
  leases.map(({ fence }) => String(fence)),
];
