import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watchPolicies } from './watch-policies.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-watch-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Counts the calls, and waits for the next one. */
function calls() {
  let count = 0;
  let next = Promise.withResolvers<number>();
  return {
    changed: async () => {
      count += 1;
      next.resolve(count);
      next = Promise.withResolvers();
    },
    next: () => next.promise,
    count: () => count,
  };
}

test('PRM-05 a folder that the platform does not watch is looked at again and again: made, filled, emptied, removed', async () => {
  const later = join(folder, 'later');
  const heard = calls();
  await using _watching = watchPolicies({ folder: later, changed: heard.changed, quietMs: 1, pollMs: 5 });
  await heard.next();
  const file = join(later, 'a.cedar');
  for (const change of [
    () => mkdir(later),
    () => writeFile(file, 'one'),
    () => writeFile(file, 'three'),
    () => rm(file),
    () => rm(later, { recursive: true }),
  ]) {
    const next = heard.next();
    await change();
    await next;
  }
});

test('PRM-05 what the platform notifies of is reported without a look', async () => {
  const heard = calls();
  await using _watching = watchPolicies({ folder, changed: heard.changed, quietMs: 1, pollMs: 600_000 });
  await heard.next();
  const next = heard.next();
  await writeFile(join(folder, 'a.cedar'), 'one');
  await next;
});

test('PRM-05 closing waits for the report under way and ends the rest', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let count = 0;
  let isOver = false;
  const changed = async () => {
    count += 1;
    begun.resolve();
    await promise;
    isOver = true;
  };
  const watching = watchPolicies({ folder, changed, quietMs: 1, pollMs: 1 });
  await begun.promise;
  await writeFile(join(folder, 'a.cedar'), 'one');
  const closed = watching[Symbol.asyncDispose]();
  resolve();
  await closed;
  expect([count, isOver]).toEqual([1, true]);
});
