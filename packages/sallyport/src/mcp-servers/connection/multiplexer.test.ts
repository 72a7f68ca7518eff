import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Progress } from '../../domain/principal/principal.ts';
import { failureOf, fixture, odd, processesWith, TENANT, textOf } from '../test-servers/upstreams.fixture.ts';

const { upstreams } = fixture(createBubblewrapDriver());
const add = (mode: string, more: { request_timeout_ms?: number } = {}) =>
  upstreams.add(TENANT, { ...odd(mode), ...more });
const call = (name: string, options: Parameters<typeof upstreams.call>[4] = {}, tool = 'x') =>
  upstreams.call(TENANT, name, tool, {}, { timeoutMs: 20_000, ...options });

afterEach(async () => {
  for (const { name } of upstreams.statuses(TENANT)) await upstreams.remove(TENANT, name);
  expect(processesWith('odd-server.mjs')).toEqual([]);
});
afterAll(() => upstreams.close());

test('EXE-12.3 EXE-07.6 a cancelled call tells the server which request to stop, and only that one', async () => {
  await add('never');
  const controllers = [new AbortController(), new AbortController()];
  const calls = controllers.map(({ signal }) => failureOf(call('never', { signal })));
  controllers[1]?.abort();
  const cancelled = await calls[1];
  expect(cancelled?.code).toBe('E3805');
  expect(cancelled?.failure.details).toEqual({ reached: true });
  const seen = JSON.parse(textOf(await call('never', {}, 'seen'))) as number[];
  expect(seen).toHaveLength(1);
  controllers[0]?.abort();
  await calls[0];
  const both = JSON.parse(textOf(await call('never', {}, 'seen'))) as number[];
  expect(both).toEqual([...seen, (seen[0] as number) - 1]);
});

test('a call that runs out of time fails with E3103 and is cancelled at the server', async () => {
  await add('never');
  const late = await failureOf(call('never', { timeoutMs: 100 }));
  expect(late.code).toBe('E3103');
  expect(late.failure.details).toEqual({ reached: true });
  expect(JSON.parse(textOf(await call('never', {}, 'seen')))).toHaveLength(1);
});

test('EXE-12.1 EXE-12.2 EXE-07.5 EXE-07.8 progress reaches the caller and extends the idle time, but never the absolute one', async () => {
  await add('progress', { request_timeout_ms: 1_000 });
  const seen: Progress[] = [];
  expect(textOf(await call('progress', { onProgress: (progress) => seen.push(progress) }))).toBe('done');
  expect(seen).toEqual([1, 2, 3, 4, 5].map((step) => ({ progress: step, total: 5, message: `step ${step}` })));
  expect((await failureOf(call('progress', { timeoutMs: 1_200 }))).code).toBe('E3103');
  await add('never', { request_timeout_ms: 100 });
  expect((await failureOf(call('never', { timeoutMs: 60_000 }))).code).toBe('E3103');
});

test('answers with wrong ids reach nobody, and the timeout says that there were some', async () => {
  await add('wrong-ids');
  const late = await failureOf(call('wrong-ids', { timeoutMs: 300 }));
  expect(late.code).toBe('E3103');
  expect(late.message).toContain('1 answers to requests that do not wait');
});

test('EXE-07 requests of the server for sampling and roots are refused, a question is declined, its ping is answered', async () => {
  await add('asks-back');
  const answers = JSON.parse(textOf(await call('asks-back'))) as unknown[];
  // Sorted, because the answer to the question may come later than the others.
  expect(answers.sort()).toEqual([-32601, -32601, 'answered', 'answered']);
});

test('an answer too long to read fails its own call and no other', async () => {
  await add('big-answer');
  const [big, small] = await Promise.all([failureOf(call('big-answer', {}, 'big')), call('big-answer', {}, 'small')]);
  expect(big.code).toBe('E3308');
  expect(big.message).toMatch(/answered with 178\d{5} bytes/);
  expect(textOf(small)).toBe('small');
  expect(upstreams.statuses(TENANT)[0]).toMatchObject({ state: 'ready', restart_count: 0 });
});

test('error answers tell a refusal from a failure, and an answer that is no object is unreadable', async () => {
  await add('rpc-error');
  const refused = await failureOf(call('rpc-error', {}, 'refused'));
  expect([refused.code, refused.failure.details]).toEqual(['E3309', { reached: true, rpc_code: -32602 }]);
  expect((await failureOf(call('rpc-error'))).code).toBe('E3109');
  await add('not-an-object');
  expect((await failureOf(call('not-an-object'))).code).toBe('E3308');
});

test('more requests than the bound are refused at once, and one less is not', async () => {
  await add('never');
  const controller = new AbortController();
  const { signal } = controller;
  const running = Array.from({ length: 1024 }, () => failureOf(call('never', { signal })));
  const refused = await failureOf(call('never', { signal }));
  expect([refused.code, refused.failure.details]).toEqual(['E3803', { reached: false }]);
  controller.abort();
  expect(new Set((await Promise.all(running)).map(({ code }) => code))).toEqual(new Set(['E3805']));
});

test('VAL-03.5 a server over stdio is found out where a whole number of its result is rounded', async () => {
  const roundedBy = async (mode: string): Promise<unknown> => {
    let rounded: unknown;
    await add(mode);
    await call(mode, {
      onRounded(places) {
        rounded = places;
      },
    });
    return rounded;
  };
  expect(await roundedBy('long-numbers')).toEqual(['/structuredContent/account']);
  expect(await roundedBy('good')).toEqual([]);
});
