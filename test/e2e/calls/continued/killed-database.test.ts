import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, openLayer } from '../../layer.fixture.ts';

test('ORC-06.3 calls that run while their embedded database is killed end as they did, each once, and it comes back', async () => {
  await using open = await openLayer();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  let runs = 0;
  await open.layer.registerFunction({ ...DOUBLE, side_effect_policy: 'irreversible' }, async (given) => {
    runs += 1;
    await gate;
    return double(given);
  });
  const invoke = (id: string) =>
    open.layer.invoke({
      ...{ tool_id: DOUBLE.tool_id, parameters: { n: 1 } },
      ...{ invocation_id: id, capability_token: open.token },
    });
  const ids = ['one', 'two', 'three'];
  const calls = ids.map(invoke);
  await expect.poll(() => runs).toBe(ids.length);
  const killed = await serverOf(open.folder);
  process.kill(killed, 'SIGKILL');
  release();
  for (const call of calls) expect(await call).toMatchObject({ status: 'success', result: { value: 2 } });
  // The processes of the killed server end one by one, and may have answered the calls before that.
  await expect.poll(() => serverOf(open.folder)).not.toBe(killed);
  const state = async (invocation_id: string) =>
    (await open.layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER)).state;
  for (const id of ids) await expect.poll(() => state(id)).toBe('COMPLETED');
  expect(await invoke('four')).toMatchObject({ status: 'success' });
  expect(runs).toBe(4);
  expect(await open.layer.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject({ whole: true });
});

const serverOf = async (folder: string): Promise<number> =>
  Number.parseInt(await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10);
