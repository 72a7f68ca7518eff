import pg from 'pg';
import { expect, vi } from 'vitest';
import type { EmbeddedToolLayer } from '../../../packages/sallyport/src/index.ts';
import { poolTarget } from '../../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import type { Names } from './planted.ts';

/** Columns that change when the owner uses the row, or when an instance takes up work. */
const LIVELY = new Set([
  'api_keys.last_used_at',
  'tool_versions.last_used_at',
  'approval_closings.holder',
  'approval_closings.claimed_at',
]);

/** All rows of a tenant, by table, from every table with a column for the tenant. */
export async function rowsOf(layer: EmbeddedToolLayer, tenant: string): Promise<Record<string, readonly string[]>> {
  if (layer.embeddedDatabase === undefined) throw new Error('The layer has no database of its own.');
  const client = new pg.Client(poolTarget(layer.embeddedDatabase));
  await client.connect();
  try {
    // All tables at one moment: events that move from a row to the chain in between would be found in neither.
    await client.query('begin isolation level repeatable read, read only');
    const tables = await client.query<{ table_name: string }>(
      "select table_name from information_schema.columns where table_schema = 'sallyport' and column_name = 'tenant_id' order by 1",
    );
    const rows: Record<string, readonly string[]> = {};
    for (const { table_name: table } of tables.rows) {
      const found = await client.query<object>(`select * from sallyport.${table} where tenant_id = $1`, [tenant]);
      rows[table] = found.rows.map((row) => textOf(table, row)).sort();
    }
    return rows;
  } finally {
    await client.end();
  }
}

/** Rows that were removed and rows that were added, each with its table. */
export function changes(
  before: Readonly<Record<string, readonly string[]>>,
  after: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  return Object.keys({ ...before, ...after }).flatMap((table) => {
    const [old = [], now = []] = [before[table], after[table]];
    const gone = old.filter((row) => !now.includes(row)).map((row) => `- ${table} ${row}`);
    return [...gone, ...now.filter((row) => !old.includes(row)).map((row) => `+ ${table} ${row}`)];
  });
}

const textOf = (table: string, row: object): string =>
  JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => !LIVELY.has(`${table}.${name}`))));

/** The marks that an answer contains and its request does not. */
export const leaked = (answer: string, question: string, marks: readonly string[]): readonly string[] =>
  marks.filter((mark) => holds(answer, mark) && !holds(question, mark));

/** Whether the text contains the mark, as it is, in hexadecimal or in Base64. */
function holds(text: string, mark: string): boolean {
  if (text.includes(mark)) return true;
  const bytes = Buffer.from(mark);
  // Base64 encodes groups of three bytes: the middle of the encoded mark is one of three texts, depending on the
  // offset.
  const inBase64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64url')
      .slice(offset === 0 ? 0 : offset + 1, -4),
  );
  return [bytes.toString('hex'), ...inBase64].some((coded) => text.includes(coded));
}

const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<jwt>'],
  [/sp_[\w-]{6,43}/g, '<key>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/"(?:iat|exp|nbf|duration_ms|uptime_seconds|chainseq|next)":[\d.]+/g, '<number>'],
  [/"name":"(?:iat|exp|nbf)","value":\d+/g, '<time of a claim>'],
];

/** An answer without the parts that differ between two requests of the same kind. */
export function plain(answer: string, names: Names, own: Readonly<Record<string, string>>): string {
  let text = answer;
  // The name of the variable of a secret contains the tenant in another spelling.
  const inVariables = Object.entries(own).map(([name, value]): [string, string] => [
    `${name}-in-variable`,
    value.replaceAll('-', '_X2D_'),
  ]);
  const known = [...Object.entries(names), ...Object.entries(own), ...inVariables].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  for (const [name, value] of known) if (value !== '') text = text.replaceAll(value, `<${name}>`);
  for (const [form, name] of VOLATILE) text = text.replaceAll(form, name);
  return text;
}

/**
 * The rows of a tenant, once nothing changes by itself any more: the approved call has run, and the first events of the
 * running call, which its row holds at first, are in the chain.
 */
export async function restingRowsOf(
  layer: EmbeddedToolLayer,
  tenant: string,
): Promise<Record<string, readonly string[]>> {
  return vi.waitFor(
    async () => {
      const rows = await rowsOf(layer, tenant);
      expect(rows['approval_closings']?.filter((row) => row.includes('"finished":false'))).toEqual([]);
      expect(rows['tool_invocations']?.filter((row) => row.includes('"heldEvents":'))).toEqual([]);
      return rows;
    },
    { timeout: 50_000, interval: 50 },
  );
}
