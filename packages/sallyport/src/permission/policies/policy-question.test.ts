import { MiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from '../policy-engine.port.ts';
import { policyQuestion } from './policy.fixture.ts';
import { policyQuestionOf } from './policy-question.ts';
import { questionDocument } from './question-document.ts';
import { runCases } from './run-cases.ts';

const LIMITS = { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 1024, outputBytesMax: MiB };

test('PRM-04 a hypothetical call that states its tool alone is that of a trusted agent, and of a tool of unknown effect', () => {
  expect(policyQuestionOf({ tool: { tool_id: 'mail__send' } })).toEqual({
    principal: { tenantId: 'default', agentDid: 'did:example:agent', roles: ['agent'], trust: 'trusted' },
    toolId: 'mail__send',
    toolVersion: '1.0.0',
    contentHash: '',
    source: 'mail',
    executor: 'native',
    category: '',
    tags: [],
    sideEffect: 'irreversible',
    grant: { filesystem: [], network: [], credentials: [], limits: LIMITS },
    trust: 'trusted',
    argumentFindings: [],
  });
});

test('PRM-04 a hypothetical call may state everything that a policy can judge by', () => {
  const filesystem = [{ path: '/work', mode: 'ro' as const }];
  const network = [{ host: 'api.example.com', port: 443 }];
  const stated = policyQuestionOf({
    principal: {
      tenant_id: 'acme',
      agent_did: 'did:a',
      user_did: 'did:u',
      session_id: 's',
      roles: ['viewer'],
      trust: 'provisional',
    },
    tool: {
      tool_id: 'read',
      version: '2.1.0',
      content_hash: 'h',
      executor: 'shell',
      category: 'file_system',
      tags: ['disk'],
      side_effect: 'pure',
    },
    context: {
      phase: 'planner',
      trust: 'untrusted',
      argument_findings: ['xss'],
      document: { document_id: 'plan', access_mode: 'write' },
      filesystem,
      network,
      credentials: ['key'],
      timeout_ms: 1,
      cpu_millicores: 2,
      memory_mb: 3,
    },
  });
  expect(stated).toEqual({
    principal: {
      tenantId: 'acme',
      agentDid: 'did:a',
      userDid: 'did:u',
      sessionId: 's',
      roles: ['viewer'],
      trust: 'provisional',
    },
    toolId: 'read',
    toolVersion: '2.1.0',
    contentHash: 'h',
    source: '',
    executor: 'shell',
    category: 'file_system',
    tags: ['disk'],
    sideEffect: 'pure',
    grant: {
      filesystem,
      network,
      credentials: ['key'],
      limits: { timeoutMs: 1, cpuMillicores: 2, memoryMb: 3, outputBytesMax: MiB },
    },
    trust: 'untrusted',
    argumentFindings: ['xss'],
    phase: 'planner',
    document: { id: 'plan', mode: 'write' },
  });
});

test('PRM-04 a hypothetical call is trusted as its agent is, and reads the document that it names', () => {
  const tool = { tool_id: 'x' };
  expect(policyQuestionOf({ tool, principal: { trust: 'provisional' } }).trust).toBe('provisional');
  expect(policyQuestionOf({ tool, context: { document: { document_id: 'plan' } } }).document).toEqual({
    id: 'plan',
    mode: 'read',
  });
  expect(policyQuestionOf({ tool: { tool_id: '__x' } }).source).toBe('');
});

test('PRM-04 a policy server learns of the user, the session, the phase and the document, where there are such', () => {
  const { trust: _unknown, ...principal } = policyQuestion().principal;
  const asked = policyQuestion({
    principal: { ...principal, userDid: 'did:u', sessionId: 's' },
    phase: 'verifier',
    document: { id: 'plan', mode: 'write' },
  });
  expect(questionDocument(asked)).toMatchObject({
    user_did: 'did:u',
    session_id: 's',
    trust_level: 'untrusted',
    operation: 'write',
    phase: 'verifier',
    document: { document_id: 'plan', access_mode: 'write' },
  });
  const [bare] = [questionDocument(policyQuestion())];
  for (const member of ['user_did', 'session_id', 'phase', 'document']) expect(bare).not.toHaveProperty(member);
});

/** Cases are asked of an engine that answers with what the tool is called. */
const ANSWERS: Readonly<Record<string, PolicyDecision>> = {
  runs: { allowed: true, policies: ['a', 'b'] },
  asks: { allowed: false, ask: true, policies: ['q'] },
  fails: { allowed: false, policies: [] },
};
const engine: PolicyEngine = {
  name: 'table',
  version: () => '1',
  decide({ toolId }: PolicyQuestion) {
    const answer = ANSWERS[toolId];
    if (answer === undefined) throw new Error('no such tool');
    return answer;
  },
};
const outcomeOf = async (tool_id: string, expected: 'allow' | 'deny' | 'ask', by?: string | string[]) => {
  const wanted = { name: 'n', tool: { tool_id }, expect: expected, ...(by === undefined ? {} : { by }) };
  const [result] = await runCases(engine, [{ file: 'a.test.toml', wanted }]);
  return result;
};
const about = (expected: string) => ({ file: 'a.test.toml', name: 'n', expected });

test.each([
  ['runs', 'allow', undefined, 'allow', ['a', 'b']],
  ['runs', 'allow', ['b', 'a'], 'allow', ['a', 'b']],
  ['asks', 'ask', 'q', 'ask', ['q']],
  ['fails', 'deny', [], 'deny', []],
] as const)('PRM-04 a case of %s that expects %s by %j passes', async (tool, expected, by, decided, names) => {
  const result = await outcomeOf(tool, expected, typeof by === 'string' || by === undefined ? by : [...by]);
  expect(result).toEqual({ ...about(expected), passed: true, decided, by: names });
});

test.each([
  ['runs', 'deny', undefined, 'allow', 'expected deny, but it is allow by a, b.'],
  ['asks', 'allow', undefined, 'ask', 'expected allow, but it is ask by q.'],
  ['fails', 'ask', 'x', 'deny', 'expected ask, but it is deny by no policy.'],
  ['runs', 'allow', ['a', 'x', 'y'], 'allow', 'it is allow as expected, but by a, b and not by x, y.'],
] as const)(
  'PRM-04 a case of %s that expects %s by %j says what it is',
  async (tool, expected, by, decided, message) => {
    const result = await outcomeOf(tool, expected, typeof by === 'string' || by === undefined ? by : [...by]);
    expect(result).toMatchObject({ passed: false, decided, message });
  },
);

test('PRM-04 a case whose engine fails is no pass, whatever it expects', async () => {
  const result = await outcomeOf('unknown', 'deny');
  expect(result).toMatchObject({ ...about('deny'), passed: false, decided: 'error', by: [] });
  expect(result?.message).toMatch(/ no such tool$/);
});
