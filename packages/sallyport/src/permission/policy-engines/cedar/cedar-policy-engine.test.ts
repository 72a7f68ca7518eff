import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { policyQuestion } from '../../policies/policy.fixture.ts';
import { policyEngineConformance } from '../../policies/policy-engine.conformance.ts';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { attributesUsed } from './attributes-used.ts';
import { loadCedar, readPolicy } from './cedar-module.ts';
import { createCedarPolicyEngine } from './cedar-policy-engine.ts';
import { DEFAULT_POLICIES, DEFAULT_POLICY_FILE, DEFAULT_USED, defaultPolicies } from './default-policies.ts';
import { parsePolicies } from './policy-set.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-cedar-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const question = (over: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  principal: { tenantId: 'acme', agentDid: 'did:a', roles: ['agent'], trust: 'provisional' },
  toolId: 'files__write',
  toolVersion: '1.0.0',
  contentHash: 'h',
  source: 'files',
  executor: 'mcp',
  category: 'file_system',
  tags: ['disk'],
  sideEffect: 'irreversible',
  argumentFindings: [],
  trust: 'trusted',
  phase: 'planner',
  grant: {
    filesystem: [{ path: '/work', mode: 'rw' }],
    network: [{ host: 'api.example.com', port: 443 }],
    credentials: ['key'],
    limits: { timeoutMs: 1000, cpuMillicores: 500, memoryMb: 64, outputBytesMax: 1 },
  },
  ...over,
});
const write = (name: string, text: string) => writeFile(join(folder, name), text);
const PERMIT = 'permit (principal, action, resource);\n';

const SUITE = `
permit (principal in Tenant::"acme", action, resource in Source::"files");
forbid (principal, action, resource) when { resource.sideEffect == "irreversible" };
forbid (principal, action, resource) when { context has phase && context.phase == "planner" };
forbid (principal, action, resource) when { context.trust == "untrusted" };
`;
const over = (...files: [name: string, text: string][]) =>
  createCedarPolicyEngine({ files: files.map(([name, text]) => ({ name, text })) });

policyEngineConformance(
  test,
  'cedar',
  async () => ({ store: await over(['a.cedar', SUITE]), close: async () => undefined }),
  policyQuestion,
);

// So many policies that they are evaluated in parts.
const OTHERS = Array.from(
  { length: 60 },
  (_, index) => `forbid (principal == Agent::"did:${index}", action, resource in Source::"s${index}");`,
).join('\n');
policyEngineConformance(
  test,
  'cedar, many policies',
  async () => {
    const store = await over(['a.cedar', SUITE], ['b.cedar', OTHERS]);
    await store.warm();
    for (let turn = 0; turn < 3; turn += 1) store.decide(policyQuestion());
    return { store, close: async () => undefined };
  },
  policyQuestion,
);

