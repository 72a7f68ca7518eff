import { setImmediate } from 'node:timers/promises';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { silentLog } from '../../telemetry/log.ts';
import { type EndedCall, establish, newOngoingCall, type OngoingCall, type Resumed } from '../ongoing/ongoing-call.ts';
import { manifest } from '../pipeline.fixture.ts';
import { undoable } from './undoable.ts';

const NOW = 1_700_000_000_000;
const journal = memoryUndoJournal();
const ONE_CHANGE = {
  journal,
  checkpoints: memoryCheckpointStore(),
  undoers: { value: { undo: async () => undefined } },
};
const OF = { tenantId: 'acme', invocationId: 'call', instanceId: 'one' };

/** A call of a tool that may not run twice ends so, after it has done something. */
async function ended(end: EndedCall, does: (ongoing: OngoingCall) => void | Promise<void>, counts?: boolean) {
  const lines: unknown[] = [];
  const note = (level: string) => (event: string, fields?: object) => void lines.push([level, event, fields]);
  const log = { ...silentLog, info: note('info'), error: note('error') };
  const clock = { now: () => NOW, monotonic: () => 0 };
  const hold = { fence: 1, counts: () => counts };
  const resumed = counts === undefined ? undefined : ({ waiting: {}, hold } as unknown as Resumed);
  const ongoing = newOngoingCall({ request: { tool_id: 'pay' }, caller: { door: 'library' } }, 0, false, resumed);
  const pay = { manifest: manifest('pay', { side_effect_policy: 'irreversible' }) } as ToolVersion;
  establish(ongoing.call, { invocationId: 'call', tool: pay });
  ongoing.toolRun.beginAttempt();
  const entered: string[] = [];
  const run = undoable({ log, clock, transactions: ONE_CHANGE } as never)(async () => {
    await does(ongoing);
    return end;
  });
  const made = await run(ongoing, async (state) => {
    await setImmediate();
    entered.push(state);
  });
  return { made, entered, lines };
}

const E3108 = failure('E3108', 'It failed.');
const E3103 = failure('E3103', 'Too long.', { details: { timeout_ms: 1 } });
const aborted = (failed: Failure): EndedCall => ({ state: 'ABORTED', failure: failed });
const changes =
  (step: object = {}) =>
  (ongoing: OngoingCall) =>
    ongoing.undo.record(ONE_CHANGE, OF, { kind: 'value', ...step });

test('PIPE-03 what a call has opened is closed before its answer, however it ends', async () => {
  for (const end of [{ state: 'COMPLETED' }, { state: 'FAILED', failure: E3108 }] as const) {
    const order: string[] = [];
    await ended(end, ({ undo }) =>
      undo.defer(async () => {
        await setImmediate();
        order.push('closed');
      }),
    );
    order.push('answered');
    expect(order).toEqual(['closed', 'answered']);
  }
});

test('PIPE-09 a call that runs again later keeps what it holds as a call, and one that is over does not', async () => {
  for (const counts of [true, false, undefined]) {
    const released: string[] = [];
    await ended({ state: 'FAILED', failure: E3108 }, ({ undo }) => undo.undo(() => void released.push('key')), counts);
    expect(released).toEqual(counts === false ? [] : ['key']);
  }
});

describe('a call that failed', () => {
  test('PIPE-03 and was taken back is ROLLED_BACK, in its log too; one that was cut off is ABORTED before', async () => {
    for (const [end, states] of [
      [{ state: 'FAILED', failure: E3108 }, []],
      [aborted(E3103), ['ABORTED']],
    ] as const) {
      const { made, entered, lines } = await ended(end, changes());
      expect(made).toEqual({ ...end, state: 'ROLLED_BACK' });
      expect(entered).toEqual(states);
      expect(lines).toEqual([['info', 'rolled-back', { invocation_id: 'call', e_code: end.failure?.code }]]);
    }
  });

  test('PIPE-13 and may have had effects is not known to have had none: its changes alone were taken back', async () => {
    const cause = new Error('the socket closed');
    const failed = failure('E3103', 'Too long.', { details: { timeout_ms: 1 }, cause });
    const { made, entered, lines } = await ended(aborted(failed), changes({ partial: true }));
    expect(made).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { timeout_ms: 1, cut_off_by: 'E3103', rollback: 'done' } },
      facts: [{ type: 'ai.agent.tool.rolled_back', at: NOW, data: { rollback: 'done' } }],
    });
    expect(made.failure?.cause).toBe(cause);
    expect([entered, lines]).toEqual([[], []]);
  });

  test('PIPE-13 without a change that was recorded is audited as no rollback', async () => {
    const { made, lines } = await ended(aborted(E3103), () => undefined);
    expect(made).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' }, facts: [] });
    expect(lines).toEqual([]);
  });

  test('PIPE-13 by a fault of the layer has that fault in the log, since its end says another code', async () => {
    const cause = new Error('a fault');
    const { made, lines } = await ended(aborted(failure('E3900', 'A fault.', { cause })), () => undefined);
    expect(made).toMatchObject({ failure: { code: 'E3804' } });
    expect(lines).toEqual([['error', 'call-failed', { invocation_id: 'call', e_code: 'E3900', cause }]]);
  });
});
