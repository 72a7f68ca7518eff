import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { NativeFunction } from '../../executors/native/native-executor.ts';
import type { CallRequest } from '../call.ts';
import { RunningCalls } from '../ongoing/running-calls.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { recoverOpenCalls } from '../record/recover.ts';
import { continueRollbacks } from './continue-rollbacks.ts';
import { undoByCall } from './undo-by-call.ts';

const UNSAFE = { side_effect_policy: 'irreversible' } as const;
const WHOLE = { ...UNSAFE, executor: { kind: 'native', config: { transacted: true } } } as const;
const FREE = { parameters_schema: { type: 'object' } } as const;

/** A layer with a tool that books, and one that cancels bookings. */
async function layer(changes: Parameters<typeof pipeline>[0] = {}) {
  const store = memoryLedgerStore();
  const journal = memoryUndoJournal();
  const outcomes = memoryOutcomeStore(store);
  const later: { run?: (request: CallRequest) => ReturnType<Awaited<ReturnType<typeof pipeline>>['run']> } = {};
  const asked: CallRequest[] = [];
  const runCall = async (request: CallRequest) => {
    asked.push(request);
    if (later.run === undefined) throw new Error('too early');
    return later.run(request);
  };
  const undoers = { call: undoByCall({ runCall, records: store, outcomes }) };
  const transactions = { journal, checkpoints: memoryCheckpointStore(), undoers };
  const made = await pipeline({ store, outcomes, transactions, ...changes });
  later.run = made.run;
  const booked: string[] = [];
  const taken: unknown[] = [];
  const tool = (id: string, body: NativeFunction, more: Partial<ToolManifest> = {}) =>
    made.add(manifest(id, { ...UNSAFE, ...FREE, ...more }), body);
  const book =
    (then: NativeFunction, more: object = {}): NativeFunction =>
    async (given, context) => {
      const id = `booking-${booked.length}`;
      await context.compensateWith('unbook', { id, ...more });
      booked.push(id);
      return then(given, context);
    };
  const unbook: NativeFunction = ({ id }) => {
    taken.push(id);
    return { id };
  };
  const run = (tool_id: string, more: object = {}) => made.call({ tool_id, parameters: { n: 1 }, ...more });
  const goOn = () => continueRollbacks({ ...made.parts, transactions, outcomes }, 'one');
  return { ...made, journal, outcomes, transactions, asked, booked, taken, tool, book, unbook, run, goOn };
}

