import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { PolicyOverrides, ToolView } from '../../../api/schemas/visibility.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createVisibleTools } from '../visible-tools.ts';

const A = 'did:agent:a';
const B = 'did:agent:b';

async function bench() {
  const layer = await pipeline();
  const { visibility, parts } = layer;
  const tokens = new Map<string, string>();
  for (const agent of [A, B]) tokens.set(agent, await layer.token({ agent_did: agent }));
  await layer.add(manifest('double'), ({ n }) => Number(n) * 2);
  return {
    ...layer,
    as: (agent: string, tool_id: string, parameters: Record<string, unknown> = { n: 2 }, tool_version?: string) => {
      const version = tool_version === undefined ? {} : { tool_version };
      return layer.call({ tool_id, parameters, capability_token: tokens.get(agent) ?? agent, ...version });
    },
    activate: (agent_did: string, tool_id: string, enabled: boolean, policy_overrides: PolicyOverrides = {}) =>
      visibility.setActivation('acme', { agent_did, tool_id, enabled, policy_overrides }),
    see: (agentDid: string, list: 'agent-enabled' | 'agent-unavailable' | 'tenant-available' | 'catalog') =>
      parts.visible
        .tier({ principal: { tenantId: 'acme', agentDid, roles: ['agent'] } }, list, { page: 1, pageSize: 100 })
        .tools.map(({ name, why_unavailable }) =>
          why_unavailable === undefined ? name : `${name}: ${why_unavailable.code}`,
        ),
  };
}

const view = (agents: readonly string[], more: Partial<ToolView> = {}): ToolView => ({
  name: 'mine',
  agents: [...agents],
  conflict: 'prefix',
  sources: [{ source: 'local', tools: [{ tool: 'double', name: 'twice', default_arguments: { n: 21 } }] }],
  ...more,
});

test('a tenant without rules is answered with what the registry remembers', async () => {
  const { parts } = await bench();
  const principal = { tenantId: 'acme', agentDid: A, roles: ['agent' as const] };
  const found = parts.visible.find({ principal }, 'double');
  expect(isFailure(found)).toBe(false);
  expect(found).toBe(parts.registry.find('acme', 'double'));
});

