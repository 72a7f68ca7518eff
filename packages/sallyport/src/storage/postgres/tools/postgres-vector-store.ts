import type { Pool } from 'pg';
import type { KeptVector, VectorStore } from '../../../registry/vectors.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

const PRUNED_MAX = 10_000;

/** The day of use suffices for pruning, and is written at most once a day. */
const GET = {
  name: 'sallyport-get-vectors',
  text: `
with used as (
  update sallyport.embedding_vectors set used_on = current_date
  where model = $1 and content_hash = any($3) and dimensions = $2 and used_on < current_date
)
select content_hash, vector from sallyport.embedding_vectors
where model = $1 and content_hash = any($3) and dimensions = $2`,
};

/** In order, so that two instances that store the same vectors do not deadlock. */
const PUT = {
  name: 'sallyport-put-vectors',
  text: `
insert into sallyport.embedding_vectors (model, content_hash, dimensions, vector)
select $1, content_hash, dimensions, vector
from unnest($2::text[], $3::integer[], $4::bytea[]) as given (content_hash, dimensions, vector)
order by content_hash
on conflict (model, content_hash) do update
set dimensions = excluded.dimensions, vector = excluded.vector, used_on = current_date`,
};

const PRUNE = {
  name: 'sallyport-prune-vectors',
  text: `
with due as materialized (
  select model, content_hash from sallyport.embedding_vectors
  where used_on < to_timestamp($1::double precision / 1000)::date limit ${PRUNED_MAX} for update skip locked)
delete from sallyport.embedding_vectors where (model, content_hash) in (select * from due)`,
};

interface Row {
  readonly content_hash: string;
  readonly vector: Buffer;
}

/** Vectors in PostgreSQL, as 32-bit numbers in little-endian order; it needs no extension. */
export function postgresVectorStore(pool: Pick<Pool, 'query'>): VectorStore {
  return {
    get: (model, dimensions, contentHashes) =>
      inDatabase('read the vectors', async () => {
        if (contentHashes.length === 0) return [];
        const values = [keyText(model), dimensions, [...contentHashes]];
        const { rows } = await pool.query<Row>({ ...GET, values });
        return rows.map(({ content_hash, vector }) => ({ contentHash: content_hash, vector: numbersIn(vector) }));
      }),
    put: (model, vectors) =>
      inDatabase('keep the vectors', async () => {
        const each = [...onePerHash(vectors)];
        if (each.length === 0) return;
        const values = [
          keyText(model),
          each.map(({ contentHash }) => contentHash),
          each.map(({ vector }) => vector.length),
          each.map(({ vector }) => bytesOf(vector)),
        ];
        await pool.query({ ...PUT, values });
      }),
    prune: (unusedSince) =>
      inDatabase('forget old vectors', async () => {
        const { rowCount } = await pool.query({ ...PRUNE, values: [unusedSince] });
        return rowCount ?? 0;
      }),
  };
}

/** One statement cannot write a row twice. */
const onePerHash = (vectors: readonly KeptVector[]): Iterable<KeptVector> =>
  new Map(vectors.map((each) => [each.contentHash, each])).values();

function bytesOf(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, at) => void bytes.writeFloatLE(value, at * 4));
  return bytes;
}

const numbersIn = (bytes: Buffer): Float32Array =>
  Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