const fails = (): never => {
  throw new ToolLayerError('E3109', 'It failed.');
};
const hangs: NativeFunction = (_given, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('a call that named another which takes it back', () => {
  test('PIPE-03 does not make it when all goes well', async () => {
    const { tool, book, unbook, run, taken, journal } = await layer();
    await tool('unbook', unbook);
    await tool(
      'book',
      book(() => 'fine'),
    );
    const record = await run('book');
    expect(record).toMatchObject({ state: 'COMPLETED' });
    await expect.poll(() => journal.find('acme', record.invocationId)).toBeUndefined();
    expect(taken).toEqual([]);
  });

  test('PIPE-03 makes it once, newest first, for the same agent, when it fails, answers badly or is cut off', async () => {
    const cases = [
      [fails, {}, 'E3109'],
      [() => ({}), { result_schema: { type: 'object', required: ['x'] } }, 'E3506'],
      [hangs, { execution_config: { default_timeout_seconds: 0.05 } }, 'E3103'],
    ] as const;
    for (const [then, more, code] of cases) {
      const { tool, book, unbook, run, taken, store, asked, everyEventOf } = await layer();
      await tool('unbook', unbook);
      await tool('book', book(book(then)), { ...WHOLE, ...more });
      const record = await run('book');
      expect(record).toMatchObject({ state: 'ROLLED_BACK', failure: { code } });
      expect(taken).toEqual(['booking-1', 'booking-0']);
      expect(asked.map(({ compensates }) => compensates)).toEqual(Array(2).fill(record.invocationId));
      for (const { request } of asked) {
        const id = String(request.invocation_id);
        expect(await store.findInvocation('acme', id)).toMatchObject({
          state: 'COMPLETED',
          agentDid: record.agentDid,
          compensates: record.invocationId,
          idempotencyKey: id,
        });
        const said = (await everyEventOf(id)).map(({ data }) => data['side_effect']).filter(Boolean);
        expect(said.at(-1)).toMatchObject({ compensates: record.invocationId });
      }
    }
  });

  test('PIPE-13 PIPE-03 is known after a cut only where all that it changes is taken back', async () => {
    const { tool, book, unbook, run, taken } = await layer();
    await tool('unbook', unbook);
    await tool('book', book(hangs), { execution_config: { default_timeout_seconds: 0.05 } });
    expect(await run('book')).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { cut_off_by: 'E3103', rollback: 'done' } },
    });
    expect(taken).toEqual(['booking-0']);
  });

  test('does not begin when the agent may not make that other call, and nothing is changed', async () => {
    const { tool, book, unbook, run, booked, token } = await layer();
    await tool(
      'book',
      book(() => 'fine'),
    );
    expect((await run('book')).failure?.code).toBe('E3001');
    await tool('unbook', unbook);
    const capability_token = await token({ tool_id: 'book' });
    expect((await run('book', { capability_token })).failure?.code).toBe('E3209');
    await tool(
      'large',
      book(() => 'fine', { text: 'x'.repeat(10_001) }),
    );
    expect((await run('large')).failure?.code).toBe('E3810');
    expect(booked).toEqual([]);
    expect((await run('book')).state).toBe('COMPLETED');
  });

  test('two tools do not take each other back without end', async () => {
    const { tool, run, asked } = await layer();
    const codes: unknown[] = [];
    const both =
      (other: string): NativeFunction =>
      async (_given, { compensateWith }) => {
        await compensateWith(other, {}).catch((thrown) => codes.push(thrown.code));
        return fails();
      };
    await tool('one', both('two'));
    await tool('two', both('one'));
    expect(await run('one')).toMatchObject({ failure: { code: 'E3804', details: { rollback: 'failed' } } });
    expect([asked.length, codes]).toEqual([1, ['E3102']]);
  });

  test('needs no slot and no room of its own for it', async () => {
    const { parts } = await pipeline();
    const limits = { ...parts.limits, callsPerAgentMax: 1, callsMax: 1 };
    const { tool, book, unbook, run, taken } = await layer({ limits, running: new RunningCalls() });
    await tool('unbook', unbook);
    await tool('book', book(fails));
    expect((await run('book')).state).toBe('ROLLED_BACK');
    expect(taken).toEqual(['booking-0']);
    expect((await run('unbook')).state).toBe('COMPLETED');
  });

  test('PIPE-03 whose compensating call fails ends as outcome unknown; it is tried again where that does no harm', async () => {
    for (const [more, failure, tries] of [
      [{}, new ToolLayerError('E3109', 'No.'), 1],
      [{}, new ToolLayerError('E3310', 'Lost.', { details: { reached: true } }), 1],
      [{ side_effect_policy: 'idempotent' }, new ToolLayerError('E3109', 'No.'), 2],
    ] as const) {
      const { tool, book, run, goOn, asked, store } = await layer();
      let broken = true;
      await tool(
        'unbook',
        () => {
          if (broken) throw failure;
          return 'fine';
        },
        { ...more, execution_config: { retry_policy: { max_attempts: 1 } } },
      );
      await tool('book', book(fails), WHOLE);
      const record = await run('book');
      expect(record).toMatchObject({ failure: { code: 'E3804', details: { rollback: 'failed' } } });
      broken = false;
      expect(await goOn()).toEqual(tries === 1 ? { rolledBack: 0, left: 1 } : { rolledBack: 1, left: 0 });
      expect(asked.length).toBe(tries);
      expect(await store.findInvocation('acme', record.invocationId)).toMatchObject({ state: 'ABORTED' });
    }
  });

  test('PIPE-13 a person says what became of a compensating call that was cut off, and the rollback goes on', async () => {
    for (const [outcome, calls] of [
      ['happened', 1],
      ['did_not_happen', 2],
    ] as const) {
      const { tool, book, run, goOn, asked, outcomes } = await layer();
      let broken = true;
      await tool('unbook', () => {
        if (broken) throw new ToolLayerError('E3107', 'Gone.', { details: { reached: true } });
        return 'fine';
      });
      await tool('book', book(fails), WHOLE);
      const { invocationId } = await run('book');
      broken = false;
      expect((await goOn()).left).toBe(1);
      const cutOff = String(asked[0]?.request.invocation_id);
      await outcomes.settle({ tenantId: 'acme', invocationId: cutOff, outcome, how: 'person', at: 1 });
      expect((await goOn()).rolledBack).toBe(1);
      expect(asked.length).toBe(calls);
      expect(await outcomes.find('acme', invocationId)).toMatchObject({ outcome: 'did_not_happen', how: 'rollback' });
    }
  });

  test('is not taken for taken back by a call of somebody who guessed the id', async () => {
    const { tool, book, unbook, run, asked, taken } = await layer();
    await tool('unbook', unbook);
    let id = '';
    await tool('book', book(fails), WHOLE);
    await run('book', { invocation_id: 'probe' });
    id = String(asked[0]?.request.invocation_id);
    expect(id).toMatch(/^undo-[0-9a-f]{40}-1$/);
    const other = await layer();
    await other.tool('unbook', other.unbook);
    await other.tool('book', other.book(fails), WHOLE);
    await other.run('unbook', { invocation_id: id });
    expect(await other.run('book', { invocation_id: 'probe' })).toMatchObject({
      failure: { code: 'E3804', details: { rollback: 'failed' } },
    });
    expect([taken, other.taken]).toEqual([['booking-0'], [undefined]]);
  });
});

