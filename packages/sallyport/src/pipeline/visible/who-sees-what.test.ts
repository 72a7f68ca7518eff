import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { CapabilityClaims, Role } from '../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ViewTool } from '../../../api/schemas/visibility.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createVisibleTools } from '../visible-tools.ts';
import { seesAll } from './find.ts';
import type { Asking, FoundTool, TierList, ToolFilter } from './seen-tool.ts';

const AGENT: Principal = { tenantId: 'acme', agentDid: 'did:agent:a', roles: ['agent'] };
const withRoles = (...roles: Role[]): Principal => ({ ...AGENT, roles });
const OPERATOR = withRoles('operator');
const PAGE = { page: 1, pageSize: 50 };
const claims = (tool_id: string): CapabilityClaims =>
  ({ tool_id, allowed_operations: ['execute'] }) as unknown as CapabilityClaims;

/** Notes who listens, and notifies them. */
function source() {
  const listeners = new Set<() => void>();
  return {
    listeners,
    listen: (listener: () => void) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    notify: () => {
      for (const listener of listeners) listener();
    },
  };
}

/** What is seen of the tools `read`, `send` and `sort` of a tenant, and of the tools of the catalogue. */
async function bench(...offered: readonly ToolManifest[]) {
  const { parts, visibility } = await pipeline();
  const { registry } = parts;
  await registry.registerAll(
    'acme',
    ['read', 'send', 'sort'].map((id) => manifest(id)),
  );
  await registry.registerAll('catalog', offered);
  const blocked = new Set<string>();
  const quarantined = source();
  const completed = source();
  const quarantine = {
    blocks: (tenantId: string, tool: string) =>
      blocked.has(`${tenantId}/${tool}`) ? ({ reason: 'changed', upstream: 'up', tool } as const) : undefined,
    supersededBy: () => undefined,
    onChanged: quarantined.listen,
  };
  const gate = { held: new Map<string, string[]>(), boosts: new Map<string, number>(), asked: [] as string[][] };
  const gates = {
    completed: async () => undefined,
    onCompleted: completed.listen,
    shown: async (_principal: Principal, tools: readonly ToolVersion[]) => {
      gate.asked.push(tools.map((tool) => tool.manifest.tool_id));
      return gate;
    },
  };
  const visible = createVisibleTools({ registry, visibility, quarantine, catalogTenant: 'catalog', gates });
  const idOf = (found: FoundTool | Failure): string =>
    isFailure(found) ? found.code : `${found.tool.tenantId}/${found.tool.manifest.tool_id}`;
  return {
    ...{ registry, visibility, visible, blocked, quarantined, completed, gate },
    find: (asking: Asking, name: string) => idOf(visible.find(asking, name)),
    toolOf(tenantId: string, id: string): ToolVersion {
      const found = registry.find(tenantId, id);
      if (isFailure(found)) throw new Error(found.message);
      return found.tool;
    },
    idsOf: (asking: Asking, filter: ToolFilter = {}) =>
      visible.list(asking, filter, PAGE).tools.map(({ tool_id }) => tool_id),
    tierOf: (asking: Asking, list: TierList) =>
      visible
        .tier(asking, list, PAGE)
        .tools.map(({ name, why_unavailable: why }) => (why === undefined ? name : `${name}: ${why.code}`)),
    disable: (tool_id: string, more: { user_did?: string; reason?: string } = {}) =>
      visibility.setActivation('acme', {
        ...{ agent_did: AGENT.agentDid, tool_id, enabled: false, policy_overrides: {} },
        ...more,
      }),
    giveTenant: (tool_id: string, available = true) => visibility.setAvailability('acme', { tool_id, available }),
    async viewOf(tools: ViewTool[], agents = ['*']) {
      const sources = [{ source: 'local', tools }];
      await visibility.putView('acme', { name: 'mine', agents, conflict: 'prefix', sources });
    },
  };
}

