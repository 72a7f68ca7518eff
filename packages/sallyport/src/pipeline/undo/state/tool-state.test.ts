import { setTimeout as wait } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { memoryCheckpointStore } from '../../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryOutcomeStore } from '../../../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryStateStore } from '../../../../test/stores/outcomes/memory-state-store.ts';
import { memoryUndoJournal } from '../../../../test/stores/outcomes/memory-undo-journal.ts';
import type { ToolState } from '../../../domain/invocation/tool-state.ts';
import type { NativeFunction } from '../../../executors/native/native-executor.ts';
import { manifest, pipeline, retries } from '../../pipeline.fixture.ts';
import { continueRollbacks } from '../continue-rollbacks.ts';
import { STATE_BOUNDS } from './call-state.ts';
import { stateUndoer } from './state-undoer.ts';

const UNSAFE = { side_effect_policy: 'irreversible' } as const;
/** The tool changes only its state. */
const TRANSACTED = { ...UNSAFE, executor: { kind: 'native', config: { transacted: true } } } as const;
const SHORT = { default_timeout_seconds: 0.2, retry_policy: { base_delay_ms: 1 } };

async function layer(bounds = {}) {
  const ledgerStore = memoryLedgerStore();
  const store = memoryStateStore();
  const journal = memoryUndoJournal();
  const outcomes = memoryOutcomeStore(ledgerStore);
  const transactions = {
    journal,
    checkpoints: memoryCheckpointStore(),
    undoers: { state: stateUndoer(store, ledgerStore) },
  };
  const state = { store, bounds: { ...STATE_BOUNDS, waitMs: 60, ...bounds } };
  const quick = { ...retries, jitter: 'none', attemptsMax: 3, budgetMs: 1000 } as const;
  const made = await pipeline({ store: ledgerStore, outcomes, transactions, state, retries: quick });
  const tool = (id: string, body: NativeFunction, more: Partial<ToolManifest> = {}) =>
    made.add(manifest(id, { ...UNSAFE, execution_config: SHORT, ...more }), body);
  const run = (tool_id: string, more = {}) => made.call({ tool_id, parameters: { n: 1 }, ...more });
  await tool('look', (_given, context) => read(context.state, 'n', 'm'), { side_effect_policy: 'pure' });
  return { ...made, journal, outcomes, transactions, stateStore: store, tool, run };
}

const read = async (state: ToolState, ...names: string[]): Promise<unknown[]> =>
  Promise.all(names.map(async (name) => (await state.get(name)) ?? null));

/** A tool with one id that runs another function in each call. */
function inTurn(...bodies: NativeFunction[]): NativeFunction {
  let at = 0;
  return (given, context) => {
    const body = bodies[at];
    at += 1;
    if (body === undefined) throw new Error('it was called too often');
    return body(given, context);
  };
}

const put =
  (value: unknown, then: NativeFunction = () => 'done'): NativeFunction =>
  async (given, context) => {
    await context.state.put('n', value);
    return then(given, context);
  };