describe('after a crash', () => {
  /** A call that a process left when it died while the tool ran. */
  async function cutOff(made: Awaited<ReturnType<typeof layer>>) {
    const { tool, book, run, store } = made;
    const begun = Promise.withResolvers<string>();
    await tool(
      'book',
      book((_given, { invocationId }) => {
        begun.resolve(invocationId);
        return new Promise(() => undefined);
      }),
      WHOLE,
    );
    void run('book');
    const invocationId = await begun.promise;
    return { invocationId, row: () => store.findInvocation('acme', invocationId) };
  }

  test('PIPE-03 ORC-06 the call is made although no token is there any more', async () => {
    const made = await layer();
    await made.tool('unbook', made.unbook);
    const { row } = await cutOff(made);
    expect(await made.goOn()).toEqual({ rolledBack: 1, left: 0 });
    expect(made.taken).toEqual(['booking-0']);
    expect(await row()).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3811' } });
    expect(await made.goOn()).toEqual({ rolledBack: 0, left: 0 });
  });

  test('PIPE-03 it is not made again when it had its effect before the second crash', async () => {
    const made = await layer();
    await made.tool('unbook', made.unbook);
    await cutOff(made);
    let dead = true;
    const markUndone: typeof made.journal.markUndone = (...step) =>
      dead ? Promise.reject(new Error('the process died')) : made.journal.markUndone(...step);
    const transactions = { ...made.transactions, journal: { ...made.journal, markUndone } };
    const goOn = () => continueRollbacks({ ...made.parts, transactions, outcomes: made.outcomes }, 'one');
    expect((await goOn()).left).toBe(1);
    dead = false;
    expect((await goOn()).rolledBack).toBe(1);
    expect(made.taken).toEqual(['booking-0']);
  });

  test('PIPE-03 PIPE-13 one that was itself cut off is never repeated where it may have had its effect', async () => {
    for (const [policy, times] of [
      ['irreversible', 1],
      ['idempotent', 2],
    ] as const) {
      const made = await layer();
      let hang = true;
      await made.tool(
        'unbook',
        ({ id }) => {
          made.taken.push(id);
          return hang ? new Promise(() => undefined) : 'fine';
        },
        { side_effect_policy: policy },
      );
      const { row } = await cutOff(made);
      void made.goOn();
      await expect.poll(() => made.taken.length).toBe(1);
      hang = false;
      const { rolledBack } = await made.goOn();
      expect([rolledBack, made.taken.length]).toEqual([times - 1, times]);
      await recoverOpenCalls(made.parts, 'one');
      expect((await row())?.failure?.code).toBe(times === 1 ? 'E3804' : 'E3811');
    }
  });

  test('PIPE-03 a tool that is not there yet is waited for', async () => {
    const made = await layer();
    const { add, asked } = made;
    let bound = false;
    await add(manifest('unbook', { ...UNSAFE, ...FREE }), ({ id }) => {
      if (!bound) throw new ToolLayerError('E3901', 'It has no function.');
      made.taken.push(id);
      return 'fine';
    });
    await cutOff(made);
    expect((await made.goOn()).left).toBe(1);
    bound = true;
    expect((await made.goOn()).rolledBack).toBe(1);
    expect([asked.length, made.taken.length]).toEqual([2, 1]);
  });
});

