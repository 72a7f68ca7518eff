import { expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import type { StoredPlace, StoredPrint } from '../../upstream-store.port.ts';
import { followPrints } from './follow-prints.ts';

const ENOUGH = { timeout: 50_000 };

const place = (name: string, print: string): StoredPrint => ({ tenantId: 'acme', name, print });

/** A store whose prints a test sets, and what is followed of it. */
function storeWith(prints: readonly StoredPrint[], agree: (place: StoredPlace) => Promise<void>) {
  const state = { prints, here: [] as StoredPlace[], looks: 0, isAway: false };
  const logged: object[] = [];
  const log = { ...silentLog, warn: (event: string, fields?: object) => void logged.push({ event, ...fields }) };
  const read = async (): Promise<readonly StoredPrint[]> => {
    state.looks += 1;
    if (state.isAway) throw new Error('away');
    return state.prints;
  };
  const follower = followPrints({ name: 'things', prints: read, here: () => state.here, agree }, log);
  return { state, logged, follower };
}

test('OPS-04.1 a place that cannot be brought to what is stored is tried after pauses that grow, and logged once for each state', async () => {
  const tries: number[] = [];
  const { state, logged, follower } = storeWith([place('files', 'one')], async () => {
    tries.push(state.looks);
    throw new Error('it does not end');
  });
  await using _following = follower.follow(1);
  await expect.poll(() => state.looks, ENOUGH).toBeGreaterThan(50);
  expect(tries.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 32, 48]);
  const warning = { event: 'things-not-agreed', tenant_id: 'acme', name: 'files', error: 'Error: it does not end' };
  expect(logged).toEqual([warning]);
  const before = tries.length;
  state.prints = [place('files', 'two')];
  await expect.poll(() => tries.length, ENOUGH).toBeGreaterThan(before + 1);
  expect((tries[before + 1] ?? 0) - (tries[before] ?? 0)).toBe(1);
  expect(logged).toEqual([warning, warning]);
});

test('OPS-04.1 what changed is brought to what is stored once, what is here alone too, and a slow place delays no other', async () => {
  const agreed: string[] = [];
  const slow = Promise.withResolvers<void>();
  const { state, follower } = storeWith([place('slow', 'one'), place('known', 'one')], async ({ name }) => {
    agreed.push(name);
    if (name === 'slow') await slow.promise;
    if (name === 'here') state.here = [];
  });
  follower.agreed([place('known', 'one')]);
  state.here = [place('known', ''), place('here', '')];
  await using _following = follower.follow(1);
  await expect.poll(() => agreed, ENOUGH).toEqual(['here', 'slow']);
  state.prints = [place('slow', 'one'), place('known', 'two')];
  await expect.poll(() => agreed, ENOUGH).toEqual(['here', 'slow', 'known']);
  slow.resolve();
  state.prints = [place('slow', 'one')];
  state.here = [];
  const looks = state.looks;
  await expect.poll(() => state.looks, ENOUGH).toBeGreaterThan(looks + 2);
  state.prints = [place('slow', 'two'), place('known', 'two')];
  await expect.poll(() => agreed, ENOUGH).toEqual(['here', 'slow', 'known', 'slow', 'known']);
});

test('OPS-04.1 a store that cannot be read is logged once, and once more after it could be read', async () => {
  const { state, logged, follower } = storeWith([], async () => {});
  const looksMore = async () => {
    const { looks } = state;
    await expect.poll(() => state.looks, ENOUGH).toBeGreaterThan(looks + 3);
  };
  state.isAway = true;
  await using _following = follower.follow(1);
  await looksMore();
  expect(logged).toEqual([{ event: 'things-not-read', error: 'Error: away' }]);
  state.isAway = false;
  await looksMore();
  state.isAway = true;
  await looksMore();
  expect(logged).toHaveLength(2);
});
