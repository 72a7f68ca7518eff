import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createRemoteLayer } from '../../packages/sallyport/src/doors/remote/remote-layer.ts';
import {
  type CheckSupersede,
  createToolbox,
  type PlannedToolExecution,
  type SupersedeDecision,
  type Toolbox,
  type ToolboxOptions,
} from '../../packages/sallyport/src/doors/toolbox/create-toolbox.ts';
import { LOCAL_CALLER, type ToolLayer, ToolLayerError } from '../../packages/sallyport/src/index.ts';
import { run } from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from './layer.fixture.ts';

let open: OpenLayer;
let runs: string[] = [];

const AGENT = 'did:example:a';

beforeAll(async () => {
  open = await openLayer();
  await open.layer.registerFunction(DOUBLE, (given) => {
    runs.push('double');
    return double(given);
  });
  await open.layer.registerFunction({ ...DOUBLE, tool_id: 'refuse' }, () => {
    runs.push('refuse');
    throw new ToolLayerError('E3109', 'Not today.');
  });
  await open.layer.registerFunction(
    {
      ...DOUBLE,
      tool_id: 'wipe',
      category: 'file_system',
      tags: ['disk'],
      side_effect_policy: 'compensatable',
      compensation_tool_id: 'double',
    },
    double,
  );
});
beforeAll(() =>
  open.layer.registerFunction({ ...DOUBLE, tool_id: 'launch', side_effect_policy: 'irreversible' }, () => {
    runs.push('launch');
    return 'gone';
  }),
);
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(async () => {
  runs = [];
  const { activations } = await open.layer.ask('activations.list', {}, LOCAL_CALLER);
  for (const { agent_did, tool_id } of activations)
    await open.layer.ask('activations.remove', { agent_did, tool_id }, LOCAL_CALLER);
});

const set = (tool_id: string, more: object) =>
  open.layer.ask('activations.set', { agent_did: AGENT, tool_id, ...more }, LOCAL_CALLER);

