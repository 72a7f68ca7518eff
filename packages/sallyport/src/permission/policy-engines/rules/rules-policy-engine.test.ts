import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { policyQuestion } from '../../policies/policy.fixture.ts';
import { policyEngineConformance } from '../../policies/policy-engine.conformance.ts';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { createRulesPolicyEngine } from './rules-policy-engine.ts';

const SUITE = `
[[tools.policy]]
effect = "deny"
side_effect = "irreversible"
[[tools.policy]]
effect = "deny"
phase = "planner"
[[tools.policy]]
effect = "deny"
trust = "untrusted"
[[tools.policy]]
effect = "allow"
source = "files"
tenant = "acme"
`;
const engineOf = (text: string, name = 'rules.toml') => createRulesPolicyEngine({ files: [{ name, text }] });

policyEngineConformance(
  test,
  'rules',
  async () => ({ store: await engineOf(SUITE), close: async () => undefined }),
  policyQuestion,
);

const rule = (effect: string, more = '', table = 'tools.policy') => `[[${table}]]\neffect = "${effect}"\n${more}\n`;
const AUTHORIZATION = 'tools.authorization.rules';

test('PRM-04 a file without rules is one, and denies', async () => {
  const engine = await engineOf('# nothing yet\n');
  expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: false, policies: [] });
});

describe('the order', () => {
  test('PRM-04.7 the first rule that matches decides', async () => {
    const engine = await engineOf(rule('allow', 'tool = "files__*"') + rule('deny'));
    expect(await engine.decide(policyQuestion())).toEqual({ allowed: true, policies: ['rules.toml:policy.1'] });
    const other = await engine.decide(policyQuestion({ toolId: 'mail__send' }));
    expect(other).toEqual({ allowed: false, policies: ['rules.toml:policy.2'] });
  });

  test('PRM-04.6 policy rules come before authorization rules, wherever they stand', async () => {
    const enabled = '[tools.authorization]\nenabled = true\n';
    const text = enabled + rule('allow', 'id = "late"', AUTHORIZATION) + rule('deny', 'id = "early"');
    expect(await (await engineOf(text)).decide(policyQuestion())).toEqual({
      allowed: false,
      policies: ['rules.toml:early'],
    });
    const engine = await createRulesPolicyEngine({
      files: [
        { name: 'a.rules.toml', text: enabled + rule('deny', '', AUTHORIZATION) },
        { name: 'b.rules.toml', text: rule('allow') },
      ],
    });
    expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: true, policies: ['b.rules.toml:policy.1'] });
  });

  test('authorization rules count only where they are enabled, and that is told', async () => {
    const engine = await engineOf(rule('allow', '', AUTHORIZATION));
    expect(await engine.decide(policyQuestion())).toEqual({ allowed: false, policies: [] });
    expect(engine.faults().map(({ message }) => message)).toEqual([
      'rules.toml: 1 rules of tools.authorization are not in force. Set enabled = true there.',
      'There are no rules in force, so every call is denied.',
    ]);
  });

  test('ask does not allow: it may run once a person has confirmed it', async () => {
    const engine = await engineOf(rule('ask', 'executor = ["shell", "mcp"]'));
    expect(await engine.decide(policyQuestion())).toEqual({
      allowed: false,
      ask: true,
      policies: ['rules.toml:policy.1'],
    });
  });
});

describe('conditions', () => {
  test.each<[string, Partial<PolicyQuestion>]>([
    ['tool = ["x", "files__r*d"]', { toolId: 'files__write' }],
    ['source = "files"', { source: 'mail' }],
    ['category = "file_*"', { category: 'mail' }],
    ['tag = "disk"', { tags: [] }],
    ['agent = "did:*"', { principal: { tenantId: 'acme', agentDid: 'x', roles: [] } }],
    ['tenant = "acme"', { principal: { tenantId: 'acme2', agentDid: 'did:a', roles: [] } }],
    ['role = "agent"', { principal: { tenantId: 'acme', agentDid: 'did:a', roles: ['viewer'] } }],
    ['executor = "mcp"', { executor: 'shell' }],
    ['side_effect = ["pure", "idempotent"]', { sideEffect: 'compensatable' }],
    ['trust = "trusted"', { trust: 'provisional' }],
  ])('%s', async (condition, other) => {
    const engine = await engineOf(rule('allow', condition));
    expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: true });
    expect(await engine.decide(policyQuestion(other))).toMatchObject({ allowed: false });
  });

  test('PRM-09 phase, user and findings match only where there are some', async () => {
    for (const [condition, over] of [
      ['phase = "verifier"', { phase: 'verifier' as const }],
      ['argument_finding = ["xss", "sql_injection"]', { argumentFindings: ['sql_injection' as const] }],
      ['user = "*"', { principal: { ...policyQuestion().principal, userDid: 'u' } }],
    ] as const) {
      const engine = await engineOf(rule('allow', condition));
      expect(await engine.decide(policyQuestion(over))).toMatchObject({ allowed: true });
      expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: false });
    }
  });
});

test.each([
  ['effect = "permit"', 'effect is one of allow, deny, ask'],
  ['effect = "allow"\nside_effect = "irreversable"', 'side_effect is never "irreversable"'],
  ['effect = "allow"\ntools = "x"', 'has no key tools'],
  ['effect = "allow"\ntool = 7', 'tool is a text or a list of texts'],
  ['effect = "allow"\ntool = []', 'tool is a text or a list of texts'],
  ['effect = "allow"\nid = 7', 'id is a text'],
  ['effect = ', 'not valid TOML'],
])('%s is E3214 with its place', async (text, said) => {
  await expect(engineOf(`[[tools.policy]]\n${text}`)).rejects.toMatchObject({
    code: 'E3214',
    message: expect.stringContaining(said),
    failure: { details: { file: 'rules.toml' } },
  });
});

test('a name that is used twice is E3214', async () => {
  await expect(engineOf(rule('allow', 'id = "a"') + rule('deny', 'id = "a"'))).rejects.toMatchObject({ code: 'E3214' });
});

describe('a folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sallyport-rules-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('reload takes new rules, and keeps the old ones when the new are faulty', async () => {
    const write = (text: string) => writeFile(join(folder, 'rules.toml'), text);
    await writeFile(join(folder, 'x.test.toml'), 'no rules');
    await write(rule('allow'));
    const engine = await createRulesPolicyEngine({ folder });
    const before = engine.version();
    await write('rubbish');
    await expect(engine.reload()).rejects.toMatchObject({ code: 'E3214' });
    expect(engine.version()).toBe(before);
    expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: true });
    await write(rule('deny'));
    expect(await engine.reload()).toBe(true);
    expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: false });
    expect(engine.policies()).toMatchObject([
      { name: 'rules.toml:policy.1', effect: 'deny', file: 'rules.toml', line: 1 },
    ]);
  });
});
