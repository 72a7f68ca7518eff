import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileToolManifests, LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

let databases: TestDatabases;
/** Two layers on one database: one runs every kind of tool, the other only two kinds. */
let every: OpenLayer;
let few: OpenLayer;
let folder: string;
beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '' };
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-order-')));
  await writeFile(join(folder, 'a.txt'), 'a');
  every = await openLayer(settings);
  const [list] = fileToolManifests([{ path: folder, mode: 'ro' }]).filter(({ tool_id }) => tool_id === 'file_list');
  if (list === undefined) throw new Error('no such tool');
  await every.layer.ask('tools.register', { manifest: list }, LOCAL_CALLER);
  few = await openLayer({ ...settings, 'executors.order': ['web', 'native'] });
  await few.layer.registerFunction(DOUBLE, double);
});
afterAll(async () => {
  await few[Symbol.asyncDispose]();
  await every[Symbol.asyncDispose]();
  await databases.close();
  await rm(folder, { recursive: true });
});

test('EXE-01.3 the executors are those that executors.order names, in its order', async () => {
  const shell = { ...DOUBLE, tool_id: 'list', executor: { kind: 'shell' as const, config: { command: ['ls'] } } };
  await expect(few.layer.ask('tools.register', { manifest: shell }, LOCAL_CALLER)).rejects.toMatchObject({
    failure: {
      details: { faults: [{ path: '/executor/kind', code: 'E3008', hint: 'Kinds that it runs: web, native.' }] },
    },
  });
  const answer = await few.layer.invoke({ tool_id: 'double', parameters: { n: 4 } }, { token: few.token });
  expect(answer).toMatchObject({ status: 'success', result: { value: 8 } });
});

test('EXE-01 a tool of a kind that an instance does not run is refused there, and runs at another', async () => {
  const call = async ({ layer }: OpenLayer) => {
    const { capability_token: token } = await layer.mintToken({ paths: [folder] });
    return layer.invoke({ tool_id: 'file_list', parameters: { path: '.' } }, { token });
  };
  expect(await call(every)).toMatchObject({ status: 'success' });
  expect(await call(few)).toMatchObject({ error: { e_code: 'E3901' } });
});

test('EXE-01 a kind that is named twice is a fault of the settings', async () => {
  await expect(openLayer({ 'executors.order': ['native', 'web', 'native'] })).rejects.toMatchObject({
    code: 'E3801',
    message: expect.stringContaining('native'),
  });
});
