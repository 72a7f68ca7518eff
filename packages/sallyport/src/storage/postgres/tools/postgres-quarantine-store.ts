import type { Insertable, Kysely, Selectable } from 'kysely';
import type { QuarantineStore, UpstreamTool } from '../../../mcp-servers/quarantine-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { tablePrint } from './table-print.ts';

const TABLE = 'sallyport.upstream_tools';
/** Tools written by one statement. */
const TOOLS_PER_STATEMENT = 200;

type Row = Tables[typeof TABLE];

/** Tools of upstreams in PostgreSQL. */
export function postgresQuarantineStore(database: Kysely<Tables>): QuarantineStore {
  return {
    putAll: (tools) =>
      inDatabase('keep the tools of the upstream', async () => {
        const rows = rowsOf(tools);
        if (rows.length <= TOOLS_PER_STATEMENT) await putSome(database, rows);
        else await database.transaction().execute((transaction) => putMany(transaction, rows));
      }),
    removeUpstream: (tenantId, upstream) =>
      inDatabase('forget the tools of the upstream', async () => {
        const removal = database.deleteFrom(TABLE).where('tenant_id', '=', keyText(tenantId));
        await removal.where('upstream', '=', keyText(upstream)).execute();
      }),
    loadAll: () =>
      inDatabase('list the tools of upstreams', async () => {
        const rows = await database.selectFrom(TABLE).selectAll().execute();
        return rows.map(toolOf);
      }),
    print: () => inDatabase('see whether tools of upstreams changed', () => tablePrint(database, TABLE, 'tool_id')),
  };
}

/** The last of equal keys, in order of key, so that two writers never deadlock. */
function rowsOf(tools: readonly UpstreamTool[]): readonly Insertable<Row>[] {
  const last = new Map(tools.map((tool) => [JSON.stringify([tool.tenantId, tool.toolId]), tool]));
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tool]) => rowOf(tool));
}

async function putMany(database: Kysely<Tables>, rows: readonly Insertable<Row>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += TOOLS_PER_STATEMENT) {
    await putSome(database, rows.slice(at, at + TOOLS_PER_STATEMENT));
  }
}

async function putSome(database: Kysely<Tables>, rows: readonly Insertable<Row>[]): Promise<void> {
  if (rows.length === 0) return;
  await database
    .insertInto(TABLE)
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'tool_id']).doUpdateSet(({ ref }) => ({
        upstream: ref('excluded.upstream'),
        tool: ref('excluded.tool'),
        accepted_hash: ref('excluded.accepted_hash'),
        version: ref('excluded.version'),
        rejected_hash: ref('excluded.rejected_hash'),
        block: ref('excluded.block'),
        served: ref('excluded.served'),
        noticed_at: ref('excluded.noticed_at'),
      })),
    )
    .execute();
}

function rowOf(tool: UpstreamTool): Insertable<Row> {
  return {
    tenant_id: keyText(tool.tenantId),
    tool_id: keyText(tool.toolId),
    upstream: keyText(tool.upstream),
    tool: keyText(tool.tool),
    accepted_hash: tool.acceptedHash ?? null,
    version: tool.version ?? null,
    rejected_hash: tool.rejectedHash ?? null,
    block: tool.block ?? null,
    served: tool.served === undefined ? null : JSON.stringify(tool.served),
    noticed_at: tool.noticedAt,
  };
}

function toolOf(row: Selectable<Row>): UpstreamTool {
  const { accepted_hash: acceptedHash, version, rejected_hash: rejectedHash, block, served } = row;
  return {
    tenantId: keyOfText(row.tenant_id),
    toolId: keyOfText(row.tool_id),
    upstream: keyOfText(row.upstream),
    tool: keyOfText(row.tool),
    ...(acceptedHash === null ? {} : { acceptedHash }),
    ...(version === null ? {} : { version }),
    ...(rejectedHash === null ? {} : { rejectedHash }),
    ...(block === null ? {} : { block }),
    ...(served === null ? {} : { served }),
    noticedAt: row.noticed_at.toISOString(),
  };
}
