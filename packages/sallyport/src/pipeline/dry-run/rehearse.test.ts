import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import { memoryQuotaStore } from '../../../test/stores/calls/memory-quota-store.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import type { HookedCall } from '../../hooks/hook.ts';
import { createHooks } from '../../hooks/run-hooks.ts';
import { decisionsOf, gateWith, quotaWith } from '../../permission/gates/gates.fixture.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { ApprovalQuestions } from '../approval-questions.port.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createEditJudge } from './judge-edit.ts';
import { createRehearsal } from './rehearse.ts';

async function rehearsed(changes: Parameters<typeof pipeline>[0] = {}) {
  const made = await pipeline(changes);
  let runs = 0;
  await made.add(
    manifest('write', { side_effect_policy: 'irreversible', permissions: { credentials: ['key'] } }),
    () => {
      runs += 1;
    },
  );
  await made.add(manifest('asks', { requires_confirmation: true }), () => 1);
  const rehearse = createRehearsal(made.parts);
  const token = await made.token({ secrets: ['key'] });
  const request = (more: Partial<ToolInvokeRequest>): ToolInvokeRequest => ({
    tool_id: 'write',
    parameters: { n: 1 },
    capability_token: token,
    ...more,
  });
  const dry = (more: Partial<ToolInvokeRequest> = {}) =>
    rehearse({ request: request(more), caller: { door: 'library' } });
  return { ...made, dry, call: (more = {}) => made.call(request(more)), runs: () => runs };
}