describe('createCedarPolicyEngine', () => {
  test('OPS-04 of several layers that start at once in a new folder one makes the default policy, whole', async () => {
    const source = { folder: join(folder, 'new') };
    const engines = await Promise.all(Array.from({ length: 8 }, () => createCedarPolicyEngine(source)));
    expect(await readdir(source.folder)).toEqual(['default.cedar']);
    expect(await readFile(join(source.folder, 'default.cedar'), 'utf8')).toBe(defaultPolicies());
    expect(new Set(engines.map((engine) => engine.version())).size).toBe(1);
  });

  test('a new folder gets the default policy, which permits by name', async () => {
    const engine = await createCedarPolicyEngine({ folder: join(folder, 'new') });
    expect(await readFile(join(folder, 'new', 'default.cedar'), 'utf8')).toBe(defaultPolicies());
    expect(await engine.decide(question())).toEqual({
      allowed: true,
      policies: ['default.cedar:permit-what-the-token-allows'],
    });
    const again = await createCedarPolicyEngine({ folder: join(folder, 'new') });
    expect(again.version()).toBe(engine.version());
    await again.warm();
    expect(again.decide(question())).toMatchObject({ allowed: true });
  });

  test.each([
    ['principal.roles.contains("agent")'],
    ['principal in Tenant::"acme"'],
    ['principal.tenant == "acme" && !(principal has user)'],
    ['resource in Source::"files"'],
    ['resource in Tenant::"acme"'],
    ['resource == Tool::"files__write" && resource.tags.contains("disk")'],
    ['resource.sideEffect == "irreversible" && resource.executor == "mcp"'],
    ['context.writes.contains("/work") && context.reads.contains("/work")'],
    ['context.addresses.contains("api.example.com:443") && context.ports.contains(443)'],
    ['context.credentials.contains("key") && context.memoryMb <= 64'],
    ['resource in Server::"files"'],
    ['principal.trust == "provisional" && context.trust == "trusted"'],
    ['context has phase && context.phase == "planner"'],
    ['context.writesUnder.contains("/") && context.readsUnder.contains("/work")'],
    ['context.domains.contains("example.com") && context.hosts.contains("api.example.com")'],
    ['(if context.memoryMb < 65 then principal else principal).did == "did:a"'],
    ['[context.trust, "x"].contains("trusted") && resource.category like "file*"'],
  ])('a policy can judge by %s', async (condition) => {
    await write('a.cedar', `${PERMIT}@id("no")\nforbid (principal, action, resource) when { ${condition} };`);
    const engine = await createCedarPolicyEngine({ folder });
    expect(engine.decide(question())).toEqual({ allowed: false, policies: ['a.cedar:no'] });
    const { phase: _phase, ...unphased } = question();
    const elsewhere: PolicyQuestion = {
      ...unphased,
      principal: { tenantId: 'other', agentDid: 'did:b', userDid: 'u', roles: [] },
      toolId: 'x',
      source: '',
      executor: 'native',
      category: '',
      sideEffect: 'pure',
      trust: 'untrusted',
      tags: [],
      grant: { filesystem: [], network: [], credentials: [], limits: { ...question().grant.limits, memoryMb: 65 } },
    };
    expect(engine.decide(elsewhere)).toEqual({ allowed: true, policies: ['a.cedar:1'] });
  });

  test('what no policy matches is denied without a name', async () => {
    await write('a.cedar', 'permit (principal == Agent::"did:other", action, resource);');
    const engine = await createCedarPolicyEngine({ folder });
    expect(engine.decide(question())).toEqual({ allowed: false, policies: [] });
  });

  test.each([
    ['bad.cedar', '// é\npermit (principal, action, resource)\nwhen { resource.id == };', 3],
    ['bad.cedar', `${PERMIT}\n// a comment\npermit (principal, action, resource) when { resource.nme == "x" };`, 4],
    ['bad.cedar', `${PERMIT}permit (principal == ?principal, action, resource);`, 2],
    ['bad.cedar', `@id("a")\n${PERMIT}@id("a")\n${PERMIT}`, 3],
    ['bad.cedar', 'rubbish', 1],
    ['bad.cedar', `${PERMIT}permit (principal, action, resource) when { resource.sideEffect == "irreversable" };`, 2],
    ['bad.cedar', `${PERMIT}@mode("shadwo")\nforbid (principal, action, resource);`, 2],
  ])('%s with a fault is an error with file and line (%#)', async (name, text, line) => {
    await write('good.cedar', PERMIT);
    await write(name, text);
    await expect(createCedarPolicyEngine({ folder })).rejects.toMatchObject({
      code: 'E3214',
      message: expect.stringContaining(`${name}, line ${line}:`),
    });
  });

  test.each([
    [`${PERMIT}${PERMIT}permit (principal, action, resource) when { resource.nme == "x" };`, 'b.cedar:3'],
    [`${PERMIT}@id("own")\npermit (principal, action, resource) when { resource.nme == "x" };`, 'b.cedar:own'],
    [`${PERMIT}@id("own")\npermit (principal, action, resource) when { 1 };`, 'b.cedar:own'],
    [`${PERMIT}permit (principal, action, resource) when { principal == Nobody::"x" };`, 'b.cedar:2'],
  ])(
    'PRM-04 a fault names the policy by file and @id or position, never by a number of the module (%#)',
    async (text, name) => {
      await write('a.cedar', PERMIT);
      await write('b.cedar', text);
      const { message } = await createCedarPolicyEngine({ folder }).catch((thrown) => thrown);
      expect(message).toContain(`"${name}"`);
      expect(message).not.toMatch(/policy\d/);
    },
  );

  const PRINCIPAL = question().principal;
  const GRANT = question().grant;
  test.each<[string, Partial<PolicyQuestion>]>([
    ['principal.did == "did:a"', { principal: { ...PRINCIPAL, agentDid: 'did:b' } }],
    ['principal.tenant == "acme"', { principal: { ...PRINCIPAL, tenantId: 'globex' } }],
    ['principal.roles.contains("agent")', { principal: { ...PRINCIPAL, roles: ['viewer'] } }],
    ['principal.trust == "provisional"', { principal: { tenantId: 'acme', agentDid: 'did:a', roles: ['agent'] } }],
    ['resource.id == "files__write"', { toolId: 'files__read' }],
    ['resource.version == "1.0.0"', { toolVersion: '1.0.1' }],
    ['resource.contentHash == "h"', { contentHash: 'i' }],
    ['resource.source == "files"', { source: '' }],
    ['resource.executor == "mcp"', { executor: 'native' }],
    ['resource.category == "file_system"', { category: 'external_api' }],
    ['resource.tags.contains("disk")', { tags: [] }],
    ['resource.sideEffect == "irreversible"', { sideEffect: 'pure' }],
    ['context.trust == "trusted"', { trust: 'untrusted' }],
    ['context.argumentFindings.isEmpty()', { argumentFindings: ['xss'] }],
    ['context.reads.contains("/work")', { grant: { ...GRANT, filesystem: [{ path: '/else', mode: 'rw' }] } }],
    ['context.readsUnder.contains("/")', { grant: { ...GRANT, filesystem: [] } }],
    ['context.writes.contains("/work")', { grant: { ...GRANT, filesystem: [{ path: '/work', mode: 'ro' }] } }],
    [
      'context.hosts.contains("api.example.com")',
      { grant: { ...GRANT, network: [{ host: 'example.com', port: 443 }] } },
    ],
    ['context.domains.contains("example.com")', { grant: { ...GRANT, network: [{ host: 'example.org', port: 443 }] } }],
    [
      'context.addresses.contains("api.example.com:443")',
      { grant: { ...GRANT, network: [{ host: 'api.example.com', port: 80 }] } },
    ],
    ['context.credentials.contains("key")', { grant: { ...GRANT, credentials: [] } }],
    ['context.timeoutMs <= 1000', { grant: { ...GRANT, limits: { ...GRANT.limits, timeoutMs: 1000.5 } } }],
  ])('PRM-04.2 %s is judged by the call', async (condition, otherwise) => {
    const policy = `@note\npermit (principal, action, resource) when { ${condition} };`;
    const engine = await over(['a.cedar', policy]);
    expect((await engine.decide(question())).allowed).toBe(true);
    expect((await engine.decide(question(otherwise))).allowed).toBe(false);
  });

  test('policies are named by their place in the file, also beyond ten and when they are alike', async () => {
    const forbid = (id: string) => `forbid (principal == Agent::"${id}", action, resource);\n`;
    await write('a.cedar', PERMIT + PERMIT + Array.from({ length: 10 }, (_, index) => forbid(`did:${index}`)).join(''));
    const engine = await createCedarPolicyEngine({ folder });
    const asked = engine.decide(question({ principal: { tenantId: 'acme', agentDid: 'did:9', roles: [] } }));
    expect(asked).toEqual({ allowed: false, policies: ['a.cedar:12'] });
  });

  test('a policy that fails while it judges denies', async () => {
    await write(
      'a.cedar',
      `${PERMIT}forbid (principal, action, resource) when { context.memoryMb * 9223372036854775807 > 0 };`,
    );
    const engine = await createCedarPolicyEngine({ folder });
    expect(() => engine.decide(question())).toThrow(expect.objectContaining({ code: 'E3206' }));
  });

  test('reload puts new policies in force, and keeps the old ones when the new are faulty', async () => {
    await write('a.cedar', PERMIT);
    const engine = await createCedarPolicyEngine({ folder });
    const before = engine.version();
    await write('a.cedar', 'permit (');
    await expect(engine.reload()).rejects.toMatchObject({ code: 'E3214' });
    expect(engine.version()).toBe(before);
    expect(engine.decide(question())).toMatchObject({ allowed: true });
    await write('a.cedar', `@id("closed")\nforbid (principal, action, resource);`);
    await Promise.all([engine.reload(), engine.reload()]);
    expect(engine.version()).not.toBe(before);
    expect(engine.decide(question())).toEqual({ allowed: false, policies: ['a.cedar:closed'] });
  });

  test('two engines in one process do not meet', async () => {
    await write('a.cedar', PERMIT);
    const first = await createCedarPolicyEngine({ folder });
    const second = await createCedarPolicyEngine({ folder });
    await write('a.cedar', 'forbid (principal, action, resource);');
    await second.reload();
    expect(first.decide(question())).toMatchObject({ allowed: true });
    expect(second.decide(question())).toMatchObject({ allowed: false });
  });
});