test('REG-13 VIS-03.5 a tool that another tool names by its id is found under any name, and never another one', async () => {
  const { visible, viewOf, disable } = await bench();
  const byId = async (id: string) => {
    const found = await visible.findById({ principal: AGENT }, id);
    return isFailure(found) ? found.code : found.tool.manifest.tool_id;
  };
  expect(await byId('send')).toBe('send');
  await viewOf([
    { tool: 'send', name: 'post' },
    { tool: 'sort', name: 'absent' },
  ]);
  expect([await byId('send'), await byId('sort')]).toEqual(['send', 'sort']);
  expect([await byId('read'), await byId('absent'), await byId('post')]).toEqual(Array(3).fill('E3001'));
  await disable('send');
  expect(await byId('send')).toBe('E3001');
});

describe('who sees all', () => {
  test.each<[Role[], boolean]>([
    [['operator'], true],
    [['admin'], true],
    [['viewer', 'operator'], true],
    [['admin', 'approver'], true],
    [['agent'], false],
    [['viewer'], false],
    [['approver'], false],
    [['viewer', 'approver'], false],
    [['agent', 'operator'], false],
    [['admin', 'agent'], false],
    [[], false],
  ])('VIS-01 PRM-10 with the roles %j sees what is disabled, or not in the view: %s', async (roles, expected) => {
    const { visible, find, idsOf, tierOf, disable, viewOf } = await bench();
    const asking = { principal: withRoles(...roles) };
    expect(seesAll(asking.principal)).toBe(expected);
    await disable('read');
    await viewOf([{ tool: 'read' }, { tool: 'send', name: 'post' }]);
    const all = ['read', 'send', 'sort'];
    expect(all.map((name) => find(asking, name))).toEqual(
      expected ? ['acme/read', 'acme/send', 'acme/sort'] : ['E3001', 'E3001', 'E3001'],
    );
    expect(all.map((name) => isFailure(visible.read(asking, name)))).toEqual(all.map(() => !expected));
    expect([idsOf(asking), tierOf(asking, 'agent-enabled')]).toEqual(expected ? [all, all] : [['post'], ['post']]);
    expect(visible.tools(asking).map(({ name }) => name)).toEqual(expected ? all : ['post']);
    expect(tierOf(asking, 'agent-unavailable')).toEqual(
      expected ? [] : ['read: disabled_for_agent', 'sort: not_in_view'],
    );
    expect(find(asking, 'post')).toBe(expected ? 'E3001' : 'acme/send');
  });

  test('PRM-10 who sees all calls no tool by a name of the view, and its token counts for ids', async () => {
    const { visible, viewOf } = await bench();
    await viewOf([{ tool: 'send', name: 'post' }]);
    const codeOf = async (principal: Principal, covers: string, name: string) => {
      const found = await visible.findAnywhere({ principal, claims: claims(covers) }, name);
      return isFailure(found) ? found.code : found.tool.manifest.tool_id;
    };
    expect([await codeOf(OPERATOR, 'send', 'post'), await codeOf(OPERATOR, 'send', 'send')]).toEqual(['E3209', 'send']);
    expect([await codeOf(AGENT, 'send', 'post'), await codeOf(AGENT, 'read', 'post')]).toEqual(['send', 'E3209']);
    expect([await codeOf(AGENT, 'post', 'post'), await codeOf(AGENT, 'read', 'zzzzzzzz')]).toEqual(['E3001', 'E3209']);
    const far = await visible.findAnywhere({ principal: AGENT, claims: claims('read') }, 'zzzzzzzz');
    expect(isFailure(far) && far.details).toBe(undefined);
  });

  test('VIS-01.3 an activation for a user counts for that user before the one for all, and is said to be theirs', async () => {
    const { visible, find, disable, visibility } = await bench();
    await disable('read', { user_did: 'did:user:u' });
    const [user, other] = ['did:user:u', 'did:user:v'].map((userDid) => ({ principal: { ...AGENT, userDid } }));
    if (user === undefined || other === undefined) throw new Error('there are two');
    expect([find(user, 'read'), find(other, 'read'), find({ principal: AGENT }, 'read')]).toEqual([
      ...['E3001', 'acme/read', 'acme/read'],
    ]);
    const enabled = {
      agent_did: AGENT.agentDid,
      enabled: true,
      policy_overrides: { requires_approval: true },
    } as const;
    await visibility.setActivation('acme', { ...enabled, tool_id: 'send', user_did: 'did:user:u' });
    await visibility.setActivation('acme', { ...enabled, tool_id: 'sort' });
    const overrides = { requires_approval: true };
    expect(visible.find(user, 'send')).toMatchObject({ overrides, overridesUser: 'did:user:u' });
    expect(visible.find(other, 'send')).not.toHaveProperty('overrides');
    expect(visible.find(other, 'sort')).toMatchObject({ overrides });
    expect(visible.find(other, 'sort')).not.toHaveProperty('overridesUser');
    const approvals = (asking: Asking) =>
      visible.list(asking, {}, PAGE).tools.map(({ requires_approval }) => requires_approval);
    expect([approvals(user), approvals(other)]).toEqual([
      [true, true],
      [false, false, true],
    ]);
  });
});

