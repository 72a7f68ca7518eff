import { setImmediate } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import type { NativeCallContext } from '../../../executors/native/native-executor.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

const RETRIED = {
  idempotent: true,
  side_effect_policy: 'idempotent',
  execution_config: { retry_policy: { max_attempts: 3, base_delay_ms: 1, max_delay_ms: 1 } },
} as const;

/** The step at which a run continues. */
function stepOf({ checkpoints: { restored } }: NativeCallContext): number {
  return restored === undefined ? 0 : (JSON.parse(Buffer.from(restored.bytes).toString()) as { step: number }).step;
}

describe('STA-02 the work of a tool continues from its checkpoints', () => {
  test('STA-02.1 PIPE-11.5 an attempt that is tried again does only what the failed one left', async () => {
    const { add, call } = await pipeline();
    const done: number[] = [];
    await add(manifest('count', RETRIED), async (_parameters, context) => {
      for (let step = stepOf(context); step < 6; step += 1) {
        if (step % 2 === 1 && !done.includes(-step)) {
          done.push(-step);
          throw new ToolLayerError('E3304', 'Not reachable for a moment.');
        }
        done.push(step);
        await context.checkpoints.save({ step: step + 1 });
      }
      return done.filter((step) => step >= 0);
    });
    const record = await call({ tool_id: 'count', parameters: { n: 1 } });
    expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3305' } });
    expect(done).toEqual([0, -1, 1, 2, -3, 3, 4, -5]);
    expect(record.metadata?.checkpoints_created).toHaveLength(5);
    const [, , , , last] = record.metadata?.checkpoints_created ?? [];
    const resumed = await call({
      tool_id: 'count',
      parameters: { n: 1 },
      checkpoint_config: { resume_from_checkpoint_id: last?.checkpoint_id ?? '' },
    });
    expect(resumed).toMatchObject({ state: 'COMPLETED', result: [0, 1, 2, 3, 4, 5] });
  });

  test('STA-02.1 after a timeout another call resumes, and what is still left of the first saves nothing', async () => {
    const { add, call, parts } = await pipeline();
    const late = Promise.withResolvers<void>();
    let left: Promise<unknown> = Promise.resolve();
    await add(
      manifest('slow', { ...RETRIED, execution_config: { default_timeout_seconds: 0.3 } }),
      async (_parameters, context) => {
        const step = stepOf(context);
        if (step === 1) return 'continued';
        await context.checkpoints.save({ step: 1 });
        left = late.promise.then(() => context.checkpoints.save({ step: 9 })).catch((thrown: unknown) => thrown);
        await left;
        return 'never';
      },
    );
    const first = await call({ tool_id: 'slow', parameters: { n: 1 } });
    expect(first).toMatchObject({ failure: { code: 'E3103' } });
    const [saved] = first.metadata?.checkpoints_created ?? [];
    const resume_from_checkpoint_id = saved?.checkpoint_id ?? '';
    const second = await call({
      tool_id: 'slow',
      parameters: { n: 1 },
      checkpoint_config: { resume_from_checkpoint_id },
    });
    expect(second).toMatchObject({ state: 'COMPLETED', result: 'continued' });
    late.resolve();
    expect(await left).toMatchObject({ code: 'E3805' });
    expect(await parts.checkpoints.list('acme', first.invocationId, 9)).toEqual([]);
  });

  /** A tool of three steps that also counts them in its state, and fails before the last one while `fails` says so. */
  async function counting(more: Parameters<typeof manifest>[1], fails: () => boolean) {
    const made = await pipeline();
    const ran: number[] = [];
    await made.add(manifest('count', { ...RETRIED, ...more }), async (_parameters, context) => {
      for (let step = stepOf(context); step < 3; step += 1) {
        if (step === 2 && fails()) throw new ToolLayerError('E3304', 'Not reachable for a moment.');
        ran.push(step);
        // The first step changes nothing that could be taken back.
        if (step > 0) await context.state.put('count', Number((await context.state.get('count')) ?? 0) + 1);
        await context.checkpoints.save({ step: step + 1 }, { milestone: `step ${step}` });
      }
      return context.state.get('count');
    });
    const call = (resume?: string) =>
      made.call({
        tool_id: 'count',
        parameters: { n: 1 },
        ...(resume === undefined ? {} : { checkpoint_config: { resume_from_checkpoint_id: resume } }),
      });
    return { ...made, ran, call };
  }

  test('STA-02.1 PIPE-03 an attempt does again what was taken back after the failed one, and nothing else', async () => {
    let failures = 1;
    const { ran, call } = await counting({}, () => failures-- > 0);
    expect(await call()).toMatchObject({ state: 'COMPLETED', result: 2 });
    expect(ran).toEqual([0, 1, 1, 2]);
  });

  test('STA-02.1 PIPE-03 a call that resumes a failed one skips no step whose change was taken back', async () => {
    let isFailing = true;
    const once = { execution_config: { retry_policy: { max_attempts: 1 } } };
    const { ran, call } = await counting(once, () => isFailing);
    const first = await call();
    expect(first).toMatchObject({ state: 'ROLLED_BACK' });
    isFailing = false;
    const [before, after] = first.metadata?.checkpoints_created ?? [];
    expect(await call(after?.checkpoint_id)).toMatchObject({ state: 'FAILED', failure: { code: 'E3702' } });
    expect(await call(before?.checkpoint_id)).toMatchObject({ state: 'COMPLETED', result: 2 });
    expect(ran).toEqual([0, 1, 1, 2]);
  });

  test('STA-02.1 PIPE-03 a call whose end could not be recorded keeps its checkpoints, and another continues its work', async () => {
    const memory = memoryLedgerStore();
    let isFailing = true;
    const append: LedgerStore['append'] = async (batch, durability) => {
      if (isFailing && batch.records.some(({ state }) => state === 'COMPLETED'))
        throw new ToolLayerError('E3812', 'The database is not there.');
      return memory.append(batch, durability);
    };
    const { add, call } = await pipeline({ store: { ...memory, append } });
    const ran: number[] = [];
    await add(manifest('count'), async (_parameters, context) => {
      for (let step = stepOf(context); step < 3; step += 1) {
        ran.push(step);
        await context.checkpoints.save({ step: step + 1 });
      }
    });
    const lost = await call({ tool_id: 'count', parameters: { n: 1 } });
    expect(lost).toMatchObject({ state: 'FAILED' });
    isFailing = false;
    const resume_from_checkpoint_id = lost.metadata?.checkpoints_created.at(-1)?.checkpoint_id ?? '';
    const checkpoint_config = { resume_from_checkpoint_id };
    const resumed = await call({ tool_id: 'count', parameters: { n: 1 }, checkpoint_config });
    expect(resumed).toMatchObject({ state: 'COMPLETED' });
    expect(ran).toEqual([0, 1, 2]);
  });

  test('STA-02.3 a checkpoint that is unknown ends the call before its tool runs', async () => {
    const { add, call } = await pipeline();
    let runs = 0;
    await add(manifest('count', RETRIED), () => {
      runs += 1;
    });
    const record = await call({
      tool_id: 'count',
      parameters: { n: 1 },
      checkpoint_config: { resume_from_checkpoint_id: 'ckpt_unknown' },
    });
    expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3702' } });
    expect(runs).toBe(0);
  });

  test.each(['pure', 'idempotent'] as const)(
    'STA-02 the work of a call under way is no other call’s to continue, though its tool is %s',
    async (side_effect_policy) => {
      const { add, call } = await pipeline();
      const saved = Promise.withResolvers<string>();
      const end = Promise.withResolvers<void>();
      await add(manifest('count', { side_effect_policy }), async (_parameters, { checkpoints }) => {
        saved.resolve((await checkpoints.save({ step: 1 })).checkpointId);
        await end.promise;
        throw new ToolLayerError('E3108', 'It stops here.');
      });
      const first = call({ tool_id: 'count', parameters: { n: 1 } });
      const checkpoint_config = { resume_from_checkpoint_id: await saved.promise };
      const again = () => call({ tool_id: 'count', parameters: { n: 1 }, checkpoint_config });
      expect(await again()).toMatchObject({ failure: { code: 'E3704' }, metadata: { attempts: 0 } });
      end.resolve();
      await first;
      expect(await again()).toMatchObject({ failure: { code: 'E3108' }, metadata: { attempts: 1 } });
    },
  );

  test('STA-01.4 the layer takes the state of a tool that offers one, unless the call switches that off', async () => {
    const { add, call, parts } = await pipeline();
    const taken = Promise.withResolvers<void>();
    let waiting = 0;
    await add(manifest('work', RETRIED), async ({ n }, { checkpoints, invocationId }) => {
      waiting += 1;
      checkpoints.onTimer(() => {
        if (n === 1 && waiting === 3) taken.resolve();
        return { n };
      });
      await taken.promise;
      const types = async () => (await parts.checkpoints.list('acme', invocationId, 9)).map(({ type }) => type);
      while (n === 1 && (await types()).length === 0) await setImmediate();
      return types();
    });
    const work = (n: number, enable_checkpointing: boolean, checkpoint_interval_seconds: number) =>
      call({
        tool_id: 'work',
        parameters: { n },
        checkpoint_config: { enable_checkpointing, checkpoint_interval_seconds },
      });
    const [often, off, seldom] = await Promise.all([work(1, true, 1), work(2, false, 1), work(3, true, 3600)]);
    expect([often.result, off.result, seldom.result]).toEqual([['micro'], [], []]);
  });

  test('STA-01.4 a tool asks for its checkpoints late: after its attempt they save nothing', async () => {
    const { add, call, parts } = await pipeline();
    const contexts: NativeCallContext[] = [];
    await add(manifest('count', RETRIED), (_parameters, context) => {
      contexts.push(context);
      if (contexts.length === 1) throw new ToolLayerError('E3304', 'Not reachable for a moment.');
      return contexts[0]?.checkpoints.save({ step: 1 }).catch(({ code }: ToolLayerError) => code);
    });
    const record = await call({ tool_id: 'count', parameters: { n: 1 } });
    expect(record).toMatchObject({ state: 'COMPLETED', result: 'E3805', metadata: { checkpoints_created: [] } });
    await expect(contexts[1]?.checkpoints.save({ step: 1 })).rejects.toMatchObject({ code: 'E3805' });
    expect(await parts.checkpoints.list('acme', record.invocationId, 9)).toEqual([]);
  });

  test('AUD-01.4 milestones and named checkpoints are audited, micro ones are only counted', async () => {
    const { add, call, eventsOf } = await pipeline();
    await add(manifest('work', RETRIED), async (_parameters, { checkpoints }) => {
      await checkpoints.save({ step: 1 });
      await checkpoints.save({ step: 2 }, { milestone: 'parsed' });
      await checkpoints.save({ step: 3 }, { name: 'before the upload' });
    });
    const { invocationId, metadata } = await call({ tool_id: 'work', parameters: { n: 1 } });
    const events = await eventsOf(invocationId);
    const created = events.filter(({ type }) => type === 'ai.agent.tool.checkpoint.created');
    const [, macro, named] = metadata?.checkpoints_created ?? [];
    expect(created.map(({ data }) => data)).toMatchObject([
      { checkpoint_id: macro?.checkpoint_id, checkpoint_type: 'macro', label: 'parsed' },
      { checkpoint_id: named?.checkpoint_id, checkpoint_type: 'named', label: 'before the upload' },
    ]);
    expect(JSON.stringify(events)).not.toContain('"step"');
  });
});
