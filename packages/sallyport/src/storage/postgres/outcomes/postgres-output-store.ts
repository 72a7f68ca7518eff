import { createBatched } from '@sallyport/std/batches';
import type { Pool } from 'pg';
import {
  OUTPUTS_PER_TOOL_MAX,
  type OutputKey,
  type OutputStore,
  type SeenOutput,
} from '../../../pipeline/output-store.port.ts';
import { overGivenRows, queryGivenRows } from '../calls/given-rows.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';

const PLACE = 'tenant_id, owner_id, content_hash, slot';

/** The stored value when the slot holds this very input, else the given one. */
const first = (column: string): string =>
  `${column} = case when held.input_hash = excluded.input_hash then held.${column} else excluded.${column} end`;

/**
 * The row is written in any case, with the old values when the input is remembered: so two simultaneous instances see
 * one another, and the first output is always returned. In order of slot, so that two writers never deadlock. The
 * commit does not wait for the disk: outputs lost in a crash of the server count as new.
 */
const REMEMBER = overGivenRows(
  'sallyport-remember-output',
  8,
  (rows) => `
with quick as materialized (select set_config('synchronous_commit', 'off', true))
insert into sallyport.seen_outputs as held (${PLACE}, input_hash, output_hash, invocation_id, seen_at)
select tenant_id, owner_id, content_hash, slot::smallint, input_hash, output_hash, invocation_id,
  to_timestamp(seen_ms::double precision / 1000)
from quick, ${rows} as given (${PLACE}, input_hash, output_hash, invocation_id, seen_ms)
order by tenant_id collate "C", owner_id collate "C", content_hash collate "C", slot
on conflict (${PLACE}) do update set
  input_hash = excluded.input_hash, ${['output_hash', 'invocation_id', 'seen_at'].map(first).join(', ')}
returning ${PLACE}, output_hash, invocation_id, round(extract(epoch from seen_at) * 1000)::text as seen_ms`,
);

const FORGET = `
with due as materialized (
  select ${PLACE} from sallyport.seen_outputs
  where seen_at < to_timestamp($1::double precision / 1000)
  order by seen_at limit $2 for update skip locked)
delete from sallyport.seen_outputs where (${PLACE}) in (select * from due)`;

/** The output of an input, and the key of its row. */
interface Placed {
  /** In the order of the statement's columns. */
  readonly place: readonly string[];
  readonly inputHash: string;
  readonly output: SeenOutput;
}

interface StandingRow {
  readonly tenant_id: string;
  readonly owner_id: string;
  readonly content_hash: string;
  readonly slot: number;
  readonly output_hash: string;
  readonly invocation_id: string;
  readonly seen_ms: string;
}

/** Outputs in PostgreSQL. Simultaneous calls share a statement. */
export function postgresOutputStore(pool: Pool): OutputStore {
  const remember = createBatched<Placed, SeenOutput>(
    async (placed) => {
      const rows = placed.map(({ place, inputHash, output: { outputHash, invocationId, at } }) => [
        ...place,
        inputHash,
        outputHash,
        keyText(invocationId),
        String(at),
      ]);
      const columns = rows[0]?.map((_first, column) => rows.map((row) => row[column] ?? '')) ?? [];
      const answered = await queryGivenRows<StandingRow>(pool, REMEMBER, columns);
      const standing = new Map(answered.rows.map((row) => [textOf(placeOfRow(row)), row]));
      return placed.map(({ place }) => outputOf(standing.get(textOf(place))));
    },
    // A statement writes each row once, so two inputs of one slot go into two statements.
    { max: 64, atOnceMax: 2, keyOf: ({ place }) => textOf(place) },
  );
  return {
    remember: (key, output) =>
      inDatabase('remember what a tool gave', () =>
        remember({ place: placeOf(key), inputHash: key.inputHash, output }),
      ),
    forget: (before, limit) =>
      inDatabase('forget old outputs', async () => (await pool.query(FORGET, [before, limit])).rowCount ?? 0),
  };
}

const placeOf = ({ tenantId, ownerId, contentHash, inputHash }: OutputKey): string[] => [
  keyText(tenantId),
  keyText(ownerId),
  contentHash,
  // A hash is as good as a random number.
  String(Number.parseInt(inputHash.slice(0, 8), 16) % OUTPUTS_PER_TOOL_MAX),
];

const placeOfRow = ({ tenant_id, owner_id, content_hash, slot }: StandingRow): string[] => [
  tenant_id,
  owner_id,
  content_hash,
  String(slot),
];

const textOf = (place: readonly string[]): string => JSON.stringify(place);

function outputOf(row: StandingRow | undefined): SeenOutput {
  if (row === undefined) throw new Error('What was to be remembered was answered with no row.');
  return { outputHash: row.output_hash, invocationId: keyOfText(row.invocation_id), at: Number(row.seen_ms) };
}
