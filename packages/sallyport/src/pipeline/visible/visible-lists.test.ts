import { isFailure } from '@sallyport/std/error/failure';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolView } from '../../../api/schemas/visibility.ts';
import { memorySessionToolStore } from '../../../test/stores/outcomes/memory-session-tool-store.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { createDependencyGraph } from '../../registry/dependency-graph.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { SessionToolStore } from '../../visibility/session-tools.port.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createVisibleTools } from '../visible-tools.ts';
import { createDependencyGates } from './dependency-gates.ts';
import type { Asking, TierList, ToolFilter } from './seen-tool.ts';

const AGENT: Principal = { tenantId: 'acme', agentDid: 'did:agent:a', roles: ['agent'] };
const IN_SESSION: Principal = { ...AGENT, sessionId: 's' };
const OPERATOR: Principal = { ...AGENT, roles: ['operator'] };
const ALL = { page: 1, pageSize: 50 };
const claims = (tool_id: string): CapabilityClaims =>
  ({ tool_id, allowed_operations: ['execute'] }) as unknown as CapabilityClaims;

const TOOLS: readonly ToolManifest[] = [
  manifest('read', { category: 'data_access', tags: ['mail', 'daily'] }),
  manifest('send', { category: 'external_api', tags: ['mail'], requires: ['read'] }),
  manifest('sort', { category: 'data_access', tags: ['daily'], prefers: ['read'] }),
];

