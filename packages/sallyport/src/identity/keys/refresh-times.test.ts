import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../telemetry/log.ts';
import type { VerificationKey } from '../key-source.ts';
import { type RefreshOptions, refreshedKeys } from './refreshed-keys.ts';

const START = 1_800_000_000_000;
const { publicKey } = generateKeyPairSync('ed25519');
const named = (kid: string): VerificationKey => ({ kid, key: publicKey, named: true });

beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => void vi.useRealTimers());

interface Load {
  readonly signal: AbortSignal;
  readonly answer: (...keys: readonly VerificationKey[]) => void;
  readonly fail: (reason: unknown) => void;
}

/** Keys whose loads are answered by the test: an hour between two, ten minutes good, one minute of overlap. */
function refreshing(options: Partial<RefreshOptions> = {}) {
  const loads: Load[] = [];
  const lines: unknown[] = [];
  const note = (event: string, fields?: object) => void lines.push([event, fields]);
  const load = (signal: AbortSignal) =>
    new Promise<readonly VerificationKey[]>((resolve, fail) => {
      loads.push({ signal, answer: (...keys) => resolve(keys), fail });
    });
  const source = refreshedKeys({
    ...{ load, name: 'the keys', refreshMs: 3_600_000, overlapMs: 60_000, maxAgeMs: 600_000 },
    clock: { now: () => Date.now(), monotonic: () => Date.now() - START },
    log: { ...silentLog, warn: note, error: note },
    ...options,
  });
  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const loadedAfter = async (ms: number): Promise<number> => {
    await after(ms - 1);
    const before = loads.length;
    await after(1);
    return loads.length - before;
  };
  const kids = () => source.keys().map(({ kid }) => kid);
  return { source, loads, lines, after, loadedAfter, kids };
}

const notRefreshed = (reason: string, failures: number) => [
  'keys-not-refreshed',
  { source: 'the keys', reason, failures },
];

test('PRM-02.2 keys are loaded at the start, then each hour, and ten seconds after a failure', async () => {
  const { source, loads, lines, after, loadedAfter } = refreshing();
  source.start();
  source.start();
  expect([loads.length, vi.getTimerCount()]).toEqual([1, 2]);
  loads[0]?.answer(named('k'));
  await after(0);
  expect(vi.getTimerCount()).toBe(1);
  expect(await loadedAfter(3_600_000)).toBe(1);
  loads[1]?.fail(new Error('no network'));
  await after(0);
  expect(lines).toEqual([notRefreshed('no network', 1)]);
  for (const at of [2, 3]) {
    expect(await loadedAfter(10_000)).toBe(1);
    loads[at]?.fail('odd');
    await after(0);
  }
  expect(lines.slice(1)).toEqual([notRefreshed('odd', 2), notRefreshed('odd', 3)]);
  expect(await loadedAfter(10_000)).toBe(1);
  loads[4]?.answer(named('k'));
  await after(0);
  expect(await loadedAfter(3_600_000)).toBe(1);
  await source[Symbol.asyncDispose]();
  expect([lines.length, vi.getTimerCount()]).toEqual([3, 0]);
});

test('PRM-02.2 keys that were loaded before are not loaded at the start, and a failure never makes the wait longer', async () => {
  const { source, loads, after, loadedAfter } = refreshing({ refreshMs: 5_000 });
  const first = source.loadFirst();
  loads[0]?.answer(named('k'));
  await first;
  source.start();
  expect(loads).toHaveLength(1);
  expect(await loadedAfter(5_000)).toBe(1);
  loads[1]?.fail(new Error('no network'));
  await after(0);
  expect(await loadedAfter(5_000)).toBe(1);
  await source[Symbol.asyncDispose]();
});

test('PRM-02.2 a load may take five seconds, and its keys come too late after that', async () => {
  const { source, loads, lines, after, kids } = refreshing();
  const first = source.loadFirst();
  const refused = expect(first).rejects.toThrow('did not answer in time');
  await after(4_999);
  expect(loads[0]?.signal.aborted).toBe(false);
  await after(1);
  await refused;
  expect(loads[0]?.signal.aborted).toBe(true);
  loads[0]?.answer(named('late'));
  await after(0);
  expect([kids(), lines, source.problem('idp')]).toEqual([[], [], 'the keys has not been read yet']);
  const short = refreshing({ timeoutMs: 20 });
  const looking = short.source.lookAgain();
  await after(20);
  expect([await looking, short.lines]).toEqual([true, [notRefreshed('did not answer in time', 1)]]);
  expect(vi.getTimerCount()).toBe(0);
});

