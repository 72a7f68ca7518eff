import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vectorIndexConformance } from '../../packages/sallyport/src/registry/search/conformance/vector-index.conformance.ts';
import {
  hasPgvector,
  pgvectorIndex,
  type SendStatement,
} from '../../packages/sallyport/src/storage/postgres/tools/pgvector-index.ts';

// PostgreSQL with pgvector in this process, because the embedded server has no pgvector.
let database: PGlite;
const send: SendStatement = (text, values) => database.query(text, [...values]);

beforeAll(async () => {
  database = await PGlite.create({ extensions: { vector } });
  await database.exec('create schema sallyport');
});
afterAll(() => database.close());

describe('pgvector', () => {
  vectorIndexConformance(test, 'pgvector', async () => ({
    index: pgvectorIndex(send),
    close: () => database.exec('drop table if exists sallyport.tool_vectors').then(() => undefined),
  }));

  test('REG-07 the extension is found where it can be had', async () => {
    expect(await hasPgvector(send)).toBe(true);
    const without = await PGlite.create();
    expect(await hasPgvector((text, values) => without.query(text, [...values]))).toBe(false);
    await without.close();
  });
});
