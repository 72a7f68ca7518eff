import { expect, test } from 'vitest';
import { memoryOutputStore } from '../../../../test/stores/outcomes/memory-output-store.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { OUTPUTS_KEPT_MS, type OutputStore, type SeenOutput } from '../../output-store.port.ts';
import { createOutputMemory, OUTPUT_MEMORY_BOUNDS, type OutputMemoryBounds } from './output-memory.ts';

function memory(given: Partial<OutputStore> = {}, bounds: Partial<OutputMemoryBounds> = {}) {
  const held = memoryOutputStore();
  const asked: SeenOutput[] = [];
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  let now = 1;
  const made = createOutputMemory({
    store: {
      ...held,
      remember: (key, output) => {
        asked.push(output);
        return (given.remember ?? held.remember)(key, output);
      },
    },
    clock: { now: () => now },
    log: { ...silentLog, info: note, warn: note },
    bounds: { ...OUTPUT_MEMORY_BOUNDS, ...bounds },
  });
  return {
    held,
    asked,
    logged,
    pass: (ms: number) => {
      now += ms;
    },
    seen: (contentHash: string, inputHash: string, outputHash = 'out', invocationId = 'i') =>
      made.seen({ tenantId: 't', ownerId: 't', contentHash, inputHash }, { outputHash, invocationId, at: now }),
  };
}

test('what it remembers itself it knows at once, and what it has no room for it asks the store again', async () => {
  const { seen, asked } = memory({}, { toolsMax: 2, inputsPerToolMax: 2 });
  for (const input of ['a', 'b', 'c']) expect(await seen('t', input, 'first')).toBeUndefined();
  expect(seen('t', 'c', 'later')).toMatchObject({ outputHash: 'first' });
  expect(asked).toHaveLength(3);
  expect(await seen('t', 'a', 'later')).toMatchObject({ outputHash: 'first' });
  expect(asked).toHaveLength(4);
  for (const tool of ['u', 'v']) await seen(tool, 'a');
  expect(seen('t', 'a', 'later')).toBeInstanceOf(Promise);
});

test('two calls of one instance at the same moment are compared with one another', async () => {
  const { seen, held } = memory();
  const [first, second] = await Promise.all([seen('t', 'a', 'one', '1'), seen('t', 'a', 'two', '2')]);
  expect([first, second]).toEqual([undefined, { outputHash: 'one', invocationId: '1', at: 1 }]);
  const key = { tenantId: 't', ownerId: 't', contentHash: 't', inputHash: 'a' };
  expect(await held.remember(key, { outputHash: 'three', invocationId: '3', at: 3 })).toEqual(second);
});

test('PIPE-10 a store that does not answer holds a call for its time only, and what it says later is known to the next', async () => {
  const late = Promise.withResolvers<SeenOutput>();
  const { seen } = memory({ remember: () => late.promise }, { waitMs: 1 });
  expect(await seen('t', 'a')).toBe('unknown');
  late.resolve({ outputHash: 'earlier', invocationId: 'elsewhere', at: 1 });
  await late.promise;
  expect(seen('t', 'a')).toEqual({ outputHash: 'earlier', invocationId: 'elsewhere', at: 1 });
});

test('it asks for no more at once than it may, and what it then cannot say is unknown', async () => {
  const { seen, asked } = memory({ remember: () => new Promise(() => undefined) }, { askedMax: 2, waitMs: 1 });
  await Promise.all(['a', 'b'].map((input) => seen('t', input)));
  expect(seen('t', 'c', 'one', '1')).toBe('unknown');
  expect(seen('t', 'c', 'two', '2')).toMatchObject({ outputHash: 'one', invocationId: '1' });
  expect(asked).toHaveLength(2);
});

test('it says once that the store is away, and once that it is back', async () => {
  let away = true;
  const { seen, logged } = memory({
    remember: async (_key, output) => {
      if (away) throw new Error('gone');
      return output;
    },
  });
  for (const input of ['a', 'b']) expect(await seen('t', input)).toBe('unknown');
  away = false;
  for (const input of ['a', 'b']) expect(await seen('t', input)).toBeUndefined();
  expect(logged).toEqual(['outputs-not-compared', 'outputs-compared-again']);
});

test('what is older than outputs are kept is asked for anew', async () => {
  const { seen, held, pass } = memory();
  await seen('t', 'a', 'old');
  pass(OUTPUTS_KEPT_MS - 1);
  expect(seen('t', 'a', 'new')).toMatchObject({ outputHash: 'old' });
  pass(1);
  await held.forget(2, 10);
  expect(await seen('t', 'a', 'new')).toBeUndefined();
  expect(seen('t', 'a', 'newer')).toMatchObject({ outputHash: 'new' });
});