describe('VIS-01 activations', () => {
  test('VIS-01.4 VIS-01.2 no activation means enabled; a disabled tool does not exist for that agent, in the words of one that is unknown', async () => {
    const { as, activate, visibility, see } = await bench();
    expect(await as(A, 'double')).toMatchObject({ state: 'COMPLETED', result: 4 });
    await activate(A, 'double', false);
    const [disabled, unknown] = [await as(A, 'double'), await as(A, 'nothing')];
    expect(disabled.failure).toMatchObject({ code: 'E3001' });
    expect(disabled.failure?.message.replace('double', 'nothing')).toBe(unknown.failure?.message);
    expect(see(A, 'agent-unavailable')).toEqual(['double: disabled_for_agent']);
    expect(await as(B, 'double')).toMatchObject({ result: 4 });
    await visibility.removeActivation('acme', { agent_did: A, tool_id: 'double' });
    expect(await as(A, 'double')).toMatchObject({ result: 4 });
  });

  test("one tenant's activation never affects another's", async () => {
    const { as, visibility, activate } = await bench();
    await visibility.setActivation('globex', { agent_did: A, tool_id: 'double', enabled: false, policy_overrides: {} });
    expect(await as(A, 'double')).toMatchObject({ result: 4 });
    await activate(B, 'double', false);
    expect(await as(A, 'double')).toMatchObject({ result: 4 });
  });

  test('the keeper of the tools is not narrowed; an agent that is one too is', async () => {
    const { as, activate, token } = await bench();
    const operator = await token({ agent_did: A, roles: ['operator'] });
    const both = await token({ agent_did: A, roles: ['agent', 'operator'] });
    await activate(A, 'double', false);
    expect(await as(operator, 'double')).toMatchObject({ result: 4 });
    expect((await as(both, 'double')).failure?.code).toBe('E3001');
  });

  test('VIS-01.3 requires_confirmation overrides the manifest both ways, with its own prompt', async () => {
    const { as, activate, add } = await bench();
    await add(manifest('careful', { requires_confirmation: true, confirmation_prompt: 'Really?' }), () => 'done');
    await activate(A, 'double', true, { requires_confirmation: true, confirmation_prompt: 'Double it?' });
    await activate(A, 'careful', true, { requires_confirmation: false });
    expect((await as(A, 'double')).failure).toMatchObject({
      code: 'E3806',
      details: { reason: 'requires_confirmation', confirmation_prompt: 'Double it?' },
    });
    expect(await as(A, 'careful')).toMatchObject({ result: 'done' });
    expect((await as(B, 'careful')).failure?.details).toMatchObject({ confirmation_prompt: 'Really?' });
    expect(await as(B, 'double')).toMatchObject({ result: 4 });
  });

  test('an approval is added, and never taken away', async () => {
    const { as, activate, add } = await bench();
    await add(manifest('grave', { execution_config: { requires_approval: true } }), () => 'done');
    await activate(A, 'double', true, { requires_approval: true });
    await activate(A, 'grave', true, { requires_confirmation: false });
    for (const tool of ['double', 'grave'])
      expect((await as(A, tool)).failure).toMatchObject({ code: 'E3806', details: { reason: 'requires_approval' } });
  });

  test('a timeout is shortened for that agent, and never lengthened', async () => {
    const { as, activate, add } = await bench();
    await add(manifest('slow'), (_given, { signal }) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const timer = setTimeout(() => resolve('done'), 60);
      signal.addEventListener('abort', () => clearTimeout(timer));
      signal.addEventListener('abort', () => resolve('stopped'));
      return promise;
    });
    await activate(A, 'slow', true, { timeout_seconds_max: 0.02 });
    await activate(A, 'double', true, { timeout_seconds_max: 86_400 });
    expect((await as(A, 'slow')).failure).toMatchObject({ code: 'E3103', details: { timeout_ms: 20 } });
    expect(await as(B, 'slow')).toMatchObject({ result: 'done' });
    expect(await as(A, 'double')).toMatchObject({ result: 4 });
  });

  test("an agent's rate comes on top of the tool's, which the agents share", async () => {
    const { as, activate, add } = await bench();
    await add(manifest('rare', { execution_config: { rate_limit: { per_minute: 1, burst: 3 } } }), () => 'done');
    await activate(A, 'rare', true, { rate_limit: { per_minute: 1, burst: 1 } });
    expect(await as(A, 'rare')).toMatchObject({ result: 'done' });
    expect((await as(A, 'rare')).failure?.code).toBe('E3303');
    expect(await as(B, 'rare')).toMatchObject({ result: 'done' });
    expect(await as(B, 'rare')).toMatchObject({ result: 'done' });
    expect((await as(B, 'rare')).failure?.code).toBe('E3303');
  });

  test('a call that runs when its tool is disabled goes on to its end', async () => {
    const { as, activate, add } = await bench();
    const { promise, resolve } = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    await add(manifest('long'), () => {
      begun.resolve();
      return promise;
    });
    const running = as(A, 'long');
    await begun.promise;
    await activate(A, 'long', false);
    expect((await as(A, 'long')).failure?.code).toBe('E3001');
    resolve('done');
    expect(await running).toMatchObject({ state: 'COMPLETED', result: 'done' });
  });
});

