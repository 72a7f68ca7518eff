import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { createCedarPolicyEngine } from './cedar-policy-engine.ts';
import { DEFAULT_POLICIES, DEFAULT_POLICY_FILE, defaultPolicies } from './default-policies.ts';
import { parsePolicies } from './policy-set.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-cedar-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const question = (over: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  principal: { tenantId: 'acme', agentDid: 'did:a', roles: ['agent'] },
  toolId: 'files__write',
  toolVersion: '1.0.0',
  contentHash: 'h',
  source: 'files',
  executor: 'mcp',
  category: 'file_system',
  tags: ['disk'],
  sideEffect: 'irreversible',
  trust: 'trusted',
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

describe('createCedarPolicyEngine', () => {
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
  ])('a policy can judge by %s', async (condition) => {
    await write('a.cedar', `${PERMIT}@id("no")\nforbid (principal, action, resource) when { ${condition} };`);
    const engine = await createCedarPolicyEngine({ folder });
    expect(engine.decide(question())).toEqual({ allowed: false, policies: ['a.cedar:no'] });
    const elsewhere = question({
      principal: { tenantId: 'other', agentDid: 'did:b', userDid: 'u', roles: [] },
      toolId: 'x',
      source: '',
      sideEffect: 'pure',
      tags: [],
      grant: { filesystem: [], network: [], credentials: [], limits: { ...question().grant.limits, memoryMb: 65 } },
    });
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
  ])('%s with a fault is an error with file and line (%#)', async (name, text, line) => {
    await write('good.cedar', PERMIT);
    await write(name, text);
    await expect(createCedarPolicyEngine({ folder })).rejects.toMatchObject({
      code: 'E3900',
      message: expect.stringContaining(`${name}, line ${line}:`),
    });
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
    await expect(engine.reload()).rejects.toMatchObject({ code: 'E3900' });
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

test('the default policies that are loaded unread are those of the default file', async () => {
  const cedar = await import('@cedar-policy/cedar-wasm/nodejs');
  const files = [{ name: DEFAULT_POLICY_FILE, text: defaultPolicies() }];
  expect(parsePolicies(cedar, files)).toEqual(DEFAULT_POLICIES);
});
