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

  test('REG-06 a model of the same name with longer vectors finds those alone', async () => {
    const index = pgvectorIndex(send);
    await index.open('model', 1);
    await index.put('acme', [{ toolId: 'short', vector: Float32Array.of(1) }]);
    await index.open('model', 2);
    await index.put('acme', [{ toolId: 'long', vector: Float32Array.of(1, 0) }]);
    const nearness = { queries: [Float32Array.of(1, 0)], cosineMin: 0.5, toolsMax: 9, also: [] };
    expect(await index.search('acme', nearness)).toEqual(new Map([['long', 1]]));
    await database.exec('drop table sallyport.tool_vectors');
  });

  test('REG-07 what the database did not do is an error', async () => {
    const index = pgvectorIndex(send);
    await index.open('model', 1);
    await database.exec('drop table sallyport.tool_vectors');
    const vectors = [{ toolId: 'east', vector: Float32Array.of(1) }];
    await expect(index.put('acme', vectors)).rejects.toMatchObject({ code: 'E3812' });
    await expect(index.remove('acme', ['east'])).rejects.toMatchObject({ code: 'E3812' });
    const closed = pgvectorIndex(() => Promise.reject(new Error('closed')));
    await expect(closed.open('model', 1)).rejects.toMatchObject({ code: 'E3812' });
  });

  test('REG-07 the extension is found where it can be had', async () => {
    expect(await hasPgvector(send)).toBe(true);
    const without = await PGlite.create();
    expect(await hasPgvector((text, values) => without.query(text, [...values]))).toBe(false);
    await without.close();
  });
});
