import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import type { Fixture } from '../../test-servers/upstreams.fixture.ts';
import { failureOf, fixture, odd, processesWith, TENANT, textOf, until } from '../../test-servers/upstreams.fixture.ts';
import type { UpstreamsParts } from '../../upstreams.ts';

const driver = createBubblewrapDriver();
const open: Fixture[] = [];
const make = (settings: UpstreamsParts['settings'] = {}): Fixture['upstreams'] => {
  const made = fixture(driver, { settings });
  open.push(made);
  return made.upstreams;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ upstreams }) => upstreams.close()));
  expect(processesWith('odd-server.mjs')).toEqual([]);
});

test.each([
  ['exit', {}, 'E3108', /exited with code 3\..*no database configured/s],
  ['exit-at-initialize', {}, 'E3108', /exited with code 4/],
  ['hangs-at-initialize', { connectTimeoutMs: 1500 }, 'E3306', /did not answer within 1500 ms/],
  ['never-lists', { connectTimeoutMs: 1500 }, 'E3306', /did not list its tools in time/],
  ['silent', { connectTimeoutMs: 1500 }, 'E3306', /did not answer within 1500 ms.*speaks stdio/s],
  ['rubbish-only', { connectTimeoutMs: 5000 }, 'E3306', /printed 25 lines .* no MCP messages/s],
  ['flood', {}, 'E3308', /stopped because it floods its standard output/],
  ['bad-version', {}, 'E3308', /broke the protocol.*1999-01-01/],
  ['cursor-circle', {}, 'E3308', /a page that it already sent/],
] as const)('a server that does "%s" is not added, and the error says why', async (mode, settings, code, message) => {
  const upstreams = make(settings);
  const failure = await failureOf(upstreams.add(TENANT, odd(mode)));
  expect(failure.message).toMatch(message);
  expect(failure.code).toBe(code);
  expect(upstreams.statuses(TENANT)).toEqual([]);
  expect(open.at(-1)?.stored.size).toBe(0);
});

test('EXE-07 a server that never begins to tell of changes is used all the same', async () => {
  const upstreams = make();
  const { status, tools } = await upstreams.add(TENANT, odd('never-listens'));
  expect(status).toMatchObject({ state: 'ready', protocol_version: '2026-07-28' });
  expect(tools.map(({ name }) => name)).toEqual(['echo']);
  const answer = await upstreams.call(TENANT, 'never-listens', 'echo', { message: 'here' }, { timeoutMs: 5_000 });
  expect(textOf(answer)).toBe('here');
});

test('rubbish on standard output is passed over', async () => {
  const upstreams = make();
  const { tools } = await upstreams.add(TENANT, { ...odd('rubbish') });
  expect(tools).toHaveLength(1);
  expect(textOf(await upstreams.call(TENANT, 'rubbish', 'echo', { message: 'm' }, { timeoutMs: 10_000 }))).toBe('m');
});

test('EXE-07.3 servers that end at, or pass over, the question for the newer protocol are spoken to in the older one', async () => {
  const upstreams = make();
  expect((await upstreams.add(TENANT, odd('exit-at-probe'))).status.protocol_version).toBe('2025-11-25');
  expect((await upstreams.add(TENANT, odd('ignores-unknown'))).status.protocol_version).toBe('2025-11-25');
});

test('EXE-07.3 a server that starts slower than it is asked for the newer protocol is spoken to in that', async () => {
  const upstreams = make({ connectTimeoutMs: 10_000 });
  expect((await upstreams.add(TENANT, odd('starts-slowly'))).status.protocol_version).toBe('2026-07-28');
});

test('ten thousand tools are read page by page, and entries that are no tools cost only themselves', async () => {
  const upstreams = make();
  const many = await upstreams.add(TENANT, odd('many-tools'));
  expect(many.tools).toHaveLength(10_000);
  expect(many.tools.at(-1)?.name).toBe('tool-9999');
  const malformed = await upstreams.add(TENANT, odd('malformed-tools'));
  expect(malformed.tools.map(({ name }) => name)).toEqual(['fine', 'also-fine']);
  expect(malformed.malformed.map(({ place }) => place)).toEqual(['tools[1]', 'tools[2]', 'tools[3]', 'tools[4]']);
  expect((await upstreams.add(TENANT, odd('twin-tools'))).tools).toHaveLength(4);
});

test('a changed list of tools is told to listeners, and many changes are few listings', async () => {
  const upstreams = make({ relistIntervalMs: 10 });
  await upstreams.add(TENANT, odd('list-changed'));
  const told: number[] = [];
  const stop = upstreams.onToolsChanged((_tenant, name, tools) => {
    expect(name).toBe('list-changed');
    told.push(tools.length);
  });
  for (let call = 0; call < 50; call += 1)
    await upstreams.call(TENANT, 'list-changed', 'change', {}, { timeoutMs: 10_000 });
  await until(() => told.at(-1) === 51);
  expect(told.length).toBeLessThan(20);
  expect(upstreams.current(TENANT, 'list-changed')?.tools).toHaveLength(51);
  stop();
  await upstreams.call(TENANT, 'list-changed', 'change', {}, { timeoutMs: 10_000 });
  await until(() => upstreams.current(TENANT, 'list-changed')?.tools.length === 52);
  expect(told.at(-1)).toBe(51);
});

