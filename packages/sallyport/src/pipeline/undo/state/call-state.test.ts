import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryStateStore } from '../../../../test/stores/outcomes/memory-state-store.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { UndoStep } from '../../../domain/invocation/undo-step.ts';
import { CallState, STATE_BOUNDS, type StateOf } from './call-state.ts';

const SCOPE = { tenantId: 'acme', ownerId: 'acme', toolId: 'tool' };
const key = (name: string) => ({ ...SCOPE, name });
const holder = (invocationId: string, fence = 0) => ({ tenantId: 'acme', invocationId, fence });

/** A tool's state, which calls of these ids use; their rows are what the test says. */
function bench(more: Partial<typeof STATE_BOUNDS> = {}) {
  const store = memoryStateStore();
  const rows = new Map<string, Partial<InvocationRecord>>();
  const steps: UndoStep[] = [];
  const looked: string[] = [];
  const records = {
    findInvocation: async (tenantId: string, invocationId: string) => {
      looked.push(`${tenantId}/${invocationId}`);
      return rows.get(invocationId) as InvocationRecord | undefined;
    },
  };
  const bounds = { ...STATE_BOUNDS, waitMs: 0, ...more };
  const of = (invocationId: string, fence = 0, changes: Partial<StateOf> = {}) =>
    new CallState({
      ...{ parts: { store, bounds }, records, scope: SCOPE, by: holder(invocationId, fence), mayWrite: true },
      record: async (step) => void steps.push(step),
      change: (make) => make(),
      signal: new AbortController().signal,
      ...changes,
    });
  return {
    ...{ store, rows, steps, looked, of },
    /** Another call writes, and completes. */
    async leave(name: string, value: unknown) {
      const by = holder(`writer of ${name}`);
      await store.write({ key: key(name), by, next: JSON.stringify(value), valuesMax: 9 });
      await store.keep(by);
    },
  };
}

const refusal = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) });

describe('the step of an attempt', () => {
  test('PIPE-03 is one for all its writes, with its lease, and none is made for what it reads', async () => {
    const { steps, of } = bench();
    const state = of('a', 3);
    await state.get('n');
    expect(steps).toEqual([]);
    await Promise.all([state.put('n', 1), state.put('m', 2)]);
    await state.delete('n');
    expect(steps).toEqual([{ kind: 'state', fence: 3 }]);
  });

  test('PIPE-03.3 comes before the first write: nothing is written without it', async () => {
    const { store, of } = bench();
    const gone = new ToolLayerError('E3812', 'No journal.');
    const state = of('a', 0, { record: () => Promise.reject(gone) });
    for (const write of [() => state.put('n', 1), () => state.delete('n'), () => state.put('m', 1)])
      await expect(write()).rejects.toBe(gone);
    expect([await store.read(key('n')), await store.read(key('m'))]).toEqual([undefined, undefined]);
  });

  test('of a pure tool is none: it may look, and neither put nor delete', async () => {
    const { steps, of, leave } = bench();
    await leave('n', 7);
    const state = of('a', 0, { mayWrite: false });
    for (const write of [() => state.put('n', 1), () => state.delete('n')])
      await expect(write()).rejects.toMatchObject(refusal('E3109', /side_effect_policy/));
    expect([await state.get('n'), steps]).toEqual([7, []]);
  });
});

