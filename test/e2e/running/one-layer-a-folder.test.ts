import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { openDesk, toolOf } from '../calls/desk.fixture.ts';

let databases: TestDatabases;
beforeAll(async () => {
  databases = await embeddedDatabases(true);
});
afterAll(() => databases.close());

test('OPS-04.1 PIPE-13 a second layer on a data folder is refused, also over a database of one’s own, and takes no call of the first for one of a crash', async () => {
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '' };
  await using first = await openDesk({ settings });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  await first.layer.registerFunction(toolOf('writes', {}), async ({ n }, { state }) => {
    await state.put('written', n ?? null);
    begun.resolve();
    await end.promise;
    return { n };
  });
  const running = first.invoke('writes', 1);
  await begun.promise;
  await expect(openDesk({ folder: first.folder, settings })).rejects.toMatchObject({
    code: 'E3812',
    message: expect.stringContaining(`Data folder ${first.folder} is in use by process ${process.pid}`),
  });
  end.resolve();
  expect(await running).toMatchObject({ body: { status: 'success' } });
  expect(await first.invoke('plain', 1)).toMatchObject({ body: { status: 'success' } });
}, 120_000);