describe('VIS-01 tiers', () => {
  test('VIS-01.1 a tool of the catalogue is on offer, and there once the tenant has it', async () => {
    const { as, visibility, parts, see } = await bench();
    await parts.registry.register('catalog', manifest('double'));
    await parts.registry.register('catalog', manifest('offer'));
    expect(see(A, 'catalog')).toEqual(['double', 'offer: not_in_tenant']);
    expect(see(A, 'tenant-available')).toEqual(['double']);
    expect((await as(A, 'offer')).failure?.code).toBe('E3001');
    await visibility.setAvailability('acme', { tool_id: 'offer', available: true });
    expect(see(A, 'agent-enabled')).toEqual(['double', 'offer']);
    // The tool is found; the call may fail for another reason, because its function is not registered here.
    expect((await as(A, 'offer')).failure?.code).not.toBe('E3001');
    await visibility.setAvailability('acme', { tool_id: 'offer', available: false });
    expect((await as(A, 'offer')).failure?.code).toBe('E3001');
    expect(see(A, 'catalog')).toEqual(['double', 'offer: not_in_tenant']);
  });

  test("a tenant's own tool goes before one of the catalogue, also after it was removed", async () => {
    const { parts, visibility } = await bench();
    const principal = { tenantId: 'acme', agentDid: A, roles: ['agent' as const] };
    await parts.registry.register('catalog', manifest('double', { description: 'Of the catalogue.' }));
    await visibility.setAvailability('acme', { tool_id: 'double', available: true });
    const found = parts.visible.find({ principal }, 'double');
    expect(isFailure(found) ? found : found.tool.tenantId).toBe('acme');
    await parts.registry.removeAll('acme', ['double']);
    expect(parts.visible.find({ principal }, 'double')).toMatchObject({ code: 'E3004' });
    expect(parts.visible.tools({ principal })).toEqual([]);
  });

  test('an own tool that was made unavailable is there for nobody of the tenant', async () => {
    const { as, visibility, see, token } = await bench();
    await visibility.setAvailability('acme', { tool_id: 'double', available: false, reason: 'under review' });
    expect((await as(A, 'double')).failure?.code).toBe('E3001');
    const told = (await as(await token({ roles: ['operator'] }), 'double')).failure;
    expect(told).toMatchObject({ code: 'E3001', message: expect.stringContaining('unavailable to the tenant') });
    expect(see(A, 'tenant-available')).toEqual([]);
    expect(see(A, 'agent-unavailable')).toEqual([]);
    expect(see(A, 'catalog')).toEqual(['double: not_in_tenant']);
  });
});

