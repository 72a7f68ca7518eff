import { setTimeout as wait } from 'node:timers/promises';
import { failure, isFailure } from '@sallyport/std/error/failure';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { memoryCompensationStore } from '../../../test/stores/outcomes/memory-compensation-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import type { CompensationStore } from '../compensation-store.port.ts';
import { type Compensated, createSideEffects } from '../side-effects.ts';

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' }, order: { type: 'string' } } };

/** A shop whose tools make and cancel orders; `did` lists the runs of both tools. */
async function shop(cancelIs: Partial<ToolManifest> = {}, store: CompensationStore = memoryCompensationStore()) {
  const made = await pipeline({ limits: { ...(await limits()), callsPerAgentMax: 50 } });
  const did: string[] = [];
  const state = { failing: false };
  const order = { side_effect_policy: 'compensatable', parameters_schema: SCHEMA } as const;
  await made.add(manifest('order', { ...order, compensation_tool_id: 'cancel' }), ({ n }) => {
    did.push(`order ${n}`);
    return { order: `o-${n}` };
  });
  await made.add(manifest('orphan', { ...order }), () => ({ order: 'x' }));
  await made.add(manifest('mail', { side_effect_policy: 'irreversible' }), () => 'sent');
  await made.add(
    manifest('cancel', { side_effect_policy: 'irreversible', parameters_schema: SCHEMA, ...cancelIs }),
    async (given) => {
      did.push(`cancel ${given['order']}`);
      await wait(2);
      if (state.failing) throw new Error('no');
      return { refunded: given['n'] };
    },
  );
  const effects = createSideEffects({
    ...made.parts,
    compensations: store,
    runCall: made.run,
    findTool: (tenantId, toolId) => {
      const found = made.parts.registry.find(tenantId, toolId);
      return isFailure(found) ? undefined : found.tool.manifest;
    },
  });
  const asker = { caller: { door: 'library', token: await made.token() }, agentDid: 'did:agent:a' } as const;
  const ordered = (n: number): Promise<InvocationRecord> => made.call({ tool_id: 'order', parameters: { n } });
  return { ...made, did, state, effects, asker, ordered, store: made.store, compensations: store };
}

async function limits() {
  return (await pipeline()).parts.limits;
}

const statusOf = (done: Awaited<ReturnType<Awaited<ReturnType<typeof shop>>['effects']['compensate']>>): string =>
  isFailure(done) ? done.code : done.effect.status;

describe('VIS-03 the record of a side effect', () => {
  test('VIS-03.1 stands for every executed call that is not pure, and says how it went', async () => {
    const { effects, call, ordered, add } = await shop();
    await add(manifest('look'), () => 1);
    await add(manifest('break', { side_effect_policy: 'irreversible' }), () => {
      throw new Error('no');
    });
    await call({ tool_id: 'look', parameters: { n: 1 } });
    await call({ tool_id: 'mail', parameters: { n: 'not a number' } });
    await call({ tool_id: 'break', parameters: { n: 1 } });
    await call({ tool_id: 'mail', parameters: { n: 1 }, execution_options: { turn_group_id: 't-1' } });
    await ordered(1);
    const { effects: listed } = await effects.list({ tenantId: 'acme', limit: 10 });
    expect(listed.map(({ record, status }) => [record.toolId, status]).sort()).toEqual([
      ['break', 'failed'],
      ['mail', 'executed'],
      ['order', 'executed'],
    ]);
    const ofTurn = await effects.list({ tenantId: 'acme', turnGroupId: 't-1', limit: 10 });
    expect(ofTurn.effects.map(({ record }) => record.toolId)).toEqual(['mail']);
    expect((await effects.list({ tenantId: 'globex', limit: 10 })).effects).toEqual([]);
  });

  test('VIS-03.4 is told as STARTED, COMPLETED and FAILED, and a pure call tells nothing', async () => {
    const { call, add, everyEventOf, ordered } = await shop();
    await add(manifest('look'), () => 1);
    await add(manifest('break', { side_effect_policy: 'idempotent' }), () => {
      throw new Error('no');
    });
    const told = async ({ invocationId }: InvocationRecord) =>
      (await everyEventOf(invocationId))
        .filter(({ type }) => type.includes('side_effect'))
        .map(({ type, data }) => [type.split('.').at(-1), data['side_effect']]);
    expect(await told(await call({ tool_id: 'look', parameters: { n: 1 } }))).toEqual([]);
    expect(await told(await ordered(1))).toEqual([
      ['started', { compensation_tool: 'cancel', policy: 'compensatable', status: 'executing' }],
      ['completed', { compensation_tool: 'cancel', policy: 'compensatable', status: 'executed' }],
    ]);
    expect(await told(await call({ tool_id: 'break', parameters: { n: 1 } }))).toEqual([
      ['started', { policy: 'idempotent', status: 'executing' }],
      ['failed', { e_code: 'E3109', policy: 'idempotent', status: 'failed' }],
    ]);
    expect(await told(await call({ tool_id: 'order', parameters: { n: 'x' } }))).toEqual([]);
  });
});

