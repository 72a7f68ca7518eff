import { randomUUID } from 'node:crypto';
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { QuarantineStore, UpstreamTool } from '../../../mcp-servers/quarantine-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';
import { rowPrints } from './row-prints.ts';

const TABLE = 'sallyport.upstream_tools';
/** Tools written by one statement. */
const TOOLS_PER_STATEMENT = 200;

type Row = Tables[typeof TABLE];

/** Tools of upstreams in PostgreSQL. */
export function postgresQuarantineStore(database: Kysely<Tables>): QuarantineStore {
  return {
    putAll: (tools, events) =>
      inDatabase('keep the tools of the upstream', async () => {
        const rest = lastOfEach(tools);
        try {
          return await database.transaction().execute(async (transaction) => {
            const written: UpstreamTool[] = [];
            while (rest.length > 0) written.push(...(await putSome(transaction, rest.splice(0, TOOLS_PER_STATEMENT))));
            await keepEvents(transaction, events?.(written));
            return written;
          });
        } catch (thrown) {
          if (thrown === WRITTEN_ELSEWHERE) return undefined;
          throw thrown;
        }
      }),
    removeUpstream: (tenantId, upstream) =>
      inDatabase('forget the tools of the upstream', async () => {
        const removal = database.deleteFrom(TABLE).where('tenant_id', '=', keyText(tenantId));
        await removal.where('upstream', '=', keyText(upstream)).execute();
      }),
    load: (place) =>
      inDatabase('list the tools of upstreams', async () => {
        const all = database.selectFrom(TABLE).selectAll();
        const wanted =
          place === undefined
            ? all
            : all.where('tenant_id', '=', keyText(place.tenantId)).where('upstream', '=', keyText(place.name));
        return (await wanted.execute()).map(toolOf);
      }),
    prints: () => inDatabase('see which tools of upstreams changed', () => rowPrints(database, TABLE, 'upstream')),
  };
}

/** Ends the transaction of a write to tools that another instance wrote since they were read. */
const WRITTEN_ELSEWHERE = new Error('written elsewhere');

/** The last of equal keys, in order of key, so that two writers never deadlock. */
function lastOfEach(tools: readonly UpstreamTool[]): UpstreamTool[] {
  const last = new Map(tools.map((tool) => [keyOf(tool.tenantId, tool.toolId), tool]));
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tool]) => tool);
}

/** Everything that a second writer of the same would write too; `noticed_at` is of the first. */
const ALL_BUT_TIME = ['upstream', 'tool', 'accepted_hash', 'version', 'rejected_hash', 'block', 'served'] as const;

/** @throws WRITTEN_ELSEWHERE */
async function putSome(database: Kysely<Tables>, tools: readonly UpstreamTool[]): Promise<UpstreamTool[]> {
  const ofRow = (row: 'excluded' | typeof TABLE) =>
    sql`(${sql.join(ALL_BUT_TIME.map((column) => sql`${sql.ref(`${row}.${column}`)}::text`))})`;
  const rows = await database
    .insertInto(TABLE)
    .values(tools.map(rowOf))
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'tool_id'])
        .doUpdateSet(({ ref }) => ({
          ...Object.fromEntries(ALL_BUT_TIME.map((column) => [column, ref(`excluded.${column}`)])),
          noticed_at: ref('excluded.noticed_at'),
          revision: sql<string>`gen_random_uuid()`,
        }))
        .where(({ eb, or, ref }) =>
          or([
            eb(`${TABLE}.revision`, '=', ref('excluded.revision')),
            sql<boolean>`${ofRow(TABLE)} is not distinct from ${ofRow('excluded')}`,
          ]),
        ),
    )
    .returning(['tenant_id', 'tool_id', 'revision'])
    .execute();
  const revisions = new Map(
    rows.map(({ tenant_id, tool_id, revision }) => [keyOf(keyOfText(tenant_id), keyOfText(tool_id)), revision]),
  );
  return tools.map((tool) => {
    const revision = revisions.get(keyOf(tool.tenantId, tool.toolId));
    // A tool that was on record and is not any more was inserted with the revision that it had.
    if (revision === undefined || revision === tool.revision) throw WRITTEN_ELSEWHERE;
    return { ...tool, revision };
  });
}

const keyOf = (tenantId: string, toolId: string): string => JSON.stringify([tenantId, toolId]);

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
    revision: tool.revision ?? randomUUID(),
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
    revision: row.revision,
  };
}