describe('tools of other tenants', () => {
  test('PRM-10 VIS-01.1 are seen by no agent, but those of the catalogue that its tenant was given and does not hide', async () => {
    const { registry, visible, toolOf, giveTenant, find } = await bench(manifest('shared'), manifest('read'));
    await registry.register('globex', manifest('others'));
    const see = (tool: ToolVersion) => visible.seenBy({ principal: AGENT })(tool)?.name;
    const [others, shared, read] = [toolOf('globex', 'others'), toolOf('catalog', 'shared'), toolOf('catalog', 'read')];
    expect([others, shared, read].map(see)).toEqual([undefined, undefined, undefined]);
    for (const id of ['others', 'shared', 'read']) await giveTenant(id);
    expect([others, shared, read, toolOf('acme', 'read')].map(see)).toEqual([undefined, 'shared', undefined, 'read']);
    expect(['others', 'shared', 'read'].map((name) => find({ principal: AGENT }, name))).toEqual([
      ...['E3001', 'catalog/shared', 'acme/read'],
    ]);
    await giveTenant('shared', false);
    expect([see(shared), find({ principal: AGENT }, 'shared')]).toEqual([undefined, 'E3001']);
  });

  test('VIS-01.1 of the catalogue come and go with it, beside what the tenant has, in the order of ids', async () => {
    const { registry, giveTenant, idsOf, tierOf, visibility } = await bench(manifest('read'));
    const [agent, operator] = [{ principal: AGENT }, { principal: OPERATOR }];
    for (const id of ['report', 'read']) await giveTenant(id);
    await giveTenant('send', false);
    expect([idsOf(agent), idsOf(operator)]).toEqual([
      ['read', 'sort'],
      ['read', 'send', 'sort'],
    ]);
    await registry.register('catalog', manifest('report'));
    expect([idsOf(agent), idsOf(operator), tierOf(agent, 'tenant-available')]).toEqual([
      ['read', 'report', 'sort'],
      ['read', 'report', 'send', 'sort'],
      ['read', 'report', 'sort'],
    ]);
    await registry.register('acme', manifest('quote'));
    expect(idsOf(agent)).toEqual(['quote', 'read', 'report', 'sort']);
    await registry.removeAll('catalog', ['report']);
    expect(idsOf(agent)).toEqual(['quote', 'read', 'sort']);
    await visibility.setAvailability('catalog', { tool_id: 'read', available: true });
    expect(idsOf({ principal: { ...AGENT, tenantId: 'catalog' } })).toEqual(['read']);
  });

  test('REG-13.7 that a tenant was given keep their name: no view leads it to another tool', async () => {
    const { giveTenant, viewOf, find } = await bench(manifest('shared'));
    await viewOf([{ tool: 'read', name: 'shared' }]);
    expect(find({ principal: AGENT }, 'shared')).toBe('acme/read');
    await giveTenant('shared');
    expect(find({ principal: AGENT }, 'shared')).toBe('E3001');
  });

  test('VIS-01 are in quarantine by the tenant that has them', async () => {
    const { blocked, giveTenant, find, idsOf, tierOf } = await bench(manifest('shared'));
    await giveTenant('shared');
    const agent = { principal: AGENT };
    blocked.add('acme/shared').add('catalog/read');
    expect([find(agent, 'shared'), idsOf(agent)]).toEqual(['catalog/shared', ['read', 'send', 'shared', 'sort']]);
    expect(tierOf(agent, 'agent-unavailable')).toEqual([]);
    blocked.add('catalog/shared');
    expect([find(agent, 'shared'), idsOf(agent)]).toEqual(['E3813', ['read', 'send', 'sort']]);
    for (const principal of [AGENT, OPERATOR]) {
      expect(tierOf({ principal }, 'agent-unavailable')).toEqual(['shared: quarantined']);
      expect(tierOf({ principal }, 'agent-enabled')).toEqual(['read', 'send', 'sort']);
    }
  });
});