describe('REG-13 calls through a view', () => {
  test('a tool is called by its name of the view, with arguments that the caller may overrule, and goes on record as itself', async () => {
    const { as, visibility, eventsOf } = await bench();
    await visibility.putView('acme', view([A]));
    const record = await as(A, 'twice', {});
    expect(record).toMatchObject({ state: 'COMPLETED', result: 42, toolId: 'double', calledAs: 'twice' });
    expect(await as(A, 'twice', { n: 5 })).toMatchObject({ result: 10 });
    const events = await eventsOf(record.invocationId);
    expect(events.at(-1)?.data).toMatchObject({ tool_id: 'double', called_as: 'twice' });
    const plain = await as(B, 'double');
    expect(plain).not.toHaveProperty('calledAs');
    expect((await eventsOf(plain.invocationId)).at(-1)?.data).not.toHaveProperty('called_as');
  });

  test('arguments of the view are checked like those of a caller', async () => {
    const { as, visibility } = await bench();
    const tools = [{ tool: 'double', default_arguments: { n: 'many' } }];
    await visibility.putView('acme', view([A], { sources: [{ source: 'local', tools }] }));
    expect((await as(A, 'double', {})).failure?.code).toBe('E3502');
  });

  test('what is not in the view does not exist for its agents, the id of a renamed tool neither', async () => {
    const { as, visibility, add, see } = await bench();
    await add(manifest('other'), () => 'done');
    await visibility.putView('acme', view([A]));
    for (const name of ['double', 'other', 'nothing']) expect((await as(A, name)).failure?.code).toBe('E3001');
    expect(await as(B, 'other')).toMatchObject({ result: 'done' });
    expect(see(A, 'agent-enabled')).toEqual(['twice']);
    expect(see(A, 'agent-unavailable')).toEqual(['other: not_in_view']);
  });

  test('REG-03.5 errors and warnings speak of the tool by the name that the agent knows', async () => {
    const { as, visibility, add } = await bench();
    await visibility.putView('acme', view([A]));
    const { failure } = await as(A, 'twice', {}, '9.9.9');
    expect(failure?.code).toBe('E3002');
    expect(JSON.stringify(failure)).not.toContain('double');
    expect(failure?.message).toContain('twice');
    await add(manifest('double', { version: '2.0.0' }), () => 'newer');
    const [warning] = (await as(A, 'twice', {}, '^1.0.0')).warnings;
    expect(warning?.message).toContain('twice 1.0.0');
  });

  test('an activation counts inside a view, by the id of the tool', async () => {
    const { as, visibility, activate } = await bench();
    await visibility.putView('acme', view([A]));
    await activate(A, 'double', true, { requires_confirmation: true });
    expect((await as(A, 'twice')).failure?.code).toBe('E3806');
    await activate(A, 'double', false);
    expect((await as(A, 'twice')).failure?.code).toBe('E3001');
  });

  test('REG-13.9 a pinned version alone is called, whatever range is asked for; a changed one leaves the view', async () => {
    const { as, visibility, add, parts } = await bench();
    const [pinned] = parts.registry.versions('acme', 'double');
    const tools = [{ tool: 'double', content_hash: pinned?.contentHash ?? '' }];
    await visibility.putView('acme', view([A], { sources: [{ source: 'local', tools }] }));
    expect(await as(A, 'double')).toMatchObject({ result: 4 });
    await add(manifest('double', { version: '0.9.0' }), () => 'older');
    expect((await as(A, 'double', { n: 1 }, '0.9.0')).failure?.code).toBe('E3006');
    expect(await as(A, 'double')).toMatchObject({ result: 4 });
    await add(manifest('double', { version: '2.0.0' }), () => 'newer');
    expect((await as(A, 'double')).failure?.code).toBe('E3001');
  });

  test('REG-13 a pinned version tells of no other one: not in lists, not in refusals', async () => {
    const { as, visibility, add, parts } = await bench();
    await add(manifest('double', { version: '3.0.0' }), () => 'pinned');
    const [pinned] = parts.registry.versions('acme', 'double');
    const tools = [{ tool: 'double', name: 'twice', content_hash: pinned?.contentHash ?? '' }];
    await visibility.putView('acme', view([A], { sources: [{ source: 'local', tools }] }));
    for (const range of ['9.9.9', '^7', 'no range']) {
      const { failure } = await as(A, 'twice', { n: 1 }, range);
      expect(failure, range).toMatchObject({ code: 'E3006', message: expect.stringContaining('Only one version') });
      expect(failure?.details, range).toBeUndefined();
    }
    const asking = { principal: { tenantId: 'acme', agentDid: A, roles: ['agent' as const] } };
    const { tools: listed } = parts.visible.list(asking, {}, { page: 1, pageSize: 10 });
    expect(listed).toMatchObject([{ tool_id: 'twice', versions: ['3.0.0'] }]);
    expect((await as(B, 'double', { n: 1 }, '9.9.9')).failure?.message).toMatch(/3\.0\.0, 1\.0\.0/);
  });

  test('REG-13 a renamed tool that waits or is gone is refused under its name in the view, without its upstream', async () => {
    const { parts, visibility } = await bench();
    const found = parts.registry.find('acme', 'double');
    if (isFailure(found)) throw new Error(found.message);
    await visibility.putView(
      'acme',
      view([A], { sources: [{ source: 'local', tools: [{ tool: 'double', name: 'twice' }] }] }),
    );
    const refusal = (reason: 'changed' | 'absent', agentDid: string, name: string) => {
      const blocks = () => ({ reason, upstream: 'hidden-server', tool: 'hidden-name' });
      const quarantine = {
        blocks,
        supersededBy: () => undefined,
        onChanged: () => ({ [Symbol.dispose]: () => undefined }),
      };
      const { registry } = parts;
      const visible = createVisibleTools({ registry, visibility, quarantine, catalogTenant: 'catalog' });
      return visible.find({ principal: { tenantId: 'acme', agentDid, roles: ['agent'] } }, name);
    };
    for (const reason of ['changed', 'absent'] as const) {
      const renamed = refusal(reason, A, 'twice');
      expect(renamed).toMatchObject({
        code: reason === 'absent' ? 'E3001' : 'E3813',
        message: expect.stringContaining('twice'),
      });
      expect(JSON.stringify(renamed)).not.toMatch(/hidden|double/);
      expect(JSON.stringify(refusal(reason, B, 'double'))).toContain('hidden-server');
    }
  });

  test('REG-09.6 REG-13 an earlier version than the one that its server serves is refused under the name in the view', async () => {
    const { parts, visibility } = await bench();
    const only = { sources: [{ source: 'local' as const, tools: [{ tool: 'double', name: 'twice' }] }] };
    await visibility.putView('acme', view([A], only));
    const { registry } = parts;
    const refusedFor = (served: string | undefined) => {
      const supersededBy = (_tenant: string, toolId: string, version: string) =>
        toolId === 'double' && version === '1.0.0' ? served : undefined;
      const quarantine = { blocks: () => undefined, supersededBy, onChanged: () => ({ [Symbol.dispose]: () => {} }) };
      const visible = createVisibleTools({ registry, visibility, quarantine, catalogTenant: 'catalog' });
      return visible.find({ principal: { tenantId: 'acme', agentDid: A, roles: ['agent'] } }, 'twice');
    };
    expect(isFailure(refusedFor(undefined))).toBe(false);
    const refused = refusedFor('1.1.0');
    expect(refused).toMatchObject({ code: 'E3006', details: { tool_id: 'twice', version: '1.1.0' } });
    expect(JSON.stringify(refused)).not.toContain('double');
  });

  test('REG-13.7 a tool that comes later under a name of the view takes the name out of the view, and is not called by it', async () => {
    const { as, visibility, add } = await bench();
    await visibility.putView('acme', view([A]));
    expect(await as(A, 'twice')).toMatchObject({ result: 4 });
    await add(manifest('twice'), () => 'impostor');
    expect((await as(A, 'twice')).failure?.code).toBe('E3001');
    expect(await as(B, 'twice')).toMatchObject({ result: 'impostor' });
  });

  test('a call that runs when its view is removed goes on; the next one sees what it would without it', async () => {
    const { as, visibility, add } = await bench();
    const { promise, resolve } = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    await add(manifest('long'), () => {
      begun.resolve();
      return promise;
    });
    await visibility.putView(
      'acme',
      view(['*'], { sources: [{ source: 'local', tools: [{ tool: 'long', name: 'l' }] }] }),
    );
    const running = as(A, 'l');
    await begun.promise;
    await visibility.removeView('acme', 'mine');
    expect((await as(A, 'l')).failure?.code).toBe('E3001');
    resolve('done');
    expect(await running).toMatchObject({ state: 'COMPLETED', result: 'done', toolId: 'long', calledAs: 'l' });
  });

  test('a view of 2 000 tools among 4 000 leads each name to its tool', async () => {
    const { as, visibility, parts, see } = await bench();
    const all = Array.from({ length: 4_000 }, (_, i) => manifest(`${i % 2 === 0 ? 'even' : 'odd'}__t${i}`));
    await parts.registry.registerAll('acme', all);
    await visibility.putView('acme', view([A], { conflict: 'priority', sources: [{ source: 'even', allow: ['t*'] }] }));
    const asking = { principal: { tenantId: 'acme', agentDid: A, roles: ['agent' as const] } };
    for (const i of [0, 1_998, 3_998]) {
      const found = parts.visible.find(asking, `t${i}`);
      expect(isFailure(found) ? found : found.tool.manifest.tool_id).toBe(`even__t${i}`);
    }
    expect((await as(A, 't1')).failure?.code).toBe('E3001');
    expect(parts.visible.tools(asking)).toHaveLength(2_000);
    expect(see(A, 'agent-enabled')).toHaveLength(100);
  });
});

