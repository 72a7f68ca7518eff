import type { Nearness, ToolVector, VectorIndex } from '../../../registry/vectors.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';

/** Sends one statement with its values: by a pool, or by an in-process server for tests. */
export type SendStatement = (
  text: string,
  values: readonly unknown[],
) => Promise<{ readonly rows: readonly unknown[] }>;

/** True when the server offers the extension. The embedded one does not. */
export async function hasPgvector(send: SendStatement): Promise<boolean> {
  return inDatabase('say which extensions it has', async () => {
    const { rows } = await send(`select 1 from pg_available_extensions where name = 'vector'`, []);
    return rows.length > 0;
  });
}

/**
 * Vectors in PostgreSQL with the extension pgvector, shared by all instances. Every vector of the tenant is compared:
 * an HNSW index is searched before tenant and filters apply, and finds too little for tenants with few tools.
 */
export function pgvectorIndex(send: SendStatement): VectorIndex {
  let opened: Opened | undefined;
  return {
    open: (model, dimensions) =>
      inDatabase('make the index of vectors', async () => {
        if (opened?.model === model && opened.dimensions === dimensions) return;
        for (const statement of PREPARATION) await send(statement, []);
        opened = { model, dimensions };
      }),
    put: (tenantId, vectors) =>
      inDatabase('keep the vectors', async () => {
        if (opened === undefined) return;
        const each = [...new Map(vectors.map((vector) => [vector.toolId, vector])).values()];
        await send(PUT, [
          keyText(tenantId),
          keyText(opened.model),
          opened.dimensions,
          each.map(({ toolId }) => keyText(toolId)),
          each.map(textOf),
        ]);
      }),
    remove: (tenantId, toolIds) =>
      inDatabase('remove the vectors', async () => {
        if (opened !== undefined) await send(REMOVE, [keyText(tenantId), toolIds.map(keyText)]);
      }),
    search: (tenantId, nearness) =>
      inDatabase('find near vectors', async () =>
        opened === undefined ? new Map() : search(send, opened, tenantId, nearness),
      ),
  };
}

interface Opened {
  readonly model: string;
  readonly dimensions: number;
}

/**
 * Not a migration: the extension may come and go with the server. Rows keep their vectors inline, which a scan needs.
 */
const PREPARATION = [
  'create extension if not exists vector',
  `create table if not exists sallyport.tool_vectors (
    tenant_id text not null, tool_id text not null, model text not null, dimensions integer not null,
    embedding vector not null, primary key (tenant_id, tool_id))`,
  'alter table sallyport.tool_vectors alter column embedding set storage main',
];

const PUT = `
insert into sallyport.tool_vectors (tenant_id, model, dimensions, tool_id, embedding)
select $1, $2, $3, tool_id, embedding::vector
from unnest($4::text[], $5::text[]) as given (tool_id, embedding) order by tool_id
on conflict (tenant_id, tool_id) do update
set model = excluded.model, dimensions = excluded.dimensions, embedding = excluded.embedding`;

const REMOVE = 'delete from sallyport.tool_vectors where tenant_id = $1 and tool_id = any($2)';

interface Row {
  readonly tool_id: string;
  readonly cosine: number;
}

async function search(
  send: SendStatement,
  { model, dimensions }: Opened,
  tenantId: string,
  { queries, cosineMin, toolsMax, also, only }: Nearness,
): Promise<ReadonlyMap<string, number>> {
  const own = [keyText(tenantId), keyText(model), dimensions];
  const values = [...own, queries.map(numbers), cosineMin, toolsMax, also.map(keyText), only?.map(keyText) ?? null];
  const { rows } = await send(SEARCH, values);
  return new Map((rows as readonly Row[]).map(({ tool_id, cosine }) => [keyOfText(tool_id), cosine]));
}

/** pgvector's distance is 1 minus the cosine. */
const SEARCH = `
with compared as materialized (
  select tool_id, (select max(1 - (embedding <=> query::vector)) from unnest($4::text[]) as query) as cosine
  from sallyport.tool_vectors
  where tenant_id = $1 and model = $2 and dimensions = $3 and ($8::text[] is null or tool_id = any($8))
)
(select tool_id, cosine from compared where cosine >= $5 order by cosine desc limit $6)
union
select tool_id, cosine from compared where tool_id = any($7)`;

const textOf = ({ vector }: ToolVector): string => numbers(vector);

const numbers = (vector: Float32Array): string => `[${vector.join(',')}]`;