test('PRM-02.2 looks at the same time are one, and the next is possible ten seconds after its beginning', async () => {
  const { source, loads, after } = refreshing();
  const looks = [source.lookAgain(), source.lookAgain()];
  expect(loads).toHaveLength(1);
  await after(1_000);
  loads[0]?.answer();
  expect(await Promise.all(looks)).toEqual([true, true]);
  await after(8_999);
  expect(await source.lookAgain()).toBe(false);
  await after(1);
  const next = source.lookAgain();
  expect(loads).toHaveLength(2);
  loads[1]?.answer();
  expect(await next).toBe(true);
  const eager = refreshing({ retryMs: 5 });
  const one = eager.source.lookAgain();
  eager.loads[0]?.answer();
  await one;
  await after(5);
  void eager.source.lookAgain();
  expect(eager.loads).toHaveLength(2);
});

test('PRM-02.2 closing ends the load under way, waits for it, and says nothing of it; nothing is loaded afterwards', async () => {
  const { source, loads, lines, after } = refreshing();
  source.start();
  await source[Symbol.asyncDispose]();
  expect([loads[0]?.signal.aborted, lines, vi.getTimerCount()]).toEqual([true, [], 0]);
  source.start();
  expect([loads.length, vi.getTimerCount()]).toEqual([1, 0]);
  // A load that ignores its signal is not waited for.
  expect(await source.lookAgain()).toBe(false);
  await after(10_000);
  expect(await source.lookAgain()).toBe(true);
  const never = refreshing();
  await never.source[Symbol.asyncDispose]();
  never.source.start();
  expect([never.loads.length, vi.getTimerCount()]).toEqual([0, 0]);
  const later = refreshing();
  later.source.start();
  later.loads[0]?.answer();
  await after(3_600_000);
  expect(later.loads).toHaveLength(2);
  await later.source[Symbol.asyncDispose]();
  await after(3_600_000);
  expect([later.loads.length, later.lines, vi.getTimerCount()]).toEqual([2, [], 0]);
});

test('PRM-02.3 a key says itself how long it counts: with the last answer, and for the overlap once it vanished', async () => {
  const { source, loads, lines, after, kids } = refreshing({ issuers: ['idp', 'second'] });
  const take = async (...keys: readonly VerificationKey[]) => {
    const loading = source.loadFirst();
    loads.at(-1)?.answer(...keys);
    await loading;
  };
  await take(named('a'), { ...named('b'), algorithm: 'EdDSA' });
  const [a, b] = source.keys();
  expect([a, b]).toMatchObject([
    { kid: 'a', key: publicKey, named: true, issuers: ['idp', 'second'] },
    { kid: 'b', algorithm: 'EdDSA' },
  ]);
  expect([a?.goodUntil?.(), b?.goodUntil?.()]).toEqual([START + 600_000, START + 600_000]);
  await after(1_000);
  await take(named('b'));
  // The same name and material, bound to no algorithm, is another key.
  expect(kids()).toEqual(['a', 'b', 'b']);
  const vanished = (kid: string) => ['key-vanished', { source: 'the keys', kid, accepted_for_ms: 60_000 }];
  expect(lines).toEqual([vanished('a'), vanished('b')]);
  expect(a?.goodUntil?.()).toBe(START + 61_000);
  await after(59_999);
  expect(kids()).toEqual(['a', 'b', 'b']);
  await take(named('b'));
  expect([kids(), lines.length, a?.goodUntil?.()]).toEqual([['a', 'b', 'b'], 2, START + 61_000]);
  await after(1);
  expect(kids()).toEqual(['b']);
  await take(named('b'), named('a'));
  expect([a?.goodUntil?.(), kids()]).toEqual([START + 661_000, ['a', 'b']]);
  await after(599_999);
  expect([kids(), source.problem('idp')]).toEqual([['a', 'b'], undefined]);
  await after(1);
  expect([kids(), source.problem('idp')]).toEqual([[], 'the keys could not be read for too long']);
  expect([source.problem('second') === undefined, source.problem('else')]).toEqual([false, undefined]);
});

test('PRM-02.3 of a source that invents keys the 128 latest are kept, and those beyond count no longer', async () => {
  const { source, loads, kids } = refreshing();
  const take = async (from: number, count: number) => {
    const loading = source.loadFirst();
    loads.at(-1)?.answer(...Array.from({ length: count }, (_, at) => named(`${from + at}`)));
    await loading;
  };
  await take(0, 64);
  const [oldest] = source.keys();
  await take(64, 64);
  expect(kids()).toHaveLength(128);
  await take(128, 1);
  expect([kids().length, kids()[0], oldest?.goodUntil?.()]).toEqual([128, '1', Number.NEGATIVE_INFINITY]);
});
