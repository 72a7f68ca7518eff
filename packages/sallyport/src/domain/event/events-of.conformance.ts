import { deepEqual, equal, notDeepEqual, rejects } from 'node:assert/strict';
import type { EventsOf } from './events-of.ts';

/**
 * Conformance of a change of a store that keeps its events: without them nothing is changed, and they are drafted once.
 * @param change is made twice, the first time in vain
 * @param state what the store holds
 */
export async function changedWithEvents<Changed>(
  change: (events: EventsOf<Changed>) => Promise<unknown>,
  state: () => Promise<unknown>,
): Promise<void> {
  const before = await state();
  await rejects(
    change(() => {
      throw new Error('no events');
    }),
  );
  deepEqual(await state(), before);
  let drafted = 0;
  await change(() => {
    drafted += 1;
    return [];
  });
  equal(drafted, 1);
  notDeepEqual(await state(), before);
}

/** The same for what changes nothing: no event is drafted of it. */
export async function unchangedWithoutEvents<Changed>(
  change: (events: EventsOf<Changed>) => Promise<unknown>,
): Promise<void> {
  await change(() => {
    throw new Error('an event of nothing');
  });
}