describe('VIS-03 taking a side effect back', () => {
  test('VIS-03.5 runs the compensating tool once, with what the call got and gave', async () => {
    const { effects, did, ordered, asker, everyEventOf, store } = await shop();
    const record = await ordered(7);
    const done = (await effects.compensate(record, asker)) as Compensated;
    expect([done.effect.status, done.already, did]).toEqual(['compensated', false, ['order 7', 'cancel o-7']]);
    const again = (await effects.compensate(record, asker)) as Compensated;
    expect([again.effect.status, again.already, did.length]).toEqual(['compensated', true, 2]);
    const id = done.effect.compensation?.compensationId ?? '';
    expect(await store.findInvocation('acme', id)).toMatchObject({
      compensates: record.invocationId,
      result: { refunded: 7 },
    });
    expect((await everyEventOf(record.invocationId)).at(-1)).toMatchObject({
      type: 'ai.agent.tool.side_effect.compensated',
      data: {
        side_effect: {
          compensation_executed: true,
          compensation_id: id,
          compensation_tool: 'cancel',
          status: 'compensated',
        },
      },
    });
  });

  test('takes the word of the asker over what it finds', async () => {
    const { effects, did, ordered, asker } = await shop();
    await effects.compensate(await ordered(1), asker, { order: 'other' });
    expect(did).toEqual(['order 1', 'cancel other']);
  });

  test('is refused for what was not executed, what names no tool, and what is final by its nature', async () => {
    const { effects, call, asker, did } = await shop();
    const failed = await call({ tool_id: 'order', parameters: { n: 'x' } });
    const orphan = await call({ tool_id: 'orphan', parameters: { n: 1 } });
    const mail = await call({ tool_id: 'mail', parameters: { n: 1 } });
    for (const record of [failed, orphan, mail])
      expect(statusOf(await effects.compensate(record, asker))).toBe('E3818');
    expect(did).toEqual([]);
  });

  test('leaves nothing behind when the asker may not call the tool, so that somebody else can', async () => {
    const { effects, ordered, asker, token, did } = await shop();
    const record = await ordered(1);
    const narrow = { door: 'library', token: await token({ tool_id: 'order' }) } as const;
    const refused = (await effects.compensate(record, { caller: narrow, agentDid: 'did:agent:a' })) as Compensated;
    expect([refused.effect.status, refused.failure?.code]).toEqual(['executed', 'E3209']);
    expect(statusOf(await effects.compensate(record, asker))).toBe('compensated');
    expect(did).toEqual(['order 1', 'cancel o-1']);
  });

  test('a tool that failed is not tried again unless it is safe to repeat', async () => {
    for (const [policy, runs, end] of [
      ['irreversible', 1, 'compensation_failed'],
      ['idempotent', 2, 'compensated'],
    ] as const) {
      const { effects, ordered, asker, did, state } = await shop({ side_effect_policy: policy });
      const record = await ordered(1);
      state.failing = true;
      expect(statusOf(await effects.compensate(record, asker))).toBe('compensation_failed');
      state.failing = false;
      expect(statusOf(await effects.compensate(record, asker))).toBe(end);
      expect(did.filter((each) => each.startsWith('cancel'))).toHaveLength(runs);
    }
  });

  test('VIS-03.5 many at the same time, by different askers, run it once', async () => {
    const { effects, ordered, asker, token, did } = await shop();
    const record = await ordered(1);
    const other = {
      caller: { door: 'rest', token: await token({ agent_did: 'did:agent:b' }) },
      agentDid: 'did:agent:b',
    };
    const askers = [asker, other as typeof asker, asker, other as typeof asker];
    const done = await Promise.all(askers.map((each) => effects.compensate(record, each)));
    for (const one of done) expect(['compensated', 'compensating']).toContain(statusOf(one));
    expect(did.filter((each) => each.startsWith('cancel'))).toHaveLength(1);
  });
});

