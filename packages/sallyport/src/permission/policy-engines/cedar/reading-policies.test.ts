// What the engine reads from the policies itself, so that a question costs little: heads, attributes in use, comparisons that can never hold.
import { beforeAll, describe, expect, test } from 'vitest';
import { policyQuestion } from '../../policies/policy.fixture.ts';
import { ALL_ATTRIBUTES, attributesUsed, impossibleComparison } from './attributes-used.ts';
import { type Cedar, loadCedar, readPolicy } from './cedar-module.ts';
import { cedarRequest } from './cedar-request.ts';
import { eligiblePolicies } from './eligible-policies.ts';
import { policyHead } from './policy-head.ts';

let cedar: Cedar;
beforeAll(async () => {
  cedar = await loadCedar();
});

const ANY = 'permit (principal, action, resource)';
const SETS = ['principal', 'resource', 'context'] as const;

describe('the attributes in use', () => {
  const usedBy = (...texts: string[]) => attributesUsed(texts.map((text) => readPolicy(cedar, text)));
  const names = (used: ReadonlySet<string> | 'all') => (used === 'all' ? used : [...used].sort().join(' '));
  const summary = (...texts: string[]) => {
    const used = usedBy(...texts);
    return [...SETS.map((each) => names(used[each])), used.parents ? 'parents' : ''];
  };

  test.each<[condition: string, principal: string, resource: string, context: string, parents: string]>([
    ['true', '', '', '', ''],
    ['principal.did == "a"', 'did', '', '', ''],
    ['"a" == principal.did', 'did', '', '', ''],
    ['principal has user', 'user', '', '', ''],
    ['principal has user && principal.session like "s*"', 'session user', '', '', ''],
    ['principal.did == resource.id', 'did', 'id', '', ''],
    ['resource.tags.containsAny(principal.roles)', 'roles', 'tags', '', ''],
    ['!(context.phase == "planner" || principal.trust == "x")', 'trust', '', 'phase', ''],
    [
      'if context.trust == "x" then context.memoryMb < 1 else resource.version != "2"',
      '',
      'version',
      'memoryMb trust',
      '',
    ],
    ['[context.trust, principal.did].contains("x")', 'did', '', 'trust', ''],
    ['{a: context.trust}.a == "x"', 'all', 'all', 'all', ''],
    ['(if context.memoryMb < 65 then principal else principal).did == "a"', 'all', 'all', 'all', ''],
    ['(if true then principal else principal) has user', 'all', 'all', 'all', ''],
    ['principal == Agent::"a" && resource == Tool::"t"', '', '', '', ''],
    ['context == {}', '', '', 'all', ''],
    ['[context].contains({})', '', '', 'all', ''],
    ['principal in Tenant::"t"', '', '', '', 'parents'],
    ['resource in [Source::"s", Server::"s"]', '', '', '', 'parents'],
    ['principal is Agent in Tenant::"t"', '', '', '', 'parents'],
    ['principal is Agent', '', '', '', ''],
    ['principal.did == "Var" && principal.tenant == "."', 'did tenant', '', '', ''],
  ])('PRM-04.2 of %s', (condition, ...expected) => {
    expect(summary(`${ANY} when { ${condition} };`)).toEqual(expected);
  });

  test.each([
    ['permit (principal in Tenant::"t", action, resource);', 'parents'],
    ['permit (principal is Agent in Tenant::"t", action, resource);', 'parents'],
    ['permit (principal, action, resource in Source::"s");', 'parents'],
    ['permit (principal, action, resource is Tool in Source::"s");', 'parents'],
    ['permit (principal == Agent::"a", action, resource is Tool);', ''],
  ])('PRM-04.2 of the head %s', (text, parents) => {
    expect(summary(text)).toEqual(['', '', '', parents]);
  });

  test('PRM-04.2 of several policies are those of each; what one uses whole stays whole', () => {
    const texts = ['principal.did == "a"', 'context == {}', 'context.trust == "x" && principal.tenant == "t"'];
    expect(summary(...texts.map((text) => `${ANY} unless { ${text} };`))).toEqual(['did tenant', '', 'all', '']);
  });
});

