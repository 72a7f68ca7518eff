import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Desk, openDesk, toolOf } from './desk.fixture.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk({
    settings: { 'notifiers.enabled': ['console'], 'workers.queue': 'postgres', 'workers.slots': 1 },
  });
});
afterAll(() => desk[Symbol.asyncDispose]());

test('ORC-03.3 whom the operator wants told on the console, the layer tells on standard error', async () => {
  const said: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  try {
    const { approvalId } = await desk.waits('pay', 1);
    await expect.poll(() => said.join('')).toContain(approvalId);
    await desk.cli(['approvals', 'deny', approvalId]);
  } finally {
    write.mockRestore();
  }
});

test('ORC-01.2 calls without room stand in the queue of the database, and run out of it', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await desk.layer.registerFunction(toolOf('hold', {}), async ({ n }) => {
    desk.runs.push(`hold ${String(n)}`);
    await released;
  });
  const { socketFolder: host, ...rest } = desk.layer.embeddedDatabase ?? expect.fail('the database is embedded');
  const database = new Client({ host, ...rest });
  await database.connect();
  try {
    const later = { execution_options: { async_mode: true } };
    const ids = [];
    for (const n of [1, 2, 3]) ids.push(String((await desk.invoke('hold', n, later)).body['invocation_id']));
    await expect.poll(async () => (await database.query('select from bullmq.job')).rowCount).toBeGreaterThan(0);
    release();
    for (const id of ids) await desk.reaches(id, 'COMPLETED');
    expect(desk.runs.toSorted()).toEqual(['hold 1', 'hold 2', 'hold 3']);
  } finally {
    await database.end();
  }
});