test('hundreds of policies decide alike whether they are asked whole or in parts', async () => {
  const texts = Array.from({ length: 300 }, (_, at) =>
    at % 7 === 0
      ? `permit (principal in Tenant::"t${at % 3}", action, resource == Tool::"tool${at % 20}");`
      : at % 11 === 0
        ? `forbid (principal is Agent in User::"u${at % 4}", action == Action::"invoke", resource is Tool);`
        : `forbid (principal == Agent::"did:${at % 40}", action in [Action::"invoke"], resource in Server::"s${at % 5}");`,
  );
  const engine = await over(['a.cedar', texts.join('\n')]);
  const questions = Array.from({ length: 120 }, (_, at) => {
    const user = at % 2 === 0 ? {} : { userDid: `u${at % 5}` };
    const principal = { tenantId: `t${at % 4}`, agentDid: `did:${at % 50}`, roles: [], ...user };
    return question({ principal, toolId: `tool${at % 25}`, source: at % 3 === 0 ? `s${at % 6}` : '' });
  });
  const before = questions.map((asked) => engine.decide(asked));
  expect(new Set(before.map((made) => 'allowed' in made && made.allowed)).size).toBe(2);
  await engine.warm();
  for (let turn = 0; turn < 3; turn += 1) expect(questions.map((asked) => engine.decide(asked))).toEqual(before);
});