describe('the compensating calls of one step', () => {
  const step = { kind: 'call', request: { tool_id: 'unbook', parameters: {} }, claims: { sub: 'a' }, door: 'rest' };
  type Row = Partial<InvocationRecord>;
  const row = (state: InvocationRecord['state'], code?: ErrorCode, more: Row = {}) =>
    ({
      ...{ state, compensates: 'call', sideEffect: 'irreversible', metadata: { attempts: 1 } },
      ...(code === undefined ? {} : { failure: failure(code, 'No.') }),
      ...more,
    }) as InvocationRecord;

  /** Calls that are made where those of `known` are on record, and `next` is what becomes of each new one. */
  async function calls(known: readonly InvocationRecord[], next: InvocationRecord, given: object = step) {
    const asked: CallRequest[] = [];
    const numberOf = (id: string) => Number(id.split('-').at(-1));
    const undoer = undoByCall({
      runCall: async (request) => {
        asked.push(request);
        return next;
      },
      records: { findInvocation: async (_tenant, id) => known[numberOf(id) - 1] },
      outcomes: { find: async () => undefined },
    });
    const of = { tenantId: 'acme', invocationId: 'call', position: 0 };
    const undo = async () => undoer.undo(given as typeof step, of);
    const end = await undo().catch((thrown: Error) => thrown.message);
    return { end, asked, numbers: asked.map(({ request }) => numberOf(request.invocation_id ?? '')) };
  }
  const done = row('COMPLETED');

  test('PIPE-03 act for the agent of the step, each under an id that it alone has', async () => {
    const { asked } = await calls([], done);
    const invocation_id = asked[0]?.request.invocation_id;
    expect(asked).toEqual([
      {
        request: { ...step.request, invocation_id, execution_options: { idempotency_key: invocation_id } },
        ...{ caller: { door: 'rest' }, compensates: 'call', onBehalfOf: step.claims },
      },
    ]);
    expect(invocation_id).toMatch(/^undo-[0-9a-f]{40}-1$/);
  });

  test('PIPE-13 are repeated only after one that had no effect or may be repeated', async () => {
    const none = { metadata: { attempts: 0 } } as Row;
    for (const again of [
      row('FAILED', 'E3104', none),
      row('FAILED', 'E3901'),
      row('ABORTED', 'E3811'),
      row('ROLLED_BACK', 'E3104'),
      row('FAILED', 'E3104', { sideEffect: 'pure' }),
      row('FAILED', 'E3104', { sideEffect: 'idempotent' }),
    ])
      expect(await calls([again], done)).toMatchObject({ end: undefined, numbers: [2] });
    expect(await calls([done], done)).toMatchObject({ end: undefined, numbers: [] });
    for (const [stuck, why] of [
      [row('FAILED', 'E3104'), /failed with E3104/],
      [row('ABORTED', 'E3804', none), /failed with E3804/],
      [row('EXECUTING'), /is EXECUTING still/],
      [row('COMPLETED', undefined, { compensates: 'other' }), /is the id of another call/],
    ] as const)
      expect(await calls([stuck], done)).toMatchObject({ end: expect.stringMatching(why), numbers: [] });
  });

  test('PIPE-03 are four at once where another may pass, one where it may not, and 32 in all', async () => {
    const none = { metadata: { attempts: 0 } } as Row;
    expect(await calls([], row('FAILED', 'E3303', none))).toMatchObject({
      ...{ end: expect.stringMatching(/E3303/), numbers: [1, 2, 3, 4] },
    });
    expect(await calls([], row('FAILED', 'E3104', none))).toMatchObject({ numbers: [1] });
    const failed = row('FAILED', 'E3104', none);
    expect(await calls(Array(31).fill(failed), done)).toMatchObject({ end: undefined, numbers: [32] });
    expect((await calls(Array(32).fill(failed), done)).end).toMatch(/called 32 times/);
  });

  test('are none for a step that names no call', async () => {
    for (const less of [{ kind: 'other' }, { request: undefined }, { claims: undefined }])
      expect(await calls([], done, { ...step, ...less })).toMatchObject({ end: 'the step names no call', asked: [] });
  });
});
