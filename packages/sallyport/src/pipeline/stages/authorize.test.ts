import { createSanitiser } from '@sallyport/guards';
import { failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import type { LanguageModelPrompt } from '../../domain/language-model/language-model.port.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import type { Executor } from '../../executors/executor.port.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { decisionsOf, gateWith } from '../../permission/gates/gates.fixture.ts';
import { type PolicyServer, policyServer, sendJson } from '../../permission/policies/policy.fixture.ts';
import type { PolicyDecision, PolicyQuestion } from '../../permission/policy-engine.port.ts';
import { createOpaPolicyEngine } from '../../permission/policy-engines/opa/opa-policy-engine.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

const states = (events: readonly { data: Record<string, unknown> }[]) => events.map(({ data }) => data['state']);
const ofState = (events: readonly { data: Record<string, unknown> }[], state: string) =>
  events.find(({ data }) => data['state'] === state)?.data;

describe('a caller whose token is not for the tool', () => {
  test('learns nothing from the faults of its arguments', async () => {
    const { add, call, token, eventsOf } = await pipeline();
    await add(manifest('double'), () => 1);
    const wrong = { tool_id: 'double', parameters: { m: 'x' } };
    const elsewhere = { ...wrong, agent_context: { agent_did: 'did:agent:b', tenant_id: 'acme' } };
    for (const request of [{ ...wrong, capability_token: await token({ tool_id: 'other' }) }, elsewhere]) {
      const record = await call(request);
      expect(record).toMatchObject({ state: 'DENIED', failure: { code: 'E3209' } });
      expect(JSON.stringify(record)).not.toContain('/n');
      expect(states(await eventsOf(record.invocationId))).toEqual(['DECLARED', 'DENIED']);
    }
    expect((await call(wrong)).failure?.code).toBe('E3509');
  });

  test('PRM-01 learns nothing from attacks in its arguments either', async () => {
    const argumentSanitiser = createSanitiser({ actions: { xss: 'reject' } });
    const { add, call, token } = await pipeline({ values: { argumentSanitiser } });
    const parameters_schema = {
      type: 'object',
      properties: { page: { type: 'string', 'x-content': 'html-fragment' } },
    };
    await add(manifest('show', { parameters_schema }), () => 1);
    const attack = { tool_id: 'show', parameters: { page: '<script>alert(1)</script>' } };
    expect((await call(attack)).failure?.code).toBe('E3504');
    const capability_token = await token({ tool_version: '^2.0.0' });
    expect(await call({ ...attack, capability_token })).toMatchObject({ state: 'DENIED', failure: { code: 'E3209' } });
  });
});

describe('the language model that judges calls', () => {
  async function judged(answer: string, failOpen = false) {
    const prompts: LanguageModelPrompt[] = [];
    const complete = async (prompt: LanguageModelPrompt) => {
      prompts.push(prompt);
      return answer;
    };
    const policies = { always: ['Spend nothing.'], phases: {} };
    const gate = gateWith({ model: { name: 'm', complete }, policies, failOpen });
    const made = await pipeline({ gate });
    await made.add(manifest('pay'), () => 'paid');
    const options = { phase: 'executor', claim_source: 'mail from "Bob"' } as const;
    const record = await made.call({ tool_id: 'pay', parameters: { n: 1 }, execution_options: options });
    return { record, prompts, events: await made.eventsOf(record.invocationId), ...made };
  }

  test('PRM-09.4 PRM-08.1 PRM-08.6 AUD-01.6 lets a call run, and its decision, the phase and the claimed source are in audit and record', async () => {
    const { record, prompts, events } = await judged('ALLOW');
    expect(record).toMatchObject({
      state: 'COMPLETED',
      phase: 'executor',
      claimSource: 'mail from "Bob"',
      gateDecision: { allowed: true, answer: 'ALLOW', model: 'm' },
    });
    const [, shown = ''] = prompts.map(({ user }) => user.split('\n'))[0]?.filter((line) => line[0] !== '`') ?? [];
    expect(JSON.parse(shown)).toEqual({
      tool: 'pay',
      version: '1.0.0',
      side_effect: 'pure',
      phase: 'executor',
      claimed_source: 'mail from "Bob"',
      arguments: { n: 1 },
    });
    expect(prompts).toHaveLength(1);
    expect(ofState(events, 'AUTHORIZED')).toMatchObject({
      adversarial_policy_decision: { allowed: true, answer: 'ALLOW', model: 'm', version: expect.any(String) },
      claim_source: 'mail from "Bob"',
      phase: 'executor',
      policy_decision: { allowed: true, policies: ['permit'] },
    });
  });

  test('PRM-08.1 PRM-08.6 denies a call, which nobody asks about again', async () => {
    const { record, prompts, events } = await judged('DENY');
    expect(record).toMatchObject({
      state: 'DENIED',
      failure: { code: 'E3210', details: { gate: 'adversarial' } },
      gateDecision: { answer: 'DENY' },
    });
    expect(prompts).toHaveLength(1);
    expect(states(events)).toEqual(['DECLARED', 'VALIDATED', 'DENIED']);
    expect(ofState(events, 'DENIED')).toMatchObject({
      adversarial_policy_decision: { allowed: false, answer: 'DENY' },
      policy_decision: { allowed: true },
      phase: 'executor',
      claim_source: 'mail from "Bob"',
    });
    expect(record.failure?.message).not.toContain('Spend nothing');
  });

  test('PRM-08.1 PRM-08.4 that gives no usable answer denies, unless the gate fails open', async () => {
    const closed = await judged('ALLOW because…');
    expect(closed.record).toMatchObject({
      state: 'DENIED',
      failure: { code: 'E3206', details: { gate: 'adversarial', because: 'not_one_word' } },
    });
    const open = await judged('ALLOW because…', true);
    expect(open.record).toMatchObject({
      state: 'COMPLETED',
      gateDecision: { allowed: true, answer: 'UNANSWERED', because: 'not_one_word' },
    });
  });

  test('PRM-08 is not asked about what a policy forbids', async () => {
    const complete = () => Promise.reject(new Error('nobody asks'));
    const gate = gateWith({
      model: { name: 'm', complete },
      policies: { always: ['A.'], phases: {} },
    });
    const deny = { name: 'd', version: () => '1', decide: () => ({ allowed: false, policies: ['no'] }) };
    const { add, call } = await pipeline({ gate, policy: decisionsOf(deny) });
    await add(manifest('pay'), () => 'paid');
    const record = await call({ tool_id: 'pay', parameters: { n: 1 } });
    expect(record.failure?.code).toBe('E3210');
    expect(record).not.toHaveProperty('gateDecision');
  });
});

describe('the decision of a policy', () => {
  const decided = async (decision: PolicyDecision) => {
    const engine = { name: 'e', version: () => '1', decide: () => decision };
    const { add, call, eventsOf } = await pipeline({ policy: decisionsOf(engine) });
    await add(manifest('double'), () => 1);
    const { invocationId } = await call({ tool_id: 'double', parameters: { n: 1 } });
    return eventsOf(invocationId);
  };

  test('PIPE-15.3 PIPE-15.4 of policies in shadow mode is recorded and not enforced', async () => {
    const shadow = { allowed: false, policies: ['tomorrow'] };
    const events = await decided({ allowed: true, policies: ['permit'], shadow });
    expect(states(events).at(-1)).toBe('COMPLETED');
    expect(ofState(events, 'AUTHORIZED')?.['policy_decision']).toMatchObject({
      allowed: true,
      policies: ['permit'],
      shadow,
    });
    for (const state of ['DECLARED', 'VALIDATED', 'EXECUTING', 'COMPLETED'])
      expect(ofState(events, state)).not.toHaveProperty('policy_decision');
  });

  test('stands in the event of the refusal, with names of bounded length and number', async () => {
    const policies = Array.from({ length: 40 }, (_, at) => `${at}-${'x'.repeat(1000)}`);
    const data = ofState(await decided({ allowed: false, policies }), 'DENIED');
    const told = data?.['policy_decision'] as { policies: string[] };
    expect(told.policies).toHaveLength(16);
    expect(told.policies.every((name) => name.length === 200)).toBe(true);
  });
});

test('PRM-04 a policy is asked about the tool, its source, its effect, the trust and what the caller states', async () => {
  const asked: PolicyQuestion[] = [];
  const decide = (question: PolicyQuestion) => {
    asked.push(question);
    return { allowed: question.phase === undefined, policies: ['p'] };
  };
  const { add, call, token } = await pipeline({
    policy: decisionsOf({ name: 'e', version: () => '1', decide }),
  });
  await add(
    manifest('mail__send', { category: 'external_api', tags: ['out'], side_effect_policy: 'idempotent' }),
    () => 1,
  );
  await add(manifest('double'), () => 1);
  const capability_token = await token({ trust_level: 'provisional' });
  const parameters = { n: 1 };
  const options = { execution_options: { phase: 'executor' } } as const;
  const refused = await call({ tool_id: 'mail__send', parameters, capability_token, ...options });
  expect(refused).toMatchObject({
    state: 'DENIED',
    trust: 'provisional',
    failure: { code: 'E3210', details: { policies: ['p'] } },
  });
  await call({ tool_id: 'double', parameters });
  expect(asked).toMatchObject([
    {
      toolId: 'mail__send',
      toolVersion: '1.0.0',
      source: 'mail',
      executor: 'native',
      category: 'external_api',
      tags: ['out'],
      sideEffect: 'idempotent',
      trust: 'provisional',
      phase: 'executor',
    },
    { toolId: 'double', source: '', category: '', tags: [], sideEffect: 'pure', trust: 'trusted' },
  ]);
  expect(asked[1]).not.toHaveProperty('phase');
});

describe('a policy server that gives no usable answer', () => {
  test.each<[string, PolicyServer['reply'], string]>([
    ['hangs', () => undefined, 'E3206'],
    ['answers 200 with rubbish', (response) => void response.end('<html>'), 'E3206'],
    ['answers 200 with a text', (response) => sendJson(response, { result: 'true' }), 'E3206'],
    ['answers 200 with {}', (response) => sendJson(response, {}), 'E3210'],
    ['answers 500', (response) => void response.writeHead(500).end(), 'E3206'],
  ])(
    'PRM-04.8 that %s denies the call, which runs nothing, and the next one is asked anew',
    async (what, reply, code) => {
      await using server = await policyServer(reply);
      // Long enough for a real answer, on a busy machine too.
      const timeoutMs = what === 'hangs' ? 1_500 : 10_000;
      const engine = createOpaPolicyEngine({ endpoint: `${server.url}/v1/data/allow`, timeoutMs });
      let runs = 0;
      const { add, call } = await pipeline({ policy: decisionsOf(engine) });
      await add(manifest('guarded'), () => {
        runs += 1;
      });
      const request = { tool_id: 'guarded', parameters: { n: 1 } };
      expect(await call(request)).toMatchObject({ state: 'DENIED', failure: { code } });
      expect(runs).toBe(0);
      if (code === 'E3210') return;
      server.reply = (response) => sendJson(response, { result: true });
      expect((await call(request)).state).toBe('COMPLETED');
    },
  );

  test('PRM-04.8 that is not there denies the call', async () => {
    const server = await policyServer(() => undefined);
    await server[Symbol.asyncDispose]();
    const engine = createOpaPolicyEngine({ endpoint: `${server.url}/v1/data/allow`, timeoutMs: 5000 });
    const { add, call } = await pipeline({ policy: decisionsOf(engine) });
    await add(manifest('guarded'), () => 1);
    const record = await call({ tool_id: 'guarded', parameters: { n: 1 } });
    expect(record).toMatchObject({ state: 'DENIED', failure: { code: 'E3206' } });
  });
});

/** A layer whose policy notes that it was asked, and whose executor may refuse a call, or is the executor of no tool. */
async function overseen(
  more: Partial<Pick<Executor, 'kind' | 'screen' | 'owns' | 'configFaults'>> = {},
  changes: Parameters<typeof pipeline>[0] = {},
  double: Parameters<typeof manifest>[1] = {},
) {
  const asked: string[] = [];
  const ran: unknown[] = [];
  const native = createNativeExecutor();
  const noted = async (call: { readonly parameters: unknown }) => {
    ran.push(call.parameters);
    return { result: 'ran', usage: NO_USAGE };
  };
  const executor = { ...native, execute: noted, executeConfirmed: noted, ...more } as Executor;
  const engine = {
    name: 'e',
    version: () => '1',
    decide: () => {
      asked.push('policy');
      return { allowed: true, policies: ['permit'] };
    },
  };
  const made = await pipeline({
    executors: createCompositeExecutor([executor]),
    policy: decisionsOf(engine),
    ...changes,
  });
  await made.add(manifest('double', double), () => 1);
  return { ...made, asked, ran };
}

const CALL_OF_DOUBLE = { tool_id: 'double', parameters: { n: 1 } };

test('PRM-01 a token for another tool, version or agent runs nothing, whatever the arguments, and no policy is asked', async () => {
  const { call, token, asked, ran } = await overseen();
  const elsewhere = { ...CALL_OF_DOUBLE, agent_context: { agent_did: 'did:agent:b', tenant_id: 'acme' } };
  for (const request of [
    { ...CALL_OF_DOUBLE, capability_token: await token({ tool_id: 'other' }) },
    { ...CALL_OF_DOUBLE, capability_token: await token({ tool_id: 'double', tool_version: '^2.0.0' }) },
    elsewhere,
  ])
    expect(await call(request)).toMatchObject({ state: 'DENIED', failure: { code: 'E3209' } });
  expect([asked, ran]).toEqual([[], []]);
  const capability_token = await token({ tool_id: 'double', tool_version: '^1.0.0' });
  expect(await call({ ...CALL_OF_DOUBLE, capability_token })).toMatchObject({ state: 'COMPLETED' });
  expect([asked, ran]).toEqual([['policy'], [{ n: 1 }]]);
});

test('PRM-03.3 a path among the arguments that the token does not allow runs nothing, and no policy is asked', async () => {
  const { add, call, token, asked, ran } = await overseen();
  const parameters_schema = { type: 'object', properties: { file: { type: 'string', 'x-path': 'ro' } } };
  const permissions = { filesystem: [{ path: '/usr', mode: 'ro' as const }] };
  await add(manifest('read', { parameters_schema, permissions }), () => 1);
  const capability_token = await token({ paths: ['/usr'], mode: 'ro' });
  const read = (file: string) => call({ tool_id: 'read', parameters: { file }, capability_token });
  const refused = await read('/etc/passwd');
  expect(refused).toMatchObject({ state: 'DENIED', trust: 'trusted', failure: { code: 'E3203' } });
  expect([asked, ran]).toEqual([[], []]);
  expect(await read('/usr/lib')).toMatchObject({ state: 'COMPLETED' });
  expect(ran).toEqual([{ file: '/usr/lib' }]);
});

test('EXE-01 a tool that no executor runs is refused, and no policy is asked', async () => {
  let owns = true;
  const { call, asked, ran } = await overseen({ owns: () => owns });
  owns = false;
  expect(await call(CALL_OF_DOUBLE)).toMatchObject({ failure: { code: 'E3901' } });
  expect([asked, ran]).toEqual([[], []]);
});

test('EXE-10 variables of a call for a tool that takes none are refused, and no policy is asked', async () => {
  const { call, asked, ran } = await overseen();
  const refused = await call({ ...CALL_OF_DOUBLE, execution_options: { environment: { COLOUR: 'blue' } } });
  expect(refused).toMatchObject({ failure: { code: 'E3801' } });
  expect([asked, ran]).toEqual([[], []]);
});

test('EXE-02 what the executor never runs is refused before a policy could permit it', async () => {
  const screen: Executor['screen'] = (_tool, { n }) =>
    n === 13 ? failure('E3204', 'This is never run here.') : undefined;
  const { call, asked, ran } = await overseen({ screen });
  expect(await call({ ...CALL_OF_DOUBLE, parameters: { n: 13 } })).toMatchObject({ failure: { code: 'E3204' } });
  expect([asked, ran]).toEqual([[], []]);
  expect(await call(CALL_OF_DOUBLE)).toMatchObject({ state: 'COMPLETED' });
  expect(ran).toEqual([{ n: 1 }]);
});

test('DOC-05 documents for a tool that gets none are refused, and no policy is asked', async () => {
  const documents = { bridge: {}, pins: {}, upstream: 'documents', isPinning: true } as never;
  const http = { kind: 'http', owns: () => true, configFaults: () => [] } as const;
  const { add, call, asked, ran } = await overseen(http, { documents }, { executor: { kind: 'http' } });
  const given = { type: 'array', 'x-documents': true };
  const parameters_schema = { type: 'object', properties: { given } };
  await add(manifest('fetch', { parameters_schema, executor: { kind: 'http' } }), () => 1);
  const forged = await call({ tool_id: 'fetch', parameters: { given: [] } });
  expect(forged).toMatchObject({ failure: { code: 'E3801', details: { parameter: 'given' } } });
  const unmarked = await call({ ...CALL_OF_DOUBLE, document_context: { document_refs: ['spec:a'] } });
  expect(unmarked).toMatchObject({ failure: { code: 'E3901', details: { option: 'document_context' } } });
  expect([asked, ran]).toEqual([[], []]);
});