describe('shadow mode', () => {
  const FORBID = '@id("no")\n@mode("shadow")\nforbid (principal, action, resource);\n';

  test('PIPE-15.4 a policy in shadow mode is told where it would decide otherwise, and not enforced', async () => {
    const engine = await over(['a.cedar', PERMIT + FORBID]);
    expect(engine.decide(question())).toEqual({
      allowed: true,
      policies: ['a.cedar:1'],
      shadow: { allowed: false, policies: ['a.cedar:no'] },
    });
    expect(engine.policies().map(({ name, effect, mode }) => [name, effect, mode])).toEqual([
      ['a.cedar:1', 'allow', 'enforce'],
      ['a.cedar:no', 'deny', 'shadow'],
    ]);
  });

  test('where it would decide alike nothing is told; a file can be in shadow mode as a whole', async () => {
    const engine = await over(
      ['a.cedar', PERMIT],
      ['b.shadow.cedar', 'forbid (principal == Agent::"did:b", action, resource);'],
    );
    expect(engine.decide(question())).toEqual({ allowed: true, policies: ['a.cedar:1'] });
    const asked = question({ principal: { ...question().principal, agentDid: 'did:b' } });
    expect(engine.decide(asked)).toMatchObject({
      allowed: true,
      shadow: { allowed: false, policies: ['b.shadow.cedar:1'] },
    });
  });

  test('a permit in shadow mode permits nothing', async () => {
    const engine = await over(['a.shadow.cedar', PERMIT]);
    expect(engine.decide(question())).toEqual({
      allowed: false,
      policies: [],
      shadow: { allowed: true, policies: ['a.shadow.cedar:1'] },
    });
  });

  test('PIPE-15 one that fails while it judges changes nothing, and is told', async () => {
    const fails = 'forbid (principal, action, resource) when { context.memoryMb * 9223372036854775807 > 0 };';
    const engine = await over(['a.cedar', PERMIT], ['b.shadow.cedar', fails]);
    expect(engine.decide(question())).toMatchObject({
      allowed: true,
      shadow: { allowed: false, error: expect.stringContaining('b.shadow.cedar:1') },
    });
  });

  test.each([
    ['b.shadow.cedar', 'rubbish'],
    ['b.shadow.cedar', 'forbid (principal, action, resource) when { resource.nme == "x" };'],
    ['b.cedar', '@mode("shadow")\nforbid (principal, action, resource) when { resource.nme == "x" };'],
  ])('a fault in shadow mode leaves the others in force and is told (%#)', async (name, text) => {
    const engine = await over(['a.cedar', PERMIT], [name, text]);
    expect(engine.decide(question())).toEqual({ allowed: true, policies: ['a.cedar:1'] });
    expect(engine.faults()).toMatchObject([{ file: name, line: expect.any(Number) }]);
  });
});

test('a folder that has lost its policies keeps those in force: the default is for new folders only', async () => {
  await write('a.cedar', '@id("closed")\nforbid (principal, action, resource);');
  const engine = await createCedarPolicyEngine({ folder });
  await rm(join(folder, 'a.cedar'));
  await expect(engine.reload()).rejects.toMatchObject({ code: 'E3214' });
  expect(engine.decide(question())).toEqual({ allowed: false, policies: ['a.cedar:closed'] });
});

test('PRM-04.1 texts without a policy deny everything, and make no file', async () => {
  const engine = await over();
  expect(await engine.decide(question())).toEqual({ allowed: false, policies: [] });
  expect(engine.policies()).toEqual([]);
  expect(engine.faults()).toEqual([]);
});

test('the default policies that are loaded unread are those of the default file', async () => {
  const cedar = await loadCedar();
  const files = [{ name: DEFAULT_POLICY_FILE, text: defaultPolicies() }];
  expect(parsePolicies(cedar, files)).toEqual({ policies: DEFAULT_POLICIES, leftOut: [] });
  expect(attributesUsed(DEFAULT_POLICIES.map(({ text }) => readPolicy(cedar, text)))).toEqual(DEFAULT_USED);
});