describe('why a tool is missing', () => {
  test('VIS-01.1 is said in the words of who made it so, else of the layer', async () => {
    const { visible, registry, disable, giveTenant, viewOf } = await bench(manifest('shared'), manifest('read'));
    const why = (principal: Principal, id: string) => visible.why({ principal }, id)?.message;
    expect(why(AGENT, 'shared')).toMatch(/^It is on offer/);
    await disable('read');
    await disable('send', { reason: 'Not yours.' });
    await giveTenant('sort', false);
    expect(['read', 'send', 'sort'].map((id) => why(AGENT, id))).toEqual([
      ...[expect.stringMatching(/^It is disabled/), 'Not yours.', expect.stringMatching(/^An operator made it/)],
    ]);
    expect(['read', 'send'].map((id) => why(OPERATOR, id))).toEqual([undefined, undefined]);
    await viewOf([{ tool: 'read' }], ['did:agent:b']);
    const viewed = { ...AGENT, agentDid: 'did:agent:b' };
    expect([why(viewed, 'read'), why(viewed, 'send')]).toEqual([undefined, expect.stringContaining('view mine')]);
    const said = (principal: Principal, id: string) => {
      const found = visible.find({ principal }, id);
      return isFailure(found) ? found.message : found;
    };
    expect(said(OPERATOR, 'sort')).toMatch(/^sort was made unavailable/);
    for (const missing of [said(AGENT, 'sort'), said(OPERATOR, 'none'), said(OPERATOR, 'shared')])
      expect(missing).not.toMatch(/unavailable/);
    const read = (id: string, covers = '*') => {
      const found = visible.read({ principal: OPERATOR, claims: claims(covers) }, id);
      return isFailure(found) ? found.code : found.tool.tenantId;
    };
    const known = ['read', 'shared', 'none', 'sort'].map((id) => read(id));
    expect([known, read('sort', 'read')]).toEqual([['acme', 'catalog', 'E3001', 'acme'], 'E3001']);
    await registry.removeAll('acme', ['read']);
    expect([why(OPERATOR, 'read'), read('read')]).toEqual([undefined, 'E3004']);
  });

  test('REG-03.6 REG-13 an error names a tool as its caller does, and changes no other word', async () => {
    const { visible, registry, viewOf } = await bench();
    await registry.registerAll(
      'acme',
      ['h.s', 's', 'v'].map((id) => manifest(id)),
    );
    await viewOf([
      { tool: 'h.s', name: 'hers' },
      { tool: 's', name: 'send2' },
      { tool: 'v', name: 'view' },
    ]);
    const said = (principal: Principal, name: string, range: string) => {
      const found = visible.find({ principal }, name, range);
      return isFailure(found) ? found.message : found;
    };
    for (const name of ['hers', 'send2', 'view'])
      expect(said(AGENT, name, '9.9.9')).toBe(`${name} has no version 9.9.9. Ask for one of 1.0.0.`);
    expect(said(OPERATOR, 'h.s', '^9')).toMatch(/^No version of h\.s lies/);
    expect(said(AGENT, 'hers', '^9')).toMatch(/^No version of hers lies/);
  });
});