describe('a comparison that can never hold', () => {
  const faultOf = (condition: string) => {
    const text = `${ANY} when { ${condition} };`;
    return impossibleComparison(text, () => readPolicy(cedar, text).conditions);
  };

  test.each([
    ['resource.sideEffect == "irreversable"', 'resource.sideEffect is never "irreversable"'],
    ['resource.sideEffect != "irreversable"', 'resource.sideEffect is never "irreversable"'],
    ['true && !(context.trust == "x")', 'context.trust is never "x"'],
    ['principal.trust == "king" || context.phase == "x"', 'principal.trust is never "king"'],
    ['resource.category == "x" && context.trust == "trusted" && context.phase == "x"', 'context.phase is never "x"'],
    ['"x" == context.documentMode && context.documentMode == "x"', 'context.documentMode is never "x"'],
    ['[resource.executor == "x"].contains(true)', 'resource.executor is never "x"'],
  ])('PRM-04 is found in %s', (condition, fault) => {
    expect(faultOf(condition)).toMatch(new RegExp(`^${fault}; it is one of \\w+, \\w+`));
  });

  test.each([
    'resource.sideEffect == "pure" && context.trust == "untrusted"',
    'resource.category == "anything" && principal.did == "irreversable"',
    '// resource.sideEffect == "irreversable"\n true',
    'principal.did == "resource.sideEffect == \\"irreversable\\""',
  ])('PRM-04 is none in %s', (condition) => {
    expect(faultOf(condition)).toBeUndefined();
  });

  test('reads the tree of a policy only when its text has such a comparison', () => {
    expect(
      impossibleComparison(`${ANY} when { context.trust == "trusted" };`, () => expect.fail('read')),
    ).toBeUndefined();
  });
});

test.each([
  [`${ANY};`, 'allow', {}],
  ['forbid(principal,action,resource);', 'deny', {}],
  [`@id("a")@mode ( "shadow" )\n${ANY};`, 'allow', { id: 'a', mode: 'shadow' }],
  ['// @id("no") permit\n  @id("yes") // forbid\nforbid (principal, action, resource);', 'deny', { id: 'yes' }],
  [`@note\n@id("a")${ANY};`, 'allow', { note: '', id: 'a' }],
  [`@if("permit")@A_1("")${ANY};`, 'allow', { if: 'permit', A_1: '' }],
  [String.raw`@id("a\"b") forbid (principal, action, resource);`, 'deny', { id: 'a"b' }],
  [String.raw`@id("a\"b") @mode("shadow") ${ANY};`, 'allow', { id: 'a"b', mode: 'shadow' }],
])('PRM-04.2 the head of %s is read as the module reads it', (text, effect, annotations) => {
  expect(policyHead(cedar, text)).toEqual({ effect, annotations });
  expect(readPolicy(cedar, text)).toMatchObject({ effect: effect === 'allow' ? 'permit' : 'forbid' });
});

test('PRM-04 what is no policy is refused, with the reason of the module', () => {
  for (const text of ['permit', 'allow (principal, action, resource);']) {
    expect(() => readPolicy(cedar, text)).toThrow(/^A policy cannot be read: .+\.$/);
    expect(() => policyHead(cedar, `@id("x") ${text.replace('permit', 'perhaps')}`)).toThrow('cannot be read');
  }
});