test('REG-09.3 EXE-11.1 EXE-07.4 a server that dies during a call fails that call as lost, comes back, and the others never notice', async () => {
  const upstreams = make({ firstBackoffMs: 10 });
  await upstreams.add(TENANT, odd('crash-on-call'));
  await upstreams.add(TENANT, odd('good'));
  for (let round = 1; round <= 3; round += 1) {
    const lost = await failureOf(upstreams.call(TENANT, 'crash-on-call', 'x', {}, { timeoutMs: 20_000 }));
    expect(lost.code).toBe('E3107');
    expect(lost.failure.details).toEqual({ reached: true });
    expect(textOf(await upstreams.call(TENANT, 'good', 'echo', { message: 'on' }, { timeoutMs: 10_000 }))).toBe('on');
    await until(() => upstreams.statuses(TENANT)[0]?.state === 'ready');
    expect(upstreams.statuses(TENANT)[0]).toMatchObject({
      restart_count: round,
      last_error: expect.stringContaining('code 1'),
    });
  }
  expect(upstreams.statuses(TENANT)[1]).toMatchObject({ name: 'good', restart_count: 0 });
});

test('a broken server is tried again with growing pauses, and a call that cannot wait that long is told when', async () => {
  const upstreams = make({ firstBackoffMs: 60_000 });
  await upstreams.add(TENANT, odd('crash-on-call'));
  await failureOf(upstreams.call(TENANT, 'crash-on-call', 'x', {}, { timeoutMs: 20_000 }));
  await until(() => upstreams.statuses(TENANT)[0]?.state === 'degraded');
  const later = await failureOf(upstreams.call(TENANT, 'crash-on-call', 'x', {}, { timeoutMs: 5_000 }));
  expect(later.code).toBe('E3310');
  expect(later.failure.details).toEqual({ reached: false });
  expect(later.failure.retryAfterMs).toBeGreaterThan(20_000);
  expect(processesWith('odd-server.mjs')).toEqual([]);
});

test('EXE-11 EXE-07.8 a server that hangs for good is noticed after a timeout, stopped, and started anew', async () => {
  const upstreams = make({ firstBackoffMs: 10, pingTimeoutMs: 300 });
  await upstreams.add(TENANT, odd('hang'));
  const call = (timeoutMs: number) => upstreams.call(TENANT, 'hang', 'x', {}, { timeoutMs });
  expect(textOf(await call(10_000))).toBe('the first one works');
  expect((await failureOf(call(200))).code).toBe('E3103');
  await until(() => upstreams.statuses(TENANT)[0]?.restart_count === 1);
  expect(upstreams.statuses(TENANT)[0]?.last_error).toContain('no sign of life');
  expect(textOf(await call(20_000))).toBe('the first one works');
});

test('a call cancelled while it waits for a start never reaches the server', async () => {
  const made = fixture(driver, {});
  open.push(made);
  made.stored.set('silent', { tenantId: TENANT, definition: odd('silent') });
  await made.upstreams.start();
  const controller = new AbortController();
  const call = failureOf(made.upstreams.call(TENANT, 'silent', 'x', {}, { signal: controller.signal }));
  controller.abort();
  expect((await call).code).toBe('E3805');
  expect((await failureOf(made.upstreams.call(TENANT, 'silent', 'x', {}, { timeoutMs: 50 }))).code).toBe('E3310');
});

test('tools that change without a word are noticed after a while', async () => {
  const upstreams = make({ staleListingMs: 50, relistIntervalMs: 10 });
  await upstreams.add(TENANT, odd('silent-change'));
  await upstreams.call(TENANT, 'silent-change', 'new-0', {}, { timeoutMs: 10_000 });
  await until(() => upstreams.current(TENANT, 'silent-change')?.tools.length === 2);
});

test('EXE-11 a server that nobody calls and that no longer answers is found by its listing and started anew', async () => {
  const upstreams = make({ staleListingMs: 300, connectTimeoutMs: 1_500, pingTimeoutMs: 100, firstBackoffMs: 10 });
  await upstreams.add(TENANT, odd('hang'));
  const call = () => failureOf(upstreams.call(TENANT, 'hang', 'x', {}, { timeoutMs: 60_000 }));
  await upstreams.call(TENANT, 'hang', 'x', {}, { timeoutMs: 10_000 });
  // The call's own timeout is a minute; the failed listing ends the call earlier.
  expect((await call()).code).toBe('E3107');
});

test('EXE-11.3 a server that ignores every request to end is gone when its removal is', async () => {
  const upstreams = make();
  await upstreams.add(TENANT, odd('slow-shutdown'));
  expect(processesWith('odd-server.mjs').length).toBeGreaterThan(0);
  await upstreams.remove(TENANT, 'slow-shutdown');
  expect(processesWith('odd-server.mjs')).toEqual([]);
});

test('EXE-11 servers that hang at their start do not keep the others from starting', async () => {
  const made = fixture(driver, { settings: { startsAtOnce: 2, startHoldMs: 100 } });
  open.push(made);
  for (const name of ['a', 'b', 'c']) {
    made.stored.set(name, { tenantId: TENANT, definition: { ...odd('hangs-at-initialize'), name } });
  }
  made.stored.set('good', { tenantId: TENANT, definition: odd('good') });
  await made.upstreams.start();
  const { upstreams } = made;
  expect(textOf(await upstreams.call(TENANT, 'good', 'echo', { message: 'm' }, { timeoutMs: 15_000 }))).toBe('m');
  expect(upstreams.statuses(TENANT).map(({ state }) => state)).toEqual(['starting', 'starting', 'starting', 'ready']);
});
