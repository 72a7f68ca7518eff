import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, afterEach, expect, test } from 'vitest';
import { failureOf, fixture, odd, processesWith, TENANT, textOf, until } from '../test-servers/upstreams.fixture.ts';

const { upstreams } = fixture(createBubblewrapDriver(), { settings: { firstBackoffMs: 20, pingTimeoutMs: 300 } });
const call = (
  name: string,
  { tool = 'x', args = {}, ...options }: { tool?: string; args?: object } & Parameters<typeof upstreams.call>[4] = {},
) => upstreams.call(TENANT, name, tool, { ...args }, { timeoutMs: 20_000, ...options });

afterEach(async () => {
  for (const { name } of upstreams.statuses(TENANT)) await upstreams.remove(TENANT, name);
  expect(processesWith('odd-server.mjs')).toEqual([]);
});
afterAll(() => upstreams.close());

test('EXE-11 messages that are none, of every kind, cost the connection nothing, and an error without text is an error', async () => {
  await upstreams.add(TENANT, odd('poison'));
  for (let round = 0; round < 3; round += 1) {
    const failure = await failureOf(call('poison'));
    expect([failure.code, failure.failure.details]).toEqual(['E3109', { reached: true, rpc_code: -32603 }]);
  }
  expect(upstreams.statuses(TENANT)[0]).toMatchObject({ state: 'ready', restart_count: 0 });
});

test('the first answer with the right id counts, and further ones reach nobody', async () => {
  await upstreams.add(TENANT, odd('answers-twice'));
  const said = await Promise.all(
    ['a', 'b', 'c'].map(async (message) => textOf(await call('answers-twice', { args: { message } }))),
  );
  expect(said).toEqual(['a', 'b', 'c']);
});

test('answers that come in another order reach their own calls', async () => {
  await upstreams.add(TENANT, odd('reversed-order'));
  const said = await Promise.all(
    [200, 100, 0].map(async (after) =>
      textOf(await call('reversed-order', { args: { message: `after ${after}`, after } })),
    ),
  );
  expect(said).toEqual(['after 200', 'after 100', 'after 0']);
});

test('EXE-12 an answer after a cancel is taken for what it is, and later calls are told nothing of it', async () => {
  await upstreams.add(TENANT, odd('answers-late'));
  const controller = new AbortController();
  const cancelled = failureOf(call('answers-late', { signal: controller.signal }));
  expect(textOf(await call('answers-late', { tool: 'count' }))).toBe('0');
  controller.abort();
  expect((await cancelled).code).toBe('E3805');
  expect(textOf(await call('answers-late', { tool: 'count' }))).toBe('1');
  const late = await failureOf(call('answers-late', { timeoutMs: 100 }));
  expect(late.code).toBe('E3103');
  expect(late.message).not.toContain('requests that do not wait');
});

test('EXE-12 a storm of progress or of log messages is bounded and costs the call nothing', async () => {
  await upstreams.add(TENANT, odd('progress-storm'));
  let reports = 0;
  const onProgress = (): void => {
    reports += 1;
    throw new Error('a listener that fails');
  };
  expect(textOf(await call('progress-storm', { onProgress }))).toBe('done');
  expect(reports).toBeGreaterThan(0);
  expect(reports).toBeLessThanOrEqual(500);
  await upstreams.add(TENANT, odd('log-storm'));
  expect(textOf(await call('log-storm'))).toBe('done');
  expect(upstreams.statuses(TENANT).map(({ restart_count }) => restart_count)).toEqual([0, 0]);
});

test.each([
  ['message-flood', 'floods the connection'],
  ['endless-line', 'a line without an end'],
])('EXE-11 a server that never stops talking (%s) is stopped, with the reason', async (mode, reason) => {
  // The server may fail while it is added, or soon after.
  const added = await upstreams.add(TENANT, odd(mode)).catch((thrown: unknown) => thrown);
  if (added instanceof Error) expect(added.message).toContain(reason);
  else await until(() => upstreams.statuses(TENANT)[0]?.last_error?.includes(reason) === true);
});

test('a flood on stderr is read at its pace, and calls go on', async () => {
  await upstreams.add(TENANT, odd('stderr-flood'));
  for (let at = 0; at < 5; at += 1) {
    expect(textOf(await call('stderr-flood', { args: { message: `${at}` } }))).toBe(String(at));
  }
  expect(upstreams.statuses(TENANT)[0]).toMatchObject({ state: 'ready', restart_count: 0 });
});

test('EXE-11 a server that stops reading its input is started anew, and no call waits longer than its time', async () => {
  await upstreams.add(TENANT, odd('deaf'));
  const big = { text: 'x'.repeat(200_000) };
  const codes = await Promise.all(
    Array.from({ length: 20 }, async () => (await failureOf(call('deaf', { args: big, timeoutMs: 500 }))).code),
  );
  for (const code of codes) expect(['E3103', 'E3107', 'E3310']).toContain(code);
  await until(() => (upstreams.statuses(TENANT)[0]?.restart_count ?? 0) > 0);
});
