import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, openDesk, toolOf } from './desk.fixture.ts';

interface Run {
  readonly n: number;
  readonly signal: AbortSignal;
  readonly end: () => void;
}

let desk: Desk;
const runs: Run[] = [];
const hold = async ({ n }: Readonly<Record<string, unknown>>, { signal }: { readonly signal: AbortSignal }) => {
  await new Promise<void>((resolve, reject) => {
    runs.push({ n: Number(n), signal, end: resolve });
    // Like most tools this one takes a moment to stop.
    signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), 300));
  });
  return { done: n };
};
beforeAll(async () => {
  desk = await openDesk({ settings: { 'workers.slots': 2 } });
  await desk.layer.registerFunction(toolOf('report', { side_effect_policy: 'pure' }), hold);
  await desk.layer.registerFunction(toolOf('ship', {}), hold);
});
afterAll(async () => {
  for (const { end } of runs) end();
  await desk[Symbol.asyncDispose]();
});

/** Makes an asynchronous call of `tool`, as a new agent. */
async function later(tool: string, n: number, priority: string, at = desk): Promise<string> {
  const token = await at.token({ agent_did: `did:agent:${n}` });
  const { body } = await at.invoke(tool, n, { execution_options: { async_mode: true, priority } }, token);
  return String(body['invocation_id']);
}

const runsOf = (n: number): Run[] => runs.filter((run) => run.n === n);
const begun = (n: number, times = 1) => expect.poll(() => runsOf(n).length).toBe(times);

test('PIPE-08.5 an urgent call makes one low call make way, which runs again afterwards, on record', async () => {
  const lows = [await later('report', 1, 'low'), await later('report', 2, 'low')];
  await Promise.all([begun(1), begun(2)]);
  const urgent = await later('report', 3, 'high');
  await begun(3);
  const [away, ...others] = runs.filter(({ signal }) => signal.aborted);
  expect(others).toEqual([]);
  runsOf(3)[0]?.end();
  await desk.reaches(urgent, 'COMPLETED');
  await begun(away?.n ?? 0, 2);
  for (const { end } of runs) end();
  for (const id of lows) await desk.reaches(id, 'COMPLETED');
  expect(runs.map(({ n }) => n).toSorted()).toEqual([1, 2, 3, away?.n].toSorted());
  const { body } = await desk.rest(
    'GET',
    '/v1/audit?type=ai.agent.tool.preempted',
    await desk.token({ roles: ['viewer'] }),
  );
  expect((body['events'] as object[]).length).toBe(1);
});

test('PRM-07 PIPE-08.5 a call that made way is counted once in the quota of its session', async () => {
  runs.length = 0;
  await using narrow = await openDesk({ settings: { 'workers.slots': 1, 'quota.calls_per_session': 1 } });
  await narrow.layer.registerFunction(toolOf('report', { side_effect_policy: 'pure' }), hold);
  const low = await later('report', 21, 'low', narrow);
  await begun(21);
  const urgent = await later('report', 22, 'high', narrow);
  await begun(22);
  runsOf(22)[0]?.end();
  await narrow.reaches(urgent, 'COMPLETED');
  await begun(21, 2);
  runsOf(21)[1]?.end();
  await narrow.reaches(low, 'COMPLETED');
});

test('PIPE-08 a call that may not run twice makes way for nobody', async () => {
  runs.length = 0;
  const slow = [await later('ship', 11, 'low'), await later('ship', 12, 'low')];
  await Promise.all([begun(11), begun(12)]);
  const urgent = await later('report', 13, 'high');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(runs.map(({ n, signal }) => [n, signal.aborted]).toSorted()).toEqual([
    [11, false],
    [12, false],
  ]);
  runsOf(11)[0]?.end();
  await begun(13);
  for (const { end } of runs) end();
  for (const id of [...slow, urgent]) await desk.reaches(id, 'COMPLETED');
});
