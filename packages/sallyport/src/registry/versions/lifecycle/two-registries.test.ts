import { setTimeout as wait } from 'node:timers/promises';
import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { memoryToolStore } from '../../../../test/stores/memory-tool-store.ts';
import { chosen, clockAtNoon, manifest, registryOver, withVersions } from '../registry.fixture.ts';

const ACME = { tenantId: 'acme', toolId: 'weather', version: '1.0.0' } as const;

function two() {
  const store = memoryToolStore();
  const clock = clockAtNoon();
  return { store, clock, one: registryOver(store, { clock }), other: registryOver(store, { clock }) };
}

test('REG-03 of registrations of the same content at the same time exactly one creates', async () => {
  const { one, other } = two();
  const asked = [one, other, one, other, one, other].map((registry) => registry.register('acme', manifest('1.0.0')));
  const outcomes = (await Promise.all(asked)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'unchanged')).toHaveLength(5);
  expect([chosen(one), chosen(other)]).toEqual(['1.0.0', '1.0.0']);
});

test('REG-03.7 of registrations of different content under one version exactly one stands, the others are conflicts', async () => {
  const { one, other } = two();
  const asked = [one, other, one, other].map((registry, at) =>
    registry.register('acme', manifest('1.0.0', { description: `Number ${at}.` })),
  );
  const ends = await Promise.allSettled(asked);
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'E3007' });
  const [first, second] = [one.find('acme', 'weather'), other.find('acme', 'weather')];
  expect(isFailure(first) ? first : first.tool.contentHash).toBe(isFailure(second) ? second : second.tool.contentHash);
});

test('REG-04 of moves at the same time exactly one takes place', async () => {
  const { one, other } = two();
  await withVersions(one, '1.0.0');
  await other.refresh();
  const moves = [one, other, one, other].map((registry) => registry.move({ ...ACME, to: 'deprecated' }));
  const ends = await Promise.allSettled(moves);
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'E3814' });
  expect((await one.history('acme', 'weather'))[0]?.version.stateChanges).toHaveLength(1);
});

test('a change of one registry shows in the other once it refreshes, and is told there', async () => {
  const { one, other } = two();
  const told: string[] = [];
  other.onChanged(({ toolIds }) => void told.push(...toolIds));
  await withVersions(one, '1.0.0', '1.1.0');
  expect(chosen(other)).toBe('E3001');
  await other.refresh();
  expect(chosen(other)).toBe('1.1.0');
  await one.move({ ...ACME, version: '1.1.0', to: 'removed', force: true });
  await other.refresh();
  expect(chosen(other)).toBe('1.0.0');
  await other.refresh();
  expect(told).toEqual(['weather', 'weather']);
});

test('a registry that follows sees what others write without being asked, and ends', async () => {
  const { one, other } = two();
  await using _following = other.follow(5);
  const changed = Promise.withResolvers<void>();
  other.onChanged(() => changed.resolve());
  await withVersions(one, '1.0.0');
  await changed.promise;
  expect(chosen(other)).toBe('1.0.0');
});

test('a store that fails for a while is asked again', async () => {
  const { store, one, clock } = two();
  let broken = true;
  const flaky = registryOver(
    { ...store, changedSince: (since) => (broken ? Promise.reject(new Error('down')) : store.changedSince(since)) },
    { clock },
  );
  await using _following = flaky.follow(2);
  await withVersions(one, '1.0.0');
  await wait(10);
  expect(chosen(flaky)).toBe('E3001');
  broken = false;
  while (chosen(flaky) === 'E3001') await wait(2);
  expect(chosen(flaky)).toBe('1.0.0');
});

test('what is not known is looked for in the store, once a second', async () => {
  const { one, other, clock, store } = two();
  let asked = 0;
  const counting = registryOver(
    {
      ...store,
      changedSince: (since) => {
        asked += 1;
        return store.changedSince(since);
      },
    },
    { clock },
  );
  await withVersions(one, '1.0.0');
  expect(await counting.findAnywhere('acme', 'weather')).toMatchObject({ tool: { manifest: { version: '1.0.0' } } });
  await withVersions(one, '2.0.0');
  for (let call = 0; call < 10; call += 1) {
    expect(await counting.findAnywhere('acme', 'weather', '^2')).toMatchObject({ code: 'E3006' });
  }
  expect(asked).toBe(1);
  clock.past += 1000;
  expect(await counting.findAnywhere('acme', 'weather', '^2')).toMatchObject({
    tool: { manifest: { version: '2.0.0' } },
  });
  expect(counting.findAnywhere('acme', 'weather')).not.toBeInstanceOf(Promise);
  expect(chosen(other)).toBe('E3001');
});

test('REG-03 the same content brings back what another registry removed', async () => {
  const { one, other } = two();
  await withVersions(one, '1.0.0');
  await other.refresh();
  await one.removeAll('acme', ['weather']);
  expect((await other.register('acme', manifest('1.0.0'))).outcome).toBe('created');
  await one.refresh();
  expect(chosen(one)).toBe('1.0.0');
});