describe('a list', () => {
  test('REG-13 VIS-01 of a view is in the order of its names, page by page', async () => {
    const { visible, viewOf } = await bench();
    await viewOf([
      { tool: 'read', name: 'z' },
      { tool: 'send', name: 'm' },
      { tool: 'sort', name: 'a' },
    ]);
    const asking = { principal: AGENT };
    expect(visible.tools(asking).map(({ name }) => name)).toEqual(['a', 'm', 'z']);
    for (const [page, names] of [
      [1, ['a', 'm']],
      [2, ['z']],
      [3, []],
    ] as const) {
      const list = visible.list(asking, {}, { page, pageSize: 2 });
      const tier = visible.tier(asking, 'agent-enabled', { page, pageSize: 2 });
      expect([list.tools.map((tool) => tool.tool_id), list.total]).toEqual([names, 3]);
      expect([tier.tools.map((tool) => tool.name), tier.total]).toEqual([names, 3]);
    }
    const [first] = visible.list(asking, {}, PAGE).tools;
    expect(first).toEqual({
      ...{ tool_id: 'a', tool_name: 'sort', description: 'For tests.', category: '', versions: ['1.0.0'] },
      ...{ latest_version: '1.0.0', tags: [], requires_approval: false, executor: 'native', state: 'active' },
    });
    expect(visible.tier(asking, 'agent-enabled', PAGE).tools[0]).toEqual({
      ...{ name: 'a', tool_id: 'sort', version: '1.0.0', tool_name: 'sort', description: 'For tests.', tags: [] },
      ...{ executor: 'native', side_effect_policy: 'pure', requires_confirmation: false, requires_approval: false },
    });
  });

  test('VIS-01 under a token is remembered until rules or quarantine change, and not for what a session holds back', async () => {
    const { visible, blocked, quarantined, idsOf, disable } = await bench();
    const held = new Map([['send', ['read']]]);
    const asking = { principal: AGENT, claims: claims('s*') };
    const key = visible.seenKey(asking);
    expect(visible.seenKey({ ...asking })).toBe(key);
    expect(visible.seenKey({ ...asking, claims: claims('s*') })).not.toBe(key);
    expect([visible.seenKey({ ...asking, held }), visible.seenKey({ principal: AGENT })]).toEqual([
      undefined,
      undefined,
    ]);
    expect([idsOf(asking), idsOf({ ...asking, held }), idsOf({ principal: AGENT, held })]).toEqual([
      ['send', 'sort'],
      ['sort'],
      ['read', 'sort'],
    ]);
    blocked.add('acme/send');
    quarantined.notify();
    expect([visible.seenKey(asking) === key, idsOf(asking)]).toEqual([false, ['sort']]);
    await disable('sort');
    expect(idsOf(asking)).toEqual([]);
  });
});

describe('a session', () => {
  test('MOD-05.2 MOD-05.3 holds tools back from whom it narrows, and from nobody else', async () => {
    const { visible, gate } = await bench();
    const inSession = { principal: { ...AGENT, sessionId: 's' }, claims: claims('s*') };
    for (const asking of [{ principal: AGENT }, { principal: { ...OPERATOR, sessionId: 's' } }])
      expect(await visible.gated(asking)).toBe(asking);
    expect(gate.asked).toEqual([]);
    expect(await visible.gated(inSession)).toStrictEqual(inSession);
    gate.held.set('send', ['read']);
    expect(await visible.gated(inSession)).toStrictEqual({ ...inSession, held: gate.held });
    gate.boosts.set('sort', 0.15);
    expect(await visible.gated(inSession)).toStrictEqual({ ...inSession, held: gate.held, boosts: gate.boosts });
    expect(gate.asked).toEqual([1, 2, 3].map(() => ['send', 'sort']));
  });

  test('VIS-07.5 is notified of what changes its lists: tools, rules, quarantine and completions, until it leaves', async () => {
    const { visible, registry, quarantined, completed, disable } = await bench();
    let notified = 0;
    const listening = visible.onChanged(() => {
      notified += 1;
    });
    const all = [
      () => registry.register('acme', manifest(`new-${notified}`)),
      () => disable('read'),
      quarantined.notify,
      completed.notify,
    ];
    for (const [at, change] of all.entries()) {
      await change();
      expect(notified).toBe(at + 1);
    }
    listening[Symbol.dispose]();
    for (const change of all) await change();
    expect([notified, completed.listeners.size]).toEqual([all.length, 0]);
  });
});