/** The visibility of the tools above and of the tools that the catalogue offers. */
async function bench(...offered: readonly ToolManifest[]) {
  const { parts, visibility } = await pipeline();
  await parts.registry.registerAll('acme', TOOLS);
  await parts.registry.registerAll('catalog', offered);
  const blocked = new Set<string>();
  const quarantine = {
    blocks: (_tenant: string, toolId: string) => (blocked.has(toolId) ? ({ reason: 'changed' } as never) : undefined),
    supersededBy: () => undefined,
    onChanged: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const { registry } = parts;
  const visible = createVisibleTools({ registry, visibility, quarantine, catalogTenant: 'catalog' });
  const tierOf = (asking: Asking, list: TierList) =>
    visible
      .tier(asking, list, ALL)
      .tools.map(({ name, why_unavailable: why }) => (why === undefined ? name : `${name}: ${why.code}`));
  const idsOf = (asking: Asking, filter: ToolFilter = {}) =>
    visible.list(asking, filter, ALL).tools.map(({ tool_id }) => tool_id);
  return { visible, visibility, blocked, tierOf, idsOf };
}

describe('the lists of an agent', () => {
  test.each([
    [{}, ['first', 'second', 'third']],
    [{ tags: ['mail'] }, ['first', 'second']],
    [{ tags: ['mail', 'daily'] }, ['first']],
    [{ category: 'data_access' }, ['first', 'third']],
    [{ category: 'data_access', tags: ['mail'] }, ['first']],
    [{ executor: 'native' }, ['first', 'second', 'third']],
    [{ executor: 'http' }, []],
  ] as const)('VIS-05 through a view, filtered by %j, are %j: each member has to hold', async (filter, expected) => {
    const { visibility, idsOf } = await bench();
    const names = { read: 'first', send: 'second', sort: 'third' };
    const tools = Object.entries(names).map(([tool, name]) => ({ tool, name }));
    await visibility.putView('acme', {
      ...{ name: 'mine', agents: [AGENT.agentDid], conflict: 'prefix' },
      sources: [{ source: 'local', tools }],
    });
    expect(idsOf({ principal: AGENT }, filter as ToolFilter)).toEqual(expected);
  });

  test('VIS-01.1 say why each missing tool is missing: it waits for an operator, is not in the token, or held back', async () => {
    const { visible, visibility, blocked, tierOf, idsOf } = await bench();
    const held = new Map([['send', ['read']]]);
    const asking = { principal: AGENT, claims: claims('s*'), held };
    blocked.add('sort');
    expect(tierOf(asking, 'agent-unavailable')).toEqual(['read: not_in_token', 'send: held_back', 'sort: quarantined']);
    expect(tierOf(asking, 'tenant-available')).toEqual(['read', 'send', 'sort: quarantined']);
    expect(visible.why(asking, 'send')?.message).toContain('completed in the session: read.');
    expect([visible.why(asking, 'none'), visible.why({ principal: AGENT }, 'read')]).toEqual([undefined, undefined]);
    const [, , waiting] = visible.tier(asking, 'agent-unavailable', ALL).tools;
    expect(waiting).toMatchObject({ tool_name: 'sort', description: expect.stringContaining('Withheld') });
    expect([idsOf(asking), tierOf(asking, 'agent-enabled')]).toEqual([[], []]);
    expect(idsOf({ principal: AGENT, claims: claims('s*') })).toEqual(['send']);
    const confirmed = { tool_id: 'read', enabled: true, policy_overrides: { requires_confirmation: true } };
    await visibility.setActivation('acme', { agent_did: AGENT.agentDid, ...confirmed });
    const shown = visible.tier({ principal: AGENT }, 'tenant-available', ALL).tools;
    expect(shown.map(({ requires_confirmation }) => requires_confirmation)).toEqual([true, false, false]);
  });

  test('VIS-01.3 show what an activation changes to everybody whose calls it changes, an operator too', async () => {
    const { visible, visibility } = await bench();
    const confirmed = { tool_id: 'read', enabled: true, policy_overrides: { requires_approval: true } } as const;
    await visibility.setActivation('acme', { agent_did: AGENT.agentDid, ...confirmed });
    for (const principal of [AGENT, OPERATOR]) {
      expect(visible.find({ principal }, 'read')).toMatchObject({ overrides: { requires_approval: true } });
      const lists = (['agent-enabled', 'tenant-available', 'catalog'] as const).map(
        (list) => visible.tier({ principal }, list, ALL).tools,
      );
      for (const tools of [...lists, visible.list({ principal }, {}, ALL).tools])
        expect(tools.map(({ requires_approval }) => requires_approval)).toEqual([true, false, false]);
    }
  });

  test('VIS-01.1 of an operator hold what a token covers, and of the catalogue what is offered', async () => {
    const { visible, visibility, tierOf, idsOf } = await bench(manifest('shared'), manifest('read'));
    const operator = { principal: OPERATOR };
    expect([idsOf(operator), idsOf({ ...operator, claims: claims('send') })]).toEqual([
      ['read', 'send', 'sort'],
      ['send'],
    ]);
    expect(tierOf(operator, 'catalog')).toEqual(['read', 'send', 'shared: not_in_tenant', 'sort']);
    expect(tierOf({ principal: { ...OPERATOR, tenantId: 'catalog' } }, 'catalog')).toEqual(['read', 'shared']);
    expect(['read', 'shared', 'none'].map((id) => visible.exists('acme', id))).toEqual([true, true, false]);
    await visibility.setAvailability('acme', { tool_id: 'shared', available: true });
    await visibility.setAvailability('acme', { tool_id: 'send', available: false, reason: 'Not now.' });
    expect(tierOf(operator, 'catalog')).toEqual(['read', 'send: not_in_tenant', 'shared', 'sort']);
    expect(idsOf({ principal: AGENT })).toEqual(['read', 'shared', 'sort']);
    expect(tierOf(operator, 'agent-enabled')).toEqual(['read', 'shared', 'sort']);
    expect(isFailure(visible.find({ principal: AGENT }, 'send'))).toBe(true);
    expect(visible.why({ principal: AGENT }, 'send')).toEqual({ code: 'not_in_tenant', message: 'Not now.' });
  });
});

describe('a list through a view', () => {
  const view = (name: string, allow: string[]): ToolView => ({
    ...{ name, agents: ['*'], conflict: 'prefix' },
    sources: [{ source: 'local', allow }],
  });

  test('VIS-01 REG-13 shows what the manifests say, also of tools that the view has no rule of', async () => {
    const { visible, visibility } = await bench(manifest('grave', { execution_config: { requires_approval: true } }));
    await visibility.setAvailability('acme', { tool_id: 'grave', available: true });
    await visibility.putView('acme', view('some', ['g*', 'r*']));
    const asking = { principal: AGENT };
    const shown = (tools: readonly { category?: string; tags?: readonly string[]; requires_approval: boolean }[]) =>
      tools.map((tool) => [tool.category, tool.tags, tool.requires_approval]);
    const read = ['data_access', ['mail', 'daily'], false];
    expect(shown(visible.list(asking, {}, ALL).tools)).toEqual([['', [], true], read]);
    expect(shown(visible.tier(asking, 'agent-enabled', ALL).tools)).toEqual([[undefined, [], true], read]);
    expect(visible.tools(asking).map(({ name, rule }) => [name, rule])).toEqual([
      ['grave', undefined],
      ['read', undefined],
    ]);
    expect([...visible.resolve('acme', view('other', ['s*'])).entries.keys()]).toEqual(['send', 'sort']);
    expect(JSON.stringify(visible.viewFaults('acme', view('other', ['s*']), () => []))).toContain('the view some');
  });

  test('VIS-01 follows rules that were read anew, of as many changes as those before', async () => {
    const { parts, visibility } = await pipeline();
    const { visibility: other } = await pipeline();
    await parts.registry.registerAll('acme', TOOLS);
    let current = visibility;
    const visible = createVisibleTools({
      ...{ registry: parts.registry, catalogTenant: 'catalog' },
      visibility: { ...visibility, rulesOf: (tenantId) => current.rulesOf(tenantId) },
      quarantine: {
        blocks: () => undefined,
        supersededBy: () => undefined,
        onChanged: () => ({ [Symbol.dispose]: () => undefined }),
      },
    });
    await visibility.putView('acme', view('some', ['read']));
    await other.putView('acme', view('some', ['s*']));
    const names = () => visible.tools({ principal: AGENT }).map(({ name }) => name);
    expect(names()).toEqual(['read']);
    current = other;
    expect(names()).toEqual(['send', 'sort']);
  });
});

describe('dependency gates', () => {
  let warned: string[];
  let notes: string[];
  beforeEach(() => {
    [warned, notes] = [[], []];
  });

  function gatesOver(store: SessionToolStore = memorySessionToolStore(), always: readonly string[] = []) {
    const graph = createDependencyGraph([{ toolId: 'send', requires: ['read'] }]);
    const noted: SessionToolStore = {
      ...store,
      note: async (session, toolId, keptMs) => {
        notes.push(toolId);
        await store.note(session, toolId, keptMs);
      },
    };
    return createDependencyGates({
      ...{ store: noted, always, catalogTenant: 'catalog' },
      registry: { dependencies: (tenant) => (tenant === 'acme' ? graph : createDependencyGraph([])) },
      log: { ...silentLog, warn: (event) => void warned.push(event) },
    });
  }
  const version = (each: ToolManifest) => ({ manifest: each }) as never;
  const tools = TOOLS.map(version);
  const [read, send] = tools as [never, never];

  test('MOD-05.2 MOD-05.3 MOD-05.6 hold a tool back, and rank another higher, until the session completed what they name', async () => {
    const gates = gatesOver();
    let opened = 0;
    const listening = gates.onCompleted(() => {
      opened += 1;
    });
    expect((await gates.shown(IN_SESSION, tools)).held).toEqual(new Map([['send', ['read']]]));
    await gates.completed(IN_SESSION, read);
    await gates.completed(IN_SESSION, read);
    await gates.completed(IN_SESSION, send);
    await gates.completed(AGENT, read);
    expect([notes, opened]).toEqual([['read'], 1]);
    const shown = await gates.shown(IN_SESSION, tools);
    expect([shown.held, shown.boosts]).toEqual([new Map(), new Map([['sort', 0.15]])]);
    expect((await gates.shown({ ...IN_SESSION, sessionId: 'other' }, tools)).held.size).toBe(1);
    listening[Symbol.dispose]();
    await gates.completed({ ...IN_SESSION, sessionId: 'other' }, read);
    expect([notes, opened]).toEqual([['read', 'read'], 1]);
  });

  test('MOD-05.7 hold nothing back without a session, without requirements, or of what is always on', async () => {
    const silent = { ...memorySessionToolStore(), completed: () => Promise.reject(new Error('asked')) };
    expect((await gatesOver(silent).shown(AGENT, tools)).held.size).toBe(0);
    expect((await gatesOver(silent).shown(IN_SESSION, [read])).held.size).toBe(0);
    await expect(gatesOver(silent).shown(IN_SESSION, tools)).rejects.toThrow('asked');
    expect((await gatesOver(memorySessionToolStore(), ['send']).shown(IN_SESSION, tools)).held.size).toBe(0);
  });

  test('MOD-05.5 stay shut where a completion cannot be noted, and open where an agent would have no tool', async () => {
    let isDown = true;
    const store = memorySessionToolStore();
    const note: SessionToolStore['note'] = (...given) =>
      isDown ? Promise.reject(new Error('no database')) : store.note(...given);
    const gates = gatesOver({ ...store, note });
    let opened = 0;
    gates.onCompleted(() => {
      opened += 1;
    });
    await gates.completed(IN_SESSION, read);
    expect([warned, opened]).toEqual([['completion-not-noted'], 0]);
    isDown = false;
    await gates.completed(IN_SESSION, read);
    expect(opened).toBe(1);
    const circle = [manifest('one', { requires: ['two'] }), manifest('two', { requires: ['absent'] })].map(version);
    await gates.shown(IN_SESSION, circle);
    expect(warned.slice(1)).toEqual(['dependency-gates-opened']);
  });
});