test('a tool in quarantine is refused with its reason, and its words are shown in no list', async () => {
  const { parts, visibility } = await bench();
  const changed = new Set(['double']);
  const visible = createVisibleTools({
    registry: parts.registry,
    visibility,
    catalogTenant: 'catalog',
    quarantine: {
      blocks: (_tenant, toolId) =>
        changed.has(toolId) ? { reason: 'changed', upstream: 'up', tool: toolId } : undefined,
      supersededBy: () => undefined,
      onChanged: () => ({ [Symbol.dispose]: () => undefined }),
    },
  });
  const asking = { principal: { tenantId: 'acme', agentDid: A, roles: ['agent' as const] } };
  const page = { page: 1, pageSize: 10 };
  expect(visible.find(asking, 'double')).toMatchObject({ code: 'E3813' });
  expect(visible.tools(asking)).toEqual([]);
  expect(visible.list(asking, {}, page)).toEqual({ tools: [], total: 0 });
  const [missing] = visible.tier(asking, 'agent-unavailable', page).tools;
  expect(missing).toMatchObject({ tool_id: 'double', why_unavailable: { code: 'quarantined' } });
  expect(missing?.description).not.toContain('For tests');
  changed.clear();
  expect(visible.tools(asking)).toHaveLength(1);
});