describe('VIS-03 many side effects', () => {
  test('VIS-03.6 are taken back the last first; what cannot be is passed by', async () => {
    const { effects, ordered, call, asker, did } = await shop();
    const records = [await ordered(1), await call({ tool_id: 'mail', parameters: { n: 1 } }), await ordered(2)];
    const outcomes = await effects.compensateAll(records, asker, false);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['compensated', 'not_compensatable', 'compensated']);
    expect(did.slice(2)).toEqual(['cancel o-2', 'cancel o-1']);
  });

  test('VIS-03.6 PIPE-13 stop at a call whose outcome nobody knows', async () => {
    const { effects, ordered, asker, did } = await shop();
    const cutOff = { ...(await ordered(2)), state: 'ABORTED', failure: failure('E3804', 'Nobody knows.') } as const;
    const outcomes = await effects.compensateAll([await ordered(1), cutOff], asker, false);
    expect(outcomes).toMatchObject([{ outcome: 'failed', failure: { code: 'E3818' } }, { outcome: 'not_tried' }]);
    expect(did).toEqual(['order 2', 'order 1']);
  });

  test('stop at the first that cannot be taken back, and go on where they are told to', async () => {
    const { effects, ordered, asker, did, state } = await shop();
    const records = [await ordered(1), await ordered(2), await ordered(3)];
    state.failing = true;
    const stopped = await effects.compensateAll(records, asker, false);
    expect(stopped.map(({ outcome }) => outcome)).toEqual(['failed', 'not_tried', 'not_tried']);
    state.failing = false;
    const went = await effects.compensateAll(records, asker, true);
    expect(went.map(({ outcome }) => outcome)).toEqual(['failed', 'compensated', 'compensated']);
    expect(did.slice(3)).toEqual(['cancel o-3', 'cancel o-2', 'cancel o-1']);
  });
});

/** A store that dies between two steps of a compensation, at the given change. */
function crashing(inner: CompensationStore, at: number): CompensationStore & { readonly crashed: () => boolean } {
  let changes = 0;
  return {
    ...inner,
    crashed: () => changes >= at,
    async change(to, from) {
      changes += 1;
      if (changes === at) throw new Error('the layer is gone');
      return inner.change(to, from);
    },
  };
}

test('VIS-03.5 a crash at any step, and any number of askers after it, never take an effect back twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      async (crashAt, askers, settled) => {
        const inner = memoryCompensationStore();
        const first = await shop({}, crashing(inner, crashAt));
        const record = await first.ordered(1);
        await first.effects.compensate(record, first.asker).catch(() => undefined);
        const parts = { ...first.parts, compensations: inner, runCall: first.run };
        const after = createSideEffects({
          ...parts,
          findTool: () => manifest('cancel', { parameters_schema: SCHEMA }),
        });
        if (settled) await after.settleOpen();
        const asked = Array.from({ length: askers }, () => after.compensate(record, first.asker));
        for (const one of await Promise.all(asked)) expect(['compensated', 'compensating']).toContain(statusOf(one));
        expect(statusOf(await after.compensate(record, first.asker))).toBe('compensated');
        expect(first.did).toEqual(['order 1', 'cancel o-1']);
      },
    ),
    { numRuns: 24 },
  );
});