const fails = (): never => {
  throw new ToolLayerError('E3109', 'It failed.');
};
const hangs: NativeFunction = (_given, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

const get: NativeFunction = async (_given, { state }) => (await state.get('n')) ?? null;

describe('the state of a tool', () => {
  test('PIPE-03.1 holds what a completed call wrote, for the next call at once, and its journal is closed', async () => {
    const { tool, run, journal } = await layer();
    await tool(
      'keep',
      inTurn(
        put({ deep: ['\0 \ud800', null] }),
        get,
        put(null),
        get,
        async (_given, { state }) => state.delete('n'),
        get,
      ),
    );
    const first = await run('keep');
    expect((await run('keep')).result).toEqual({ deep: ['\0 \ud800', null] });
    await run('keep');
    expect((await run('keep')).result).toBeNull();
    expect((await run('keep')).state).toBe('COMPLETED');
    expect((await run('keep')).result).toBeNull();
    await expect.poll(() => journal.find('acme', first.invocationId)).toBeUndefined();
  });

  test('PIPE-03.1 PIPE-03.2 PIPE-03.4 is as before after a call that fails, is aborted or answers badly', async () => {
    const result_schema = { type: 'object', required: ['x'] };
    const cases = [
      [put(2, fails), {}, 'E3109'],
      [put(2, hangs), {}, 'E3103'],
      [put(2, () => ({})), { result_schema }, 'E3506'],
      [async (_given: unknown, { state }: { state: ToolState }) => state.delete('n').then(fails), {}, 'E3109'],
    ] as const;
    for (const [body, more, code] of cases) {
      const { tool, run, eventsOf, journal, stateStore } = await layer();
      await tool(
        'keep',
        inTurn(
          put(1, () => ({ x: 1 })),
          body,
          put(3, () => ({ x: 3 })),
        ),
        { ...TRANSACTED, ...more },
      );
      await run('keep');
      const record = await run('keep');
      expect(record).toMatchObject({ state: 'ROLLED_BACK', failure: { code } });
      expect((await eventsOf(record.invocationId)).at(-1)).toMatchObject({ type: 'ai.agent.tool.rolled_back' });
      await expect.poll(() => journal.find('acme', record.invocationId)).toBeUndefined();
      const key = { tenantId: 'acme', ownerId: 'acme', toolId: 'keep', name: 'n' };
      await expect.poll(() => stateStore.read(key)).toMatchObject({ value: '1' });
      expect((await run('keep')).state).toBe('COMPLETED');
    }
  });

  test('PIPE-03.6 a call sees its own writes, and nobody else does before it is on record as completed', async () => {
    const { tool, run } = await layer();
    const written = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let own: unknown;
    await tool(
      'keep',
      inTurn(
        put(1),
        async (_given, { state }) => {
          await state.put('n', 2);
          await state.delete('m');
          own = await read(state, 'n', 'm');
          written.resolve();
          await end.promise;
        },
        get,
        get,
      ),
      { execution_config: { default_timeout_seconds: 5 } },
    );
    await run('keep');
    const running = run('keep');
    await written.promise;
    expect((await run('keep')).result).toBe(1);
    end.resolve();
    expect((await running).state).toBe('COMPLETED');
    expect(own).toEqual([2, null]);
    expect((await run('keep')).result).toBe(2);
  });

  test('PIPE-03.3 PIPE-05 begins each attempt as it was, and what is left of a failed one writes nothing', async () => {
    const { tool, run } = await layer();
    const seen: unknown[] = [];
    let stray: Promise<unknown> | undefined;
    await tool(
      'keep',
      inTurn(
        async (_given, { state }) => {
          seen.push(await read(state, 'n'));
          await state.put('n', 'first');
          stray = wait(1).then(() => state.put('n', 'stray'));
          stray.catch(() => undefined);
          throw new ToolLayerError('E3310', 'Gone.');
        },
        async (_given, { state }) => {
          seen.push(await read(state, 'n'));
          await stray?.catch((thrown) => seen.push(thrown.code));
          return 'second';
        },
        get,
      ),
      { side_effect_policy: 'idempotent' },
    );
    expect(await run('keep')).toMatchObject({ state: 'COMPLETED', metadata: { attempts: 2 } });
    expect(seen).toEqual([[null], [null], 'E3805']);
    expect((await run('keep')).result).toBeNull();
  });

  test('PIPE-03.6 two calls that read a value do not both write what they made of it', async () => {
    const { tool, run } = await layer();
    const both = Promise.withResolvers<void>();
    let readers = 0;
    await tool('keep', async (_given, { state }) => {
      const before = Number((await state.get('n')) ?? 0);
      readers += 1;
      if (readers === 2) both.resolve();
      await both.promise;
      await state.put('n', before + 1);
      return before + 1;
    });
    const ends = await Promise.all([run('keep'), run('keep')]);
    expect(ends.map(({ failure }) => failure?.code).sort()).toEqual(['E3704', undefined]);
    expect(ends.map(({ state }) => state).sort()).toContain('COMPLETED');
    expect((await run('keep')).result).toBe(2);
  });

  test('PIPE-03 a write waits for the call that has the name, and gives up in time', async () => {
    const { tool, run } = await layer();
    const end = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    await tool(
      'keep',
      inTurn(
        put(1, async () => {
          written.resolve();
          await end.promise;
          return fails();
        }),
        put(2),
        put(3, async () => undefined),
        get,
      ),
      { execution_config: { default_timeout_seconds: 5 } },
    );
    const holder = run('keep');
    await written.promise;
    expect((await run('keep')).failure?.code).toBe('E3704');
    const waiting = run('keep');
    end.resolve();
    await holder;
    expect((await waiting).state).toBe('COMPLETED');
    expect((await run('keep')).result).toBe(3);
  });
});

describe('whose state it is', () => {
  test('PIPE-03 each tool of each tenant has its own, whatever its version, for all agents of the tenant', async () => {
    const { tool, run, token } = await layer();
    await tool('one', inTurn(put(1)));
    await tool('one', get, { version: '1.1.0' });
    await tool('two', get);
    await run('one', { tool_version: '1.0.0' });
    const other = { capability_token: await token({ agent_did: 'did:agent:b' }) };
    expect((await run('one', { tool_version: '1.1.0', ...other })).result).toBe(1);
    expect((await run('two')).result).toBeNull();
  });

  test('a tool that says it is pure may look, and not write', async () => {
    const { tool, run } = await layer();
    await tool('clean', put(1), { side_effect_policy: 'pure' });
    expect((await run('clean')).failure?.code).toBe('E3109');
    expect((await run('look')).result).toEqual([null, null]);
  });
});

describe('the bounds of a state', () => {
  test('names, values and their number have bounds; at them all is well', async () => {
    const { tool, run } = await layer({ valuesMax: 3 });
    const codes = async (tries: (() => Promise<unknown>)[]): Promise<unknown[]> =>
      (await Promise.allSettled(tries.map((each) => each()))).map((end) =>
        end.status === 'fulfilled' ? 'fine' : end.reason.code,
      );
    await tool('keep', async (_given, { state }) =>
      codes([
        () => state.put('n'.repeat(256), 1),
        () => state.put('n'.repeat(257), 1),
        () => state.put('', 1),
        () => state.get(7 as unknown as string),
        () => state.put('large', 'x'.repeat(64 * KiB - 2)),
        () => state.put('larger', 'x'.repeat(64 * KiB - 1)),
        () => state.put('euros', '€'.repeat(22 * KiB)),
        () => state.put('nothing', undefined),
        () => state.put('function', () => 1),
        () => state.put('big', 1n),
      ]),
    );
    const { result } = await run('keep');
    expect(result).toEqual(['fine', 'E3102', 'E3102', 'E3102', 'fine', 'E3102', 'E3102', 'E3109', 'E3109', 'E3109']);
    await tool('many', async (_given, { state }) => {
      for (const name of ['a', 'b', 'c']) await state.put(name, 1);
      return [...(await codes([() => state.put('d', 1), () => state.put('a', 2), () => state.delete('z')]))];
    });
    expect((await run('many')).result).toEqual(['E3102', 'fine', 'fine']);
    await tool('curious', async (_given, { state }) => {
      for (const name of ['a', 'b', 'c']) await state.get(name);
      return codes([() => state.get('d'), () => state.get('a')]);
    });
    expect((await run('curious')).result).toEqual(['E3102', 'fine']);
  });

  test('hostile names are names and nothing else', async () => {
    const { tool, run } = await layer();
    const names = ['__proto__', 'constructor', 'n\0', '../n', "n'; drop table x; --", '\ud800'];
    await tool('keep', async (_given, { state }) => {
      for (const [at, name] of names.entries()) await state.put(name, at);
      return Promise.all(names.map((name) => state.get(name)));
    });
    expect((await run('keep')).result).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('a call that is cut off', () => {
  test('PIPE-03 PIPE-13 has its state as before, and is known only where all that it changes is its state', async () => {
    const { tool, run, eventsOf } = await layer();
    await tool('part', put(1, hangs));
    const part = await run('part');
    expect(part).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { cut_off_by: 'E3103', rollback: 'done' } },
    });
    const types = (await eventsOf(part.invocationId)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['ai.agent.tool.rolled_back', 'ai.agent.tool.timeout']);
    await tool('whole', put(1, hangs), TRANSACTED);
    expect(await run('whole')).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3103' } });
    await tool('safe', put(1, hangs), { side_effect_policy: 'idempotent' });
    expect(await run('safe')).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3103' } });
    await tool('said', put(1, fails));
    expect(await run('said')).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3109' } });
  });

  test('PIPE-03 ORC-06 by the end of the layer has its state as before, and its end on record', async () => {
    for (const [more, ends] of [
      [TRANSACTED, { state: 'ROLLED_BACK', failure: { code: 'E3811' } }],
      [UNSAFE, { state: 'ABORTED', failure: { code: 'E3804', details: { rollback: 'done' } } }],
    ] as const) {
      const made = await layer();
      const { tool, run, parts, transactions, outcomes, store, stateStore } = made;
      const written = Promise.withResolvers<string>();
      await tool(
        'keep',
        inTurn(
          put(1),
          put(2, async (_given, { invocationId }) => {
            written.resolve(invocationId);
            return new Promise(() => undefined);
          }),
          get,
        ),
        { ...more, execution_config: { default_timeout_seconds: 9 } },
      );
      await run('keep');
      void run('keep');
      const cut = await written.promise;
      await continueRollbacks({ ...parts, transactions, outcomes }, 'one');
      expect(await store.findInvocation('acme', cut)).toMatchObject(ends);
      expect(await stateStore.read({ tenantId: 'acme', ownerId: 'acme', toolId: 'keep', name: 'n' })).toMatchObject({
        value: '1',
      });
      expect((await run('keep')).result).toBe(1);
    }
  });
});

describe('a run whose call is over on record already', () => {
  test('PIPE-03.3 ORC-06 keeps nothing of what it wrote, whatever it thinks became of it', async () => {
    const { tool, run, store } = await layer();
    const written = Promise.withResolvers<string>();
    const end = Promise.withResolvers<void>();
    await tool(
      'keep',
      inTurn(
        put(1),
        put(2, async (_given, { invocationId }) => {
          written.resolve(invocationId);
          await end.promise;
        }),
        get,
        put(3),
      ),
      { execution_config: { default_timeout_seconds: 9 } },
    );
    await run('keep');
    const late = run('keep');
    const open = await store.findInvocation('acme', await written.promise);
    if (open === undefined) throw new Error('it is not on record');
    const failure = { failed: true, code: 'E3804', message: 'Its instance is gone.' } as const;
    await store.append({ records: [{ ...open, state: 'ABORTED', failure }], events: [] }, 'synchronous');
    end.resolve();
    await late;
    expect((await run('keep')).result).toBe(1);
    expect((await run('keep')).state).toBe('COMPLETED');
  });
});