describe('what a run sees of others', () => {
  test('PIPE-03.6 is nothing of a call under way, and what its row says once that is over', async () => {
    const { store, rows, of, leave, looked } = bench();
    await leave('n', 'old');
    await of('other').put('n', 'new');
    const state = of('a');
    expect(await state.get('n')).toBe('old');
    await expect(state.put('n', 'mine')).rejects.toMatchObject(refusal('E3704', /is changing "n"/));
    rows.set('other', { state: 'COMPLETED' });
    expect([await of('b').get('n'), looked.at(-1)]).toEqual(['new', 'acme/other']);
    await expect(state.put('n', 'mine')).rejects.toMatchObject(refusal('E3704', /has changed "n"/));
    expect(await state.get('n')).toBe('new');
    await state.put('n', 'mine');
    expect(await store.read(key('n'))).toMatchObject({ value: '"new"', held: { by: holder('a'), next: '"mine"' } });
    rows.set('a', { state: 'ABORTED' });
    expect(await of('b').get('n')).toBe('new');
  });

  test('PIPE-03.6 a write finds the end of another call by its row, at once', async () => {
    const { store, rows, of } = bench();
    for (const [state, left] of [
      ['COMPLETED', '1'],
      ['FAILED', undefined],
    ] as const) {
      await of(state).put(state, 1);
      rows.set(state, { state });
      await of('a').put(state, 2);
      expect(await store.read(key(state))).toMatchObject({ value: left, held: { next: '2' } });
    }
  });

  test('PIPE-03.7 is discarded when an earlier lease of its own call wrote it, and left when a later one did', async () => {
    const { of, rows, store } = bench();
    rows.set('a', { state: 'EXECUTING', fence: 2 });
    await of('a', 1).put('n', 'early');
    await of('a', 3).put('m', 'late');
    const state = of('a', 2);
    expect([await state.get('n'), await state.get('m')]).toEqual([undefined, undefined]);
    expect([await store.read(key('n')), (await store.read(key('m')))?.held?.by.fence]).toEqual([undefined, 3]);
    await state.put('n', 'now');
    await expect(state.put('m', 'now')).rejects.toMatchObject({ code: 'E3704' });
    expect([await state.get('n'), await of('a', 2).get('n')]).toEqual(['now', 'now']);
  });

  test('PIPE-03.3 ends with the attempt while it waits, in the words of that', async () => {
    const { of } = bench({ waitMs: 1e9 });
    await of('other').put('n', 1);
    let tries = 0;
    const over = new ToolLayerError('E3805', 'It is over.');
    const change: StateOf['change'] = async (make) => {
      tries += 1;
      if (tries > 1) throw over;
      return make();
    };
    const state = of('a', 0, { change, signal: AbortSignal.abort() });
    await expect(state.put('n', 2)).rejects.toBe(over);
  });
});

describe('a removal', () => {
  test('PIPE-03.6 of nothing holds nothing, and still is what its own run sees', async () => {
    const { of, leave } = bench();
    const state = of('a');
    await state.delete('n');
    await leave('n', 'other');
    expect([await state.get('n'), await of('b').get('n')]).toEqual([undefined, 'other']);
    await state.put('n', 'own');
    expect(await state.get('n')).toBe('own');
    await state.delete('n');
    expect(await state.get('n')).toBeUndefined();
  });

  test('PIPE-03 that is refused removes nothing', async () => {
    const { of, leave } = bench();
    await leave('n', 'left');
    await of('other').put('n', 'new');
    const state = of('a');
    await expect(state.delete('n')).rejects.toMatchObject({ code: 'E3704' });
    expect(await state.get('n')).toBe('left');
  });

  test('PIPE-03 is bounded by names that stay removed; what is put again is not among them', async () => {
    const { of } = bench({ valuesMax: 2 });
    const state = of('a');
    for (const name of ['a', 'b', 'a']) await state.delete(name);
    await expect(state.delete('c')).rejects.toMatchObject(refusal('E3102', /may remove 2 values/));
    await state.put('a', 1);
    await state.delete('c');
    await expect(state.delete('a')).rejects.toMatchObject({ code: 'E3102' });
  });
});

describe('the bounds of a state', () => {
  test('PIPE-03 are those of the layer where none are set, and are named with what passed them', async () => {
    const { store, of } = bench({ valuesMax: 1 });
    const usual = of('a', 0, { parts: { store } });
    const { nameMax, valueBytesMax } = STATE_BOUNDS;
    await expect(usual.get('n'.repeat(nameMax + 1))).rejects.toMatchObject(refusal('E3102', /1 to 256 characters/));
    const name = `${'n'.repeat(64)}m`;
    const tooLarge = usual.put(name, 'x'.repeat(valueBytesMax));
    await expect(tooLarge).rejects.toMatchObject(refusal('E3102', /of "n{64}" has 65538 bytes; the layer keeps 65536/));
    await usual.put(name, 1);
    await expect(of('a').put('other', 1)).rejects.toMatchObject({
      ...refusal('E3102', /keeps 1 values already/),
      failure: { details: { limit: 'state' } },
    });
    await expect(usual.put('n', undefined)).rejects.toMatchObject(refusal('E3109', /use delete/));
    await expect(usual.put('n', 1n)).rejects.toMatchObject({ code: 'E3109', cause: expect.any(TypeError) });
  });
});