describe.each(['in this process', 'elsewhere'])('VIS-02 the toolbox of one agent over a layer %s', (where) => {
  async function toolbox(more: Partial<ToolboxOptions> = {}, claims: object = {}): Promise<Toolbox> {
    const { capability_token: token } = await open.layer.mintToken({ agent_did: AGENT, ...claims });
    const layer: ToolLayer = where === 'elsewhere' ? createRemoteLayer({ url: open.server.url }) : open.layer;
    const made = createToolbox({ layer, token, ...more });
    onTestFinished(() => made[Symbol.dispose]());
    return made;
  }

  test('VIS-02.1 execute runs a tool and tells how it ended, an unhappy end too', async () => {
    const box = await toolbox();
    const happy = await box.execute({ toolName: 'double', args: { n: 4 } });
    expect(happy).toMatchObject({ toolName: 'double', status: 'success', success: true, data: { value: 8 } });
    expect(happy.executionTimeMs).toBeGreaterThanOrEqual(0);
    expect(await box.execute({ toolName: 'refuse', args: { n: 1 } })).toMatchObject({
      status: 'error',
      success: false,
      error: { e_code: 'E3109' },
    });
    expect(await box.execute({ toolName: 'nothing' })).toMatchObject({ success: false, error: { e_code: 'E3001' } });
    expect(await box.execute({ toolName: '../etc' })).toMatchObject({ success: false, error: { e_code: 'E3801' } });
  });

  test('VIS-09.3 the place of an execution in its plan is kept in the events of its call', async () => {
    const box = await toolbox();
    const place = { when: 'BEFORE_STEP', boundRuleId: 'rule-7', boundStepId: 'book' } as const;
    const [planned, free] = [
      await box.execute({ toolName: 'double', args: { n: 1 }, ...place }),
      await box.execute({ toolName: 'double', args: { n: 2 } }),
    ];
    const plansOf = async ({ invocationId = '' }: { readonly invocationId?: string }) => {
      const { events } = await open.layer.ask('audit.query', { invocation_id: invocationId }, LOCAL_CALLER);
      return events.map(({ data }) => data['plan']);
    };
    const plan = { when: 'BEFORE_STEP', bound_rule_id: 'rule-7', bound_step_id: 'book' };
    expect(await plansOf(planned)).toEqual([plan, plan, plan, plan, plan]);
    expect(new Set(await plansOf(free))).toEqual(new Set([undefined]));
  });

  test('one idempotency key is answered once, and the second answer says so', async () => {
    const box = await toolbox();
    const planned = { toolName: 'double', args: { n: 4 }, idempotencyKey: `once ${where}` };
    expect((await box.execute(planned)).status).toBe('success');
    expect(await box.execute(planned)).toMatchObject({ status: 'cached', success: true, data: { value: 8 } });
    expect(runs).toEqual(['double']);
  });

  test('VIS-04.4 VIS-04.5 a turn group runs a tool once for the same arguments, and the second answer says so', async () => {
    const box = await toolbox({ turnGroupId: `turn-${where.length}` });
    const planned = { toolName: 'double', args: { n: 40 } };
    const both = await Promise.all([box.execute(planned), box.execute(planned)]);
    expect(both.map(({ cached }) => cached).sort()).toEqual([false, true]);
    expect(both.map(({ status }) => status).sort()).toEqual(['cached', 'success']);
    expect((await box.execute(planned, { turnGroupId: `next-${where.length}` })).status).toBe('success');
    expect(runs).toEqual(['double', 'double']);
  });

  test('VIS-05.1 VIS-05.2 VIS-05.3 before an irreversible tool the decision of the caller holds, also within a batch', async () => {
    const asked: string[] = [];
    const decide = (decision: SupersedeDecision | undefined) => async (planned: PlannedToolExecution) => {
      asked.push(planned.toolName);
      return decision;
    };
    for (const decision of ['ABSORB', 'FORCE_COMPLETE', 'QUEUE', undefined] as const) {
      const box = await toolbox({ checkSupersede: decide(decision) });
      const ran = await box.execute({ toolName: 'launch', args: { n: 1 } });
      expect([ran.status, ran.supersede]).toEqual(['success', decision]);
    }
    expect([runs, asked]).toEqual([Array(4).fill('launch'), Array(4).fill('launch')]);
    const box = await toolbox({ checkSupersede: decide('SUPERSEDE') });
    const batch = ['double', 'launch', 'double'].map((toolName) => ({ toolName, args: { n: 1 }, critical: false }));
    const results = await box.executeBatch(batch);
    expect(results.map(({ status }) => status)).toEqual(['success', 'skipped']);
    expect(results[1]).toMatchObject({ supersede: 'SUPERSEDE', success: false, error: { code: 'cancelled' } });
    expect(results[1]?.modelText).toMatch(/^\[tool_error\]\ncategory: Cancelled\n/);
    expect(asked.slice(4)).toEqual(['launch']);
    expect(runs.slice(4)).toEqual(['double']);
  });

  test('VIS-05 a check that fails or answers nonsense keeps an irreversible tool from running', async () => {
    const checks: CheckSupersede[] = [() => Promise.reject(new Error('no')), () => 'YES' as SupersedeDecision];
    for (const checkSupersede of checks) {
      const box = await toolbox({ checkSupersede });
      expect(await box.execute({ toolName: 'launch', args: { n: 1 } })).toMatchObject({
        status: 'error',
        error: { e_code: 'E3805' },
      });
      expect(await box.execute({ toolName: 'nothing' })).toMatchObject({ error: { e_code: 'E3001' } });
    }
    expect(runs).toEqual([]);
  });

  test('MOD-01.1 a failure is told in the words for a model, with the tools that were meant', async () => {
    const box = await toolbox();
    const wrong = await box.execute({ toolName: 'doubel', args: { n: 1 } });
    expect(wrong.modelText).toMatch(/^\[tool_error\]\ncategory: ToolNotFound\n.*\nsuggestion: Did you mean double\?/);
    const bad = await box.execute({ toolName: 'double', args: { n: 'x' } });
    expect(bad.modelText).toMatch(/\ncategory: TypeMismatch\n(?:.*\n)+retryable: true$/);
    expect((await box.execute({ toolName: 'double', args: { n: 1 } })).modelText).toBeUndefined();
  });

  test('VIS-06.1 VIS-06.2 a call that needs an approval asks for it, and runs once it is given, through every check', async () => {
    const box = await toolbox();
    await set('double', { policy_overrides: { requires_confirmation: true, confirmation_prompt: 'Really double?' } });
    const asked = await box.execute({ toolName: 'double', args: { n: 21 } });
    expect(asked).toMatchObject({
      status: 'confirmation',
      success: false,
      callStatus: 'pending_approval',
      confirmation: { toolName: 'double', args: { n: 21 }, prompt: 'Really double?', reason: 'requires_confirmation' },
    });
    expect(runs).toEqual([]);
    const { confirmation } = asked;
    if (confirmation === undefined) throw new Error('no confirmation');
    const own = await box.executeConfirmed(confirmation);
    expect(own).toMatchObject({ success: false, error: { category: 'PolicyBlocked' } });
    const { capability_token: token } = await open.layer.mintToken({
      agent_did: 'did:example:boss',
      roles: ['approver'],
    });
    const done = await box.executeConfirmed(confirmation, { approver: { token } });
    expect(done).toMatchObject({ status: 'success', invocationId: asked.invocationId, data: { value: 42 } });
    expect(runs).toEqual(['double']);
    expect(await box.executeConfirmed(confirmation, { approver: { token } })).toMatchObject({ success: false });
    expect(runs).toEqual(['double']);
  });

  test('VIS-02.2 a batch runs in its order and stops after the first critical failure', async () => {
    const box = await toolbox();
    const good = { toolName: 'double', args: { n: 1 } };
    const bad = { toolName: 'refuse', args: { n: 1 } };
    const results = await box.executeBatch([good, { ...bad, critical: false }, good, bad, good]);
    expect(results.map(({ success }) => success)).toEqual([true, false, true, false]);
    expect(runs).toEqual(['double', 'refuse', 'double', 'refuse']);
    expect(await box.executeBatch([])).toEqual([]);
  });

  test('VIS-02.3 a batch of ten runs; one of eleven is refused before anything runs', async () => {
    const box = await toolbox();
    const batch = Array.from({ length: 10 }, () => ({ toolName: 'double', args: { n: 1 } }));
    expect(await box.executeBatch(batch)).toHaveLength(10);
    runs = [];
    await expect(box.executeBatch([...batch, ...batch.slice(0, 1)])).rejects.toMatchObject({ code: 'E3810' });
    const small = await toolbox({ maxBatchSize: 1 });
    await expect(small.executeBatch(batch.slice(0, 2))).rejects.toMatchObject({ code: 'E3810' });
    expect(runs).toEqual([]);
  });

  test('VIS-02.4 metadata has the overrides of the activation applied', async () => {
    const box = await toolbox();
    expect(await box.getMetadata('wipe')).toEqual({
      name: 'wipe',
      sideEffectPolicy: 'compensatable',
      requiresConfirmation: false,
      requiresApproval: false,
      compensationTool: 'double',
      category: 'file_system',
      tags: ['disk'],
      isIrreversible: false,
      isSafeToRetry: false,
    });
    await set('wipe', { policy_overrides: { requires_confirmation: true, requires_approval: true } });
    expect(await box.getMetadata('wipe')).toMatchObject({ requiresConfirmation: true, requiresApproval: true });
    await set('wipe', { enabled: false });
    expect(await box.getMetadata('wipe')).toBeUndefined();
    expect(await box.getMetadata('nothing')).toBeUndefined();
    expect(await box.getMetadata('no such name')).toBeUndefined();
  });

  test('VIS-02.5 what the agent may use, what the tenant has, and why the rest is missing', async () => {
    await set('wipe', { enabled: false, reason: 'Too dangerous.' });
    const box = await toolbox({}, { tool_id: '*e' });
    expect(await box.listAvailable()).toEqual(['double', 'refuse']);
    expect([await box.isAvailable('double'), await box.isAvailable('wipe'), await box.isAvailable('nothing')]).toEqual([
      true,
      false,
      false,
    ]);
    const tenant = ['double', 'wipe', 'nothing'].map((name) => box.isTenantAvailable(name));
    expect(await Promise.all(tenant)).toEqual([true, true, false]);
    expect(await box.getUnavailableTools()).toMatchObject([
      { name: 'launch', why_unavailable: { code: 'not_in_token' } },
      { name: 'wipe', why_unavailable: { code: 'disabled_for_agent', message: 'Too dangerous.' } },
    ]);
    expect(await box.getToolDefinition('double')).toMatchObject({
      name: 'double',
      parameters_schema: { type: 'object' },
    });
    const wipe = await box.getToolDefinition('wipe');
    expect(wipe).toMatchObject({ name: 'wipe', side_effect_policy: 'compensatable' });
    expect(wipe).not.toHaveProperty('parameters_schema');
    expect(await box.getToolDefinition('nothing')).toBeUndefined();
  });

  test('a token that is not good is an error of each question, and a result of each execution', async () => {
    const box = await toolbox({ token: 'none' });
    await expect(box.listAvailable()).rejects.toMatchObject({ code: 'E3201' });
    await expect(box.isAvailable('double')).rejects.toMatchObject({ code: 'E3201' });
    expect(await box.execute({ toolName: 'double', args: { n: 1 } })).toMatchObject({ error: { e_code: 'E3201' } });
  });
});