describe('a dry run', () => {
  test('PIPE-15.1 PIPE-15.2 goes through the stages of a call up to execution, and says what would happen and why', async () => {
    const { dry, runs } = await rehearsed();
    const told = await dry({ execution_options: { phase: 'planner' } });
    expect(told).toEqual({
      would: 'run',
      tool_id: 'write',
      tool_version: '1.0.0',
      side_effect_policy: 'irreversible',
      phase: 'planner',
      trust: 'trusted',
      stages: expect.any(Array),
      grant: {
        capabilities: ['credential:key'],
        timeout_ms: 2000,
        cpu_millicores: 500,
        memory_mb: 64,
        output_bytes_max: 10_000,
      },
      policy_decision: expect.objectContaining({ allowed: true, policies: ['permit'] }),
    });
    expect(told.stages.flatMap(({ takes }) => takes ?? [])).toEqual([
      expect.stringContaining('id'),
      expect.stringContaining('slot'),
      expect.stringContaining('credential'),
    ]);
    expect(told.stages.map(({ stage, outcome }) => `${stage} ${outcome}`)).toEqual([
      'admit passed',
      'resolve passed',
      'validate passed',
      'authorize passed',
      'reuse not_taken',
      'consult passed',
      'approve passed',
      'reserve not_taken',
      'prepare not_taken',
    ]);
    expect(runs()).toBe(0);
  });

  test('PIPE-15.2 refuses where the call is refused, with the same error', async () => {
    const { dry, call, token } = await rehearsed();
    const cases: [Partial<ToolInvokeRequest>, string, string][] = [
      [{ tool_id: 'nowhere' }, 'refuse', 'resolve'],
      [{ parameters: { n: 'x' } }, 'refuse', 'validate'],
      [{ capability_token: await token({ tool_id: 'other' }) }, 'refuse', 'resolve'],
      [{ capability_token: await token() }, 'refuse', 'authorize'],
      [{ tool_id: 'asks' }, 'ask', 'approve'],
      [{ execution_options: { async_mode: true } }, 'refuse', 'admit'],
    ];
    for (const [request, would, stage] of cases) {
      const told = await dry(request);
      const real = await call(request);
      expect([told.would, told.error?.e_code, told.error?.message]).toEqual([
        would,
        real.failure?.code,
        real.failure?.message,
      ]);
      expect(told.stages.find(({ outcome }) => outcome === 'refused')?.stage).toBe(stage);
      const last = told.stages.at(-1);
      expect(last?.outcome).toBe('not_reached');
    }
  });

  test('PIPE-15.1 PIPE-15.2 of a call that would wait for a person says so, asks nobody, and no standing rule answers', async () => {
    const nobody = () => {
      throw new Error('a dry run asks nobody');
    };
    const { dry } = await rehearsed({ approvalQuestions: { standing: nobody, question: nobody } });
    const told = await dry({ tool_id: 'asks' });
    expect(told).toMatchObject({
      would: 'ask',
      error: { e_code: 'E3806', details: { reason: 'requires_confirmation' } },
    });
    expect(told.error?.message).not.toContain('nobody to ask');
  });

  test('of somebody unknown is refused as every other request, and audited', async () => {
    const { dry, store } = await rehearsed();
    await expect(dry({ capability_token: 'no.t.oken' })).rejects.toMatchObject({ code: 'E3201' });
    const [entry] = await store.events(undefined, { limit: 100 });
    expect(entry?.event).toMatchObject({ tenantid: '-', data: { would: 'refuse', e_code: 'E3201' } });
  });

  test('PIPE-15.1 takes nothing: no run, no record, no key, no id, no quota, no rate token, no slot', async () => {
    const quota = quotaWith({ store: memoryQuotaStore(), callsPerSession: 1 });
    const { dry, call, add, store, parts, runs } = await rehearsed({ quota });
    const limited = { execution_config: { rate_limit: { per_minute: 1, burst: 1 } } };
    await add(manifest('rated', limited), () => 1);
    const request = { tool_id: 'rated', invocation_id: 'mine', execution_options: { idempotency_key: 'k' } };
    for (let at = 0; at < 10; at += 1) expect((await dry(request)).would).toBe('run');
    expect(parts.running.size).toBe(0);
    expect(await store.findInvocation('acme', 'mine')).toBeUndefined();
    expect(runs()).toBe(0);
    const real = await call({ ...request, parameters: { n: 2 } });
    expect([real.state, real.invocationId]).toEqual(['COMPLETED', 'mine']);
  });

  test('PIPE-15 tells of policies in shadow mode, and is an event of its own that holds no arguments', async () => {
    const shadow = { allowed: false, policies: ['tomorrow'] };
    const engine = { name: 'e', version: () => '1', decide: () => ({ allowed: true, policies: ['permit'], shadow }) };
    const { dry, store } = await rehearsed({ policy: decisionsOf(engine) });
    const told = await dry({ parameters: { n: 123_456 }, execution_options: { phase: 'verifier' } });
    expect(told).toMatchObject({ would: 'run', policy_decision: { allowed: true, shadow } });
    const events = (await store.events(undefined, { limit: 100 })).map(({ event }) => event);
    expect(events).toMatchObject([
      {
        type: 'ai.agent.tool.dry_run',
        tenantid: 'acme',
        data: { tool_id: 'write', would: 'run', phase: 'verifier', policy_decision: { shadow } },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain('123456');
  });

  test('PIPE-15 asks the gate as a call does, and says what it decided', async () => {
    const asked: string[] = [];
    const gate = (answer: string) =>
      gateWith({
        model: {
          name: 'm',
          complete: async ({ user }) => {
            asked.push(user);
            return answer;
          },
        },
        policies: { always: ['Send nothing on Sundays.'], phases: {} },
      });
    expect(await (await rehearsed({ gate: gate('ALLOW') })).dry()).toMatchObject({
      would: 'run',
      gate_decision: { allowed: true, answer: 'ALLOW' },
    });
    const refusing = await rehearsed({ gate: gate('DENY') });
    expect(await refusing.dry()).toMatchObject({
      would: 'refuse',
      gate_decision: { allowed: false, answer: 'DENY' },
      error: { e_code: 'E3210' },
    });
    expect(refusing.runs()).toBe(0);
    expect(asked).toHaveLength(2);
  });

  test('PIPE-15 asks hooks, with the word that nothing will run; what they rewrite is judged', async () => {
    const seen: HookedCall[] = [];
    const hooks = createHooks([
      {
        id: 'a',
        at: 'before',
        run: (told) => {
          seen.push(told);
          return { outcome: 'rewrite', arguments: { n: 'x' } };
        },
      },
    ]);
    const told = await (await rehearsed({ hooks })).dry();
    expect(seen).toMatchObject([{ dryRun: true, arguments: { n: 1 } }]);
    expect(told).toMatchObject({
      would: 'refuse',
      error: { e_code: 'E3502' },
      hooks: [{ id: 'a', outcome: 'rewrite' }],
    });
  });

  test('does not keep a version in use', async () => {
    const noted: unknown[] = [];
    const made = await rehearsed();
    const registry = { ...made.parts.registry, noteUse: (tool: unknown) => void noted.push(tool) };
    const rehearse = createRehearsal({ ...made.parts, registry });
    const request = { tool_id: 'write', parameters: { n: 1 }, capability_token: await made.token() };
    await rehearse({ request, caller: { door: 'library' } });
    expect(noted).toEqual([]);
  });

  test('ends with its caller', async () => {
    const made = await rehearsed({
      hooks: createHooks([{ id: 'slow', at: 'before', run: () => new Promise(() => undefined) }]),
    });
    const gone = new AbortController();
    const rehearse = createRehearsal(made.parts);
    const request = {
      tool_id: 'write',
      parameters: { n: 1 },
      capability_token: await made.token({ secrets: ['key'] }),
    };
    const asked = rehearse({ request, caller: { door: 'library', signal: gone.signal } });
    setTimeout(() => gone.abort(), 5);
    expect(await asked).toMatchObject({ would: 'refuse', error: { e_code: 'E3805' } });
  });
});

describe('what a dry run leaves', () => {
  test('PIPE-15 is one event with all that was decided, under the id of the tool itself', async () => {
    const gate = gateWith({
      model: { name: 'm', complete: async () => 'Perhaps.' },
      policies: { always: ['Send nothing on Sundays.'], phases: {} },
    });
    const hooks = createHooks([{ id: 'a', at: 'before', run: () => ({ outcome: 'allow' }) }]);
    const { dry, store } = await rehearsed({ gate, hooks });
    const execution_options = { phase: 'planner', claim_source: 'somebody' } as const;
    const answer = await dry({ execution_options });
    const gate_decision = { allowed: false, answer: 'UNANSWERED', because: 'not_one_word' };
    expect(answer).toMatchObject({ would: 'refuse', gate_decision, error: { e_code: 'E3206' } });
    expect(answer).not.toHaveProperty('hooks');
    const [entry] = await store.events(undefined, { limit: 9 });
    const { grant: _grant, stages: _stages, side_effect_policy: _effect, error: _error, ...shared } = answer;
    const { gate_decision: adversarial_policy_decision, ...said } = shared;
    expect(entry?.event.data).toEqual({
      ...said,
      adversarial_policy_decision,
      tenant_id: 'acme',
      agent_did: 'did:agent:a',
      door: 'library',
      input_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      e_code: 'E3206',
      claim_source: 'somebody',
    });
  });

  test('PIPE-15 is under the id of the tool, not under the name in the view of its agent, and says which hooks agreed', async () => {
    const hooks = createHooks([{ id: 'a', at: 'before', run: () => ({ outcome: 'allow' }) }]);
    const { store, parts, token, add } = await rehearsed({ hooks });
    await add(manifest('ranged', { compatibility_range: '^2.0.0' }), () => 1);
    const capability_token = await token({ secrets: ['key'] });
    const findAnywhere: typeof parts.visible.findAnywhere = (who, name, range) =>
      parts.visible.findAnywhere(who, name === 'nickname' ? 'write' : name, range);
    const dry = createRehearsal({ ...parts, visible: { ...parts.visible, findAnywhere } });
    const rehearsal = (tool_id: string) =>
      dry({ request: { tool_id, parameters: { n: 1 }, capability_token }, caller: { door: 'library' } });
    const warnings = [expect.objectContaining({ code: 'agent_version_unstated' })];
    expect(await rehearsal('ranged')).toMatchObject({ would: 'run', warnings });
    const agreed = [{ id: 'a', outcome: 'allow' }];
    expect(await rehearsal('nickname')).toMatchObject({ would: 'run', tool_id: 'nickname', hooks: agreed });
    const { stages, ...nowhere } = await rehearsal('nowhere');
    expect(nowhere).toEqual({
      ...{ would: 'refuse', tool_id: 'nowhere', error: expect.objectContaining({ e_code: 'E3001' }) },
    });
    expect(stages.map(({ outcome }) => outcome)).toEqual(['passed', 'refused', ...Array(7).fill('not_reached')]);
    const events = (await store.events(undefined, { limit: 9 })).map(({ event }) => event.data);
    expect(events).toMatchObject([
      { tool_id: 'ranged' },
      { tool_id: 'write', would: 'run', hooks: agreed },
      { tool_id: 'nowhere', e_code: 'E3001' },
    ]);
  });

  test('PIPE-15 is an answer also where it is not on record, and a fault of the layer goes to the log', async () => {
    const lines: unknown[] = [];
    const note = (...line: unknown[]) => void lines.push(line);
    const log = { ...silentLog, warn: note, error: note };
    const memory = memoryLedgerStore();
    const store = { ...memory, append: () => Promise.reject(new ToolLayerError('E3812', 'The disk is full.')) };
    const { dry } = await rehearsed({ log, store });
    expect(await dry()).toMatchObject({ would: 'run' });
    expect(lines.splice(0)).toContainEqual(['dry-run-not-recorded', { e_code: 'E3812' }]);
    const decide = () => {
      throw new Error('broken');
    };
    const broken = await rehearsed({ log, policy: { decide, clear() {} } });
    expect(await broken.dry()).toMatchObject({ would: 'refuse', error: { e_code: 'E3900' } });
    expect(lines).toEqual([['dry-run-failed', { stage: 'authorize', cause: expect.stringContaining('broken') }]]);
  });

  test('PIPE-15 is no more load than 64 at once; one more is asked to try again', async () => {
    const gate = Promise.withResolvers<void>();
    const decide = async () => {
      await gate.promise;
      return { allowed: true, policies: [], engine: 'e', version: '1' };
    };
    const { dry } = await rehearsed({ policy: { decide, clear() {} } });
    const all = Array.from({ length: 64 }, () => dry());
    await expect(dry()).rejects.toMatchObject({ code: 'E3803', failure: { retryAfterMs: 250 } });
    gate.resolve();
    expect((await Promise.all(all)).every(({ would }) => would === 'run')).toBe(true);
    expect(await dry()).toMatchObject({ would: 'run' });
  });
});

describe('the judgement of an edit', () => {
  const approval = { approvalId: 'a', reason: 'executor', requestedAt: 1, expiresAt: 2 } as const;
  const approvalQuestions: ApprovalQuestions = {
    standing: () => undefined,
    question: (asked) => ({ ...approval, binding: asked.binding }),
  };

  test('ORC-03.8 goes through the stages of the call without effect, with the question that the approver saw', async () => {
    const binding = { question: 'It is odd.' } as ApprovalBinding;
    const made = await rehearsed({ approvalQuestions });
    const record = await made.call({ tool_id: 'asks', execution_options: { idempotency_key: 'k' } });
    if (record.waiting === undefined) throw new Error('the call does not wait');
    const nothing = () => {
      throw new Error('an edit takes nothing');
    };
    const judge = createEditJudge({
      ...made.parts,
      registry: { ...made.parts.registry, noteUse: nothing },
      running: { ...made.parts.running, find: nothing } as never,
    });
    const waiting = { ...record.waiting, wait: { for: 'approval', approval: { ...approval, binding } } as const };
    const judged = await judge({ ...record, waiting }, { n: 2 });
    expect(judged).toMatchObject({
      ...{ tenantId: 'acme', agentDid: 'did:agent:a', toolId: 'asks', toolVersion: '1.0.0', policyVersion: '1' },
      ...{ inputHash: sha256('{"n":2}'), question: 'It is odd.' },
    });
    const forWorker = { ...record.waiting, wait: { for: 'worker', confirmed: false } as const };
    expect(await judge({ ...record, waiting: forWorker }, { n: 2 })).not.toHaveProperty('question');
    expect(await judge(record, { n: 'x' })).toMatchObject({ code: 'E3502' });
  });

  test('PIPE-14.1 ORC-03.8 asks the hooks, and none may change what the approver has seen', async () => {
    const seen: unknown[] = [];
    const hooks = createHooks([
      {
        id: 'ten',
        at: 'before',
        run: ({ dryRun, arguments: { n } }: HookedCall) => {
          seen.push([dryRun, n]);
          if (n === 13) return { outcome: 'refuse', reason: 'Not thirteen.' };
          return { outcome: 'rewrite', arguments: { n: Math.min(Number(n), 10) } };
        },
      },
    ]);
    const made = await rehearsed({ hooks, approvalQuestions });
    const record = await made.call({ tool_id: 'asks' });
    const judge = createEditJudge(made.parts);
    expect(await judge(record, { n: 13 })).toMatchObject({ code: 'E3815' });
    expect(await judge(record, { n: 11 })).toMatchObject({ code: 'E3817', details: { hooks: ['ten'] } });
    expect(await judge(record, { n: 10 })).toMatchObject({ toolId: 'asks', inputHash: sha256('{"n":10}') });
    expect(seen).toEqual([[false, 1], ...[13, 11, 10].map((n) => [true, n])]);
  });
});
