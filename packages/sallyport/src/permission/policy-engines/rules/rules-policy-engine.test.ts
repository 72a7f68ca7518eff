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
    ['tenant = "acme"\ntool = "files__*"', { toolId: 'mail__send' }],
    ['tenant = "acme"\ntool = "files__*"', { principal: { tenantId: 'globex', agentDid: 'did:a', roles: ['agent'] } }],
  ])('%s', async (condition, other) => {
    const engine = await engineOf(rule('allow', condition));
    expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: true });
    expect(await engine.decide(policyQuestion(other))).toMatchObject({ allowed: false });
  });

  test('PRM-09 phase, user, findings and document match only where there are some', async () => {
    for (const [condition, over] of [
      ['phase = "verifier"', { phase: 'verifier' as const }],
      ['argument_finding = ["xss", "sql_injection"]', { argumentFindings: ['sql_injection' as const] }],
      ['user = "*"', { principal: { ...policyQuestion().principal, userDid: 'u' } }],
      ['document = "plan*"', { document: { id: 'plan-1', mode: 'read' as const } }],
      ['document_mode = "write"', { document: { id: 'x', mode: 'write' as const } }],
    ] as const) {
      const engine = await engineOf(rule('allow', condition));
      expect(await engine.decide(policyQuestion(over))).toMatchObject({ allowed: true });
      expect(await engine.decide(policyQuestion())).toMatchObject({ allowed: false });
    }
    const another = policyQuestion({ document: { id: 'report', mode: 'read' } });
    for (const condition of ['document = "plan*"', 'document_mode = "write"'])
      expect(await (await engineOf(rule('allow', condition))).decide(another)).toMatchObject({ allowed: false });
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

test.each([
  ['tools = 7', undefined, 'tools must be a table'],
  ['[[tools]]', undefined, 'tools must be a table'],
  ['[rules]', undefined, 'the file has no key rules; it has tools'],
  ['[tools.policy]', undefined, 'tools.policy must be written as [[tools.policy]]'],
  ['[tools.authorization]\nenabled = "yes"', undefined, 'tools.authorization.enabled is true or false'],
  ['[tools.authorization]\nrules = [{ effect = "x" }]', undefined, 'tools.authorization.rules 1: effect is one of'],
  ['[[tools.policy]]\n# the effect\neffect = "permit"', 1, 'tools.policy 1: effect'],
  [`${rule('allow')}[[ tools.policy ]]\neffect = "deny"\ntag = [7]`, 4, 'tools.policy 2: tag is a text'],
  [`${rule('allow')}[[tools.policy]]\neffect = "deny"\nid = [7]`, 4, 'tools.policy 2: id is a text'],
  [`${rule('allow')}[[tools.policy]]\neffect = "deny"\nrole = "king"`, 4, 'tools.policy 2: role is never "king"'],
  [`${rule('deny', 'id = "a"')}\n${rule('allow', 'id = "a"')}`, 5, 'the name "rules.toml:a" is used twice'],
  ['[tools]\nx = [', 2, 'it is not valid TOML: Error: Invalid TOML document'],
])('PRM-04 a file with a fault is refused, with file, line and what to write: %s', async (text, line, message) => {
  const place = line === undefined ? 'rules.toml' : `rules.toml, line ${line}`;
  await expect(engineOf(text)).rejects.toMatchObject({
    code: 'E3214',
    message: expect.stringContaining(`Rule file ${place}: ${message}`),
    failure: { details: line === undefined ? { file: 'rules.toml' } : { file: 'rules.toml', line } },
  });
});

test('PRM-04 ten thousand rules are read, and one more is refused', async () => {
  const rules = (count: number) => '[[tools.policy]]\neffect="deny"\n'.repeat(count);
  expect((await engineOf(rules(10_000))).policies()).toHaveLength(10_000);
  await expect(engineOf(rules(10_001))).rejects.toMatchObject({
    code: 'E3214',
    message: expect.stringContaining('10000'),
  });
});

test('PRM-04 a rule is listed with its place and its text', async () => {
  const enabled = '[tools.authorization]\nenabled = true\n';
  const text = `${enabled}${rule('ask', 'tag = ["a", "b"]', AUTHORIZATION)}${rule('allow', 'id = "all"')}`;
  const engine = await engineOf(text);
  expect(engine.policies()).toEqual([
    {
      name: 'rules.toml:all',
      effect: 'allow',
      mode: 'enforce',
      file: 'rules.toml',
      line: 6,
      text: 'effect = "allow"\nid = "all"',
    },
    {
      name: 'rules.toml:authorization.rules.1',
      effect: 'ask',
      mode: 'enforce',
      file: 'rules.toml',
      line: 3,
      text: 'effect = "ask"\ntag = ["a","b"]',
    },
  ]);
  expect(engine.faults()).toEqual([]);
});

describe('an explanation', () => {
  test('PRM-04 names the rule that allows, and the conditions that hold', async () => {
    const engine = await engineOf(rule('deny', 'tool = "x"') + rule('allow', 'tenant = "acme"\ntag = ["x", "disk"]'));
    expect(await engine.explain(policyQuestion())).toEqual({
      engine: 'rules',
      mode: 'enforce',
      allowed: true,
      decided: [
        expect.objectContaining({
          name: 'rules.toml:policy.2',
          held: ['tenant = acme', 'tag = x or disk'],
          unmet: [],
        }),
      ],
      nearest: [],
      changes: ['The first rule that matches is rules.toml:policy.2. A rule that denies must stand before it.'],
    });
  });

  test('PRM-04 of a refusal names the rules before it that would allow, those that lack least first', async () => {
    const far = rule('allow', 'id = "far"\ntenant = "other"\ntag = "x"\ntool = "files__*"');
    const near = rule('allow', 'id = "near"\nrole = ["admin", "operator"]');
    const late = rule('allow', 'id = "late"\ntag = "never"');
    const engine = await engineOf(
      far + rule('deny', 'id = "other"\ntag = "x"') + near + rule('ask', 'id = "all"') + late,
    );
    const explained = await engine.explain(policyQuestion());
    expect(explained).toMatchObject({ allowed: false, ask: true });
    expect(explained.decided.map(({ name }) => name)).toEqual(['rules.toml:all']);
    expect(explained.nearest.map(({ name, held, unmet }) => [name, held, unmet])).toEqual([
      ['rules.toml:near', [], ['role = admin or operator']],
      ['rules.toml:far', ['tool = files__*'], ['tenant = other', 'tag = x']],
    ]);
    expect(explained.changes).toEqual([
      'The first rule that matches is rules.toml:all. It must no longer match, or a rule that allows must stand before it.',
      'rules.toml:near would allow it if this held: role = admin or operator.',
      'rules.toml:far would allow it if this held: tenant = other; tag = x.',
    ]);
  });

  test('PRM-04 of a call that no rule matches says so, and names five rules at most', async () => {
    const rules = Array.from({ length: 6 }, (_, at) => rule('allow', `id = "r${at}"\ntag = "t${at}"`)).join('');
    const explained = await (await engineOf(rules)).explain(policyQuestion());
    expect(explained).toMatchObject({ allowed: false, decided: [] });
    expect(explained).not.toHaveProperty('ask');
    expect(explained.nearest.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4].map((at) => `rules.toml:r${at}`));
    expect(explained.changes[0]).toBe('No rule matches. Add one that allows this call.');
  });
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