describe('a question in the terms of Cedar', () => {
  const user = { ...policyQuestion().principal, userDid: 'did:u', sessionId: 's' };
  const full = policyQuestion({
    principal: user,
    phase: 'planner',
    argumentFindings: ['xss'],
    document: { id: 'plan', mode: 'write' },
    grant: {
      filesystem: [
        { path: '/a/b', mode: 'rw' },
        { path: '/', mode: 'ro' },
        { path: '/a/c', mode: 'ro' },
      ],
      network: [
        { host: 'api.example.com', port: 443 },
        { host: '10.0.0.1', port: 1 },
        { host: '::1', port: 2 },
        { host: 'www.example.com', port: 443 },
      ],
      credentials: ['key'],
      limits: { timeoutMs: 1000.5, cpuMillicores: 500.5, memoryMb: 64.5, outputBytesMax: 1 },
    },
  });

  test('PRM-04.2 holds everything that policies can name', () => {
    expect(cedarRequest(full, ALL_ATTRIBUTES)).toEqual({
      principal: { type: 'Agent', id: 'did:a' },
      action: { type: 'Action', id: 'invoke' },
      resource: { type: 'Tool', id: 'files__read' },
      context: {
        phase: 'planner',
        trust: 'trusted',
        argumentFindings: ['xss'],
        reads: ['/a/b', '/', '/a/c'],
        readsUnder: ['/a/b', '/a', '/', '/a/c'],
        writes: ['/a/b'],
        writesUnder: ['/a/b', '/a', '/'],
        hosts: ['api.example.com', '10.0.0.1', '::1', 'www.example.com'],
        domains: ['api.example.com', 'example.com', 'com', '10.0.0.1', '::1', 'www.example.com'],
        ports: [443, 1, 2, 443],
        addresses: ['api.example.com:443', '10.0.0.1:1', '::1:2', 'www.example.com:443'],
        credentials: ['key'],
        timeoutMs: 1001,
        cpuMillicores: 501,
        memoryMb: 65,
        document: 'plan',
        documentMode: 'write',
      },
      entities: [
        {
          uid: { type: 'Agent', id: 'did:a' },
          attrs: { did: 'did:a', tenant: 'acme', user: 'did:u', session: 's', roles: ['agent'], trust: 'trusted' },
          parents: [
            { type: 'User', id: 'did:u' },
            { type: 'Tenant', id: 'acme' },
          ],
        },
        {
          uid: { type: 'Tool', id: 'files__read' },
          attrs: {
            id: 'files__read',
            version: '1.0.0',
            contentHash: 'h',
            source: 'files',
            executor: 'mcp',
            category: 'file_system',
            tags: ['disk'],
            sideEffect: 'pure',
          },
          parents: [
            { type: 'Source', id: 'files' },
            { type: 'Server', id: 'files' },
            { type: 'Tenant', id: 'acme' },
          ],
        },
      ],
    });
  });

  test('PRM-04.2 leaves out what the call does not have, and whom nobody asks about', () => {
    const { trust: _unknown, ...principal } = policyQuestion().principal;
    const bare = cedarRequest(policyQuestion({ principal, source: '', executor: 'native' }), ALL_ATTRIBUTES);
    expect(bare.context).not.toHaveProperty('phase');
    expect(bare.context).not.toHaveProperty('document');
    expect(bare.entities).toMatchObject([
      { attrs: { trust: 'untrusted' }, parents: [{ type: 'Tenant', id: 'acme' }] },
      { parents: [{ type: 'Tenant', id: 'acme' }] },
    ]);
    expect((bare.entities as { attrs: object }[])[0]?.attrs).not.toHaveProperty('user');
    const native = cedarRequest(policyQuestion({ executor: 'shell' }), ALL_ATTRIBUTES);
    expect(native.entities).toMatchObject([
      {},
      {
        parents: [
          { type: 'Source', id: 'files' },
          { type: 'Tenant', id: 'acme' },
        ],
      },
    ]);
  });

  test('PRM-04.2 holds only the attributes that are in use', () => {
    const nothing = {
      principal: new Set<string>(),
      resource: new Set<string>(),
      context: new Set<string>(),
      parents: false,
    };
    expect(cedarRequest(full, nothing)).toMatchObject({ context: {}, entities: [] });
    const some = { ...nothing, principal: new Set(['user']), context: new Set(['trust', 'unknown']) };
    expect(cedarRequest(full, some)).toMatchObject({ context: { trust: 'trusted' } });
    expect(cedarRequest(full, some).entities).toEqual([
      { uid: { type: 'Agent', id: 'did:a' }, attrs: { user: 'did:u' }, parents: [] },
    ]);
    expect(cedarRequest(full, { ...nothing, resource: new Set(['id']) }).entities).toEqual([
      { uid: { type: 'Tool', id: 'files__read' }, attrs: { id: 'files__read' }, parents: [] },
    ]);
    expect(cedarRequest(full, { ...nothing, parents: true }).entities).toMatchObject([
      { attrs: {}, parents: [{ type: 'User' }, { type: 'Tenant' }] },
      { attrs: {}, parents: [{ type: 'Source' }, { type: 'Server' }, { type: 'Tenant' }] },
    ]);
  });
});

test.each<[head: string, matters: boolean]>([
  ['principal, action, resource', true],
  ['principal == Agent::"did:a", action, resource', true],
  ['principal == Agent::"did:b", action, resource', false],
  ['principal == User::"did:a", action, resource', false],
  ['principal in User::"did:u", action, resource', true],
  ['principal in Tenant::"acme", action, resource', true],
  ['principal in Tenant::"globex", action, resource', false],
  ['principal is Agent, action, resource', true],
  ['principal is Tool, action, resource', false],
  ['principal is Agent in Tenant::"acme", action, resource', true],
  ['principal is Agent in Tenant::"globex", action, resource', false],
  ['principal, action == Action::"invoke", resource', true],
  ['principal, action == Action::"read", resource', false],
  ['principal, action in Action::"invoke", resource', true],
  ['principal, action in Action::"read", resource', false],
  ['principal, action in [Action::"read", Action::"invoke"], resource', true],
  ['principal, action in [Action::"read"], resource', false],
  ['principal, action, resource == Tool::"files__read"', true],
  ['principal, action, resource == Tool::"files__write"', false],
  ['principal, action, resource == Source::"files__read"', false],
  ['principal, action, resource in Source::"files"', true],
  ['principal, action, resource in Server::"files"', true],
  ['principal, action, resource in Tenant::"acme"', true],
  ['principal, action, resource in Source::"mail"', false],
  ['principal, action, resource is Tool', true],
  ['principal, action, resource is Agent', false],
  ['principal, action, resource is Tool in Source::"files"', true],
  ['principal == Agent::"did:a", action, resource == Tool::"files__write"', false],
])('PRM-04.2 a policy with the head (%s) matters to a question: %s', (head, matters) => {
  const trees = [`forbid (${head});`, `${ANY};`, `forbid (${head});`].map((text) => readPolicy(cedar, text));
  const asked = policyQuestion({ principal: { ...policyQuestion().principal, userDid: 'did:u' } });
  expect(eligiblePolicies(trees)(asked)).toEqual(matters ? [0, 1, 2] : [1]);
});
