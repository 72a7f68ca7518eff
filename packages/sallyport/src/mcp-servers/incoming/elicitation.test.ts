import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import type { ClientAsker, ClientQuestion } from '../../domain/questions/client-question.ts';
import { silentLog } from '../../telemetry/log.ts';
import {
  type Fixture,
  failureOf,
  fixture,
  odd,
  processesWith,
  TENANT,
  textOf,
  until,
} from '../test-servers/upstreams.fixture.ts';
import type { UpstreamCallOptions } from '../upstreams.ts';

const driver = createBubblewrapDriver();
const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } };
const QUESTION = { message: 'Who?', requestedSchema: SCHEMA };
const open: Fixture[] = [];
const logged: string[] = [];

async function start(mode: string, clients?: ClientAsker, idleMs?: number) {
  const log = { ...silentLog, warn: (event: string) => void logged.push(event) };
  const made = fixture(driver, { log, ...(clients === undefined ? {} : { clients }) });
  open.push(made);
  const added = await made.upstreams.add(TENANT, {
    ...odd(mode),
    ...(idleMs === undefined ? {} : { request_timeout_ms: idleMs }),
  });
  const call = (tool: string, args: Record<string, unknown> = QUESTION, options: UpstreamCallOptions = {}) =>
    made.upstreams.call(TENANT, mode, tool, args, { timeoutMs: 20_000, invocationId: 'call-1', ...options });
  return {
    added,
    call,
    said: async (tool: string, args?: Record<string, unknown>) => JSON.parse(textOf(await call(tool, args))),
  };
}

/** Treats all calls as those of one client. */
const approvalsOf = (ask: ClientAsker['ask']): ClientAsker => ({
  ask,
  clientOf: () => ({ session: 'one', can: { elicitation: {} } }),
  completed() {},
});

/** Records questions, and answers them when the test says so. */
function desk() {
  const asked: { request: ClientQuestion; signal: AbortSignal; answer: (name: string) => void }[] = [];
  const clients = approvalsOf(
    (request, signal) =>
      new Promise((resolve) => {
        asked.push({ request, signal, answer: (name) => resolve({ result: { action: 'accept', content: { name } } }) });
      }),
  );
  return { asked, clients };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ upstreams }) => upstreams.close()));
  logged.length = 0;
  expect(processesWith('odd-server.mjs')).toEqual([]);
});

test('EXE-07 without anybody to ask, a question of a server is cancelled and logged, never left open', async () => {
  const { said } = await start('elicits');
  expect(await said('wait')).toEqual({ action: 'cancel' });
  expect(logged).toEqual(['upstream-question-unanswered']);
});

test('EXE-07 a question reaches the desk with the call that it belongs to, and its answer the server', async () => {
  const { asked, clients } = desk();
  const { call } = await start('elicits', clients);
  const running = call('wait');
  await until(() => asked.length === 1);
  expect(asked[0]?.request).toMatchObject({
    tenantId: TENANT,
    author: { kind: 'server', name: 'elicits' },
    invocationIds: ['call-1'],
    asked: { kind: 'elicitation', mode: 'form', message: 'Who?', requestedSchema: SCHEMA },
  });
  asked[0]?.answer('Ada');
  expect(JSON.parse(textOf(await running))).toEqual({ action: 'accept', content: { name: 'Ada' } });
});

test('EXE-12 the time that a person takes is not idle time of the server, but the absolute time goes on', async () => {
  const { asked, clients } = desk();
  const { call } = await start('elicits', clients, 150);
  const running = call('wait');
  await until(() => asked.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 400));
  asked[0]?.answer('late');
  expect(JSON.parse(textOf(await running))).toMatchObject({ content: { name: 'late' } });
  expect((await failureOf(call('wait', QUESTION, { timeoutMs: 300 }))).code).toBe('E3103');
  expect(asked[1]?.signal.aborted).toBe(true);
});

test('a question is void once the server takes it back or its call has ended', async () => {
  const { asked, clients } = desk();
  const { call } = await start('elicits', clients);
  await call('take-back');
  await until(() => asked[0]?.signal.aborted === true);
  const controller = new AbortController();
  const cancelled = failureOf(call('wait', QUESTION, { signal: controller.signal }));
  await until(() => asked.length === 2);
  expect(asked[1]?.signal.aborted).toBe(false);
  controller.abort();
  expect((await cancelled).code).toBe('E3805');
  expect(asked[1]?.signal.aborted).toBe(true);
});

test.each([
  ['no schema', { message: 'm' }],
  ['no message', { requestedSchema: SCHEMA }],
  ['an odd url', { mode: 'url', message: 'm', url: 'javascript:alert(1)' }],
  ['a huge schema', { message: 'm', requestedSchema: { description: 'x'.repeat(20_000) } }],
  ['an unknown mode', { ...QUESTION, mode: 'voice' }],
])('a question with %s is cancelled before anybody sees it', async (_what, question) => {
  const { asked, clients } = desk();
  const { said } = await start('elicits', clients);
  expect(await said('wait', question)).toEqual({ action: 'cancel' });
  expect(asked).toEqual([]);
});

test('a desk that fails counts as cancel', async () => {
  const { said } = await start(
    'elicits',
    approvalsOf(() => Promise.reject(new Error('the desk burned down'))),
  );
  expect(await said('wait')).toEqual({ action: 'cancel' });
});

test('EXE-07 input that a server of the newest protocol asks for is answered in the next round of the same call', async () => {
  const declined = await start('asks-input');
  expect(declined.added.status.protocol_version).toBe('2026-07-28');
  const state = { requestState: 'as it was' };
  expect(await declined.said('x')).toEqual({ inputResponses: { who: { action: 'cancel' } }, ...state });
  const { asked, clients } = desk();
  const answered = await start('asks-input', clients);
  const running = answered.call('x', { mode: 'url', message: 'Go there.', url: 'https://example.test/' });
  await until(() => asked.length === 1);
  expect(asked[0]?.request).toMatchObject({
    key: 'who',
    asked: { mode: 'url', url: 'https://example.test/' },
    invocationIds: ['call-1'],
  });
  asked[0]?.answer('Ada');
  expect(JSON.parse(textOf(await running))).toMatchObject({ inputResponses: { who: { action: 'accept' } } });
});

test('input without end, and input that no person can give, fail the call', async () => {
  const { call } = await start('asks-input');
  for (const tool of ['endless', 'samples']) {
    const failure = await failureOf(call(tool));
    expect([failure.code, failure.failure.details]).toEqual(['E3308', { reached: true }]);
  }
  const { asked, clients } = desk();
  const waiting = await start('asks-input', clients);
  expect((await failureOf(waiting.call('x', QUESTION, { timeoutMs: 200 }))).code).toBe('E3103');
  expect(asked[0]?.signal.aborted).toBe(true);
});