test('VIS-02 a toolbox follows changes, and holds no list after it was disposed', async () => {
  const { capability_token: token } = await open.layer.mintToken({ agent_did: AGENT });
  const box = createToolbox({ layer: open.layer, token });
  expect(await box.isAvailable('double')).toBe(true);
  await set('double', { enabled: false });
  await expect.poll(() => box.isAvailable('double')).toBe(false);
  box[Symbol.dispose]();
});

test('VIS-04.6 what a turn group did is remembered for 86 400 s where nothing else is set', async () => {
  const { embeddedDatabase } = open.layer;
  if (embeddedDatabase === undefined) throw new Error('no embedded database');
  await run(embeddedDatabase, 'delete from sallyport.idempotency_keys');
  const { capability_token: token } = await open.layer.mintToken({ agent_did: AGENT });
  using box = createToolbox({ layer: open.layer, token, turnGroupId: 'remembered' });
  expect((await box.execute({ toolName: 'double', args: { n: 1 } })).status).toBe('success');
  const left = 'select extract(epoch from expires_at - now())::float as seconds from sallyport.idempotency_keys';
  const [{ seconds }, ...more] = (await run(embeddedDatabase, left)) as [{ seconds: number }];
  expect(more).toEqual([]);
  expect(seconds).toBeGreaterThan(86_400 - 600);
  expect(seconds).toBeLessThanOrEqual(86_400);
});
