import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiscoveryServer, startDiscovery } from './discovery.fixture.ts';

let server: DiscoveryServer;

beforeEach(async () => {
  server = await startDiscovery({ toolsPageSize: 2, resourcesPageSize: 2, changesTogetherMs: 1, lookPauseMs: 1 });
});

afterEach(() => server.close());

const AVAILABLE = 'sallyport://tools/tenant/acme/available';
const ENABLED = 'sallyport://tools/agent/did%3Aexample%3Aa/enabled';
const UNAVAILABLE = 'sallyport://tools/agent/did%3Aexample%3Aa/unavailable';

async function read(client: Client, uri: string): Promise<Record<string, unknown>> {
  const { contents } = await client.readResource({ uri });
  expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
  const [content] = contents;
  return JSON.parse(content !== undefined && 'text' in content ? content.text : '');
}

/** Names of the tools on one page, and the URI of the next page. */
async function names(client: Client, uri: string): Promise<{ names: string[]; next: unknown }> {
  const { tools, next } = await read(client, uri);
  return { names: (tools as { name: string }[]).map(({ name }) => name), next };
}

/** Repeats a change until the client is notified: a session's stream opens a moment after the handshake. */
async function until(told: Promise<void>, change: () => void): Promise<void> {
  const again = setInterval(() => {
    change();
    server.layer.notifyToolsChanged();
  }, 20);
  await told.finally(() => clearInterval(again));
}

function disable(tenant: string, tool: string): void {
  const known = server.world.get(tenant)?.get(tool);
  if (known !== undefined) known.disabled = true;
}

describe.each([
  { era: 'legacy', auto: false, version: '2025-11-25' },
  { era: 'modern', auto: true, version: '2026-07-28' },
])('the official client, $era era', ({ auto, version }) => {
  it('VIS-07.1 sees a server that has resources and no tools', async () => {
    const client = await server.client({ auto });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerCapabilities()).toEqual({
      resources: { subscribe: true, listChanged: true },
      completions: {},
    });
    await expect(client.request({ method: 'tools/call', params: { name: 'mail' } })).rejects.toThrow();
    expect(server.layer.asked.map(({ operation }) => operation)).not.toContain('tools.invoke');
  });

  it('VIS-07.4 lists the own lists and each tool, in pages, and the templates', async () => {
    const client = await server.client({ auto });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      AVAILABLE,
      ENABLED,
      UNAVAILABLE,
      ...['calendar', 'mail', 'search'].map((tool) => `sallyport://tools/tool/${tool}`),
    ]);
    expect(resources.at(-1)).toMatchObject({
      name: 'search',
      description: 'Does search.',
      mimeType: 'application/json',
    });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'sallyport://tools/tenant/{tenant_id}/available{?page}',
      'sallyport://tools/agent/{agent_did}/enabled{?page}',
      'sallyport://tools/agent/{agent_did}/unavailable{?page}',
      'sallyport://tools/tool/{tool_id}{?version}',
    ]);
  });

  it('VIS-07.2 VIS-07.3 reads what the tenant has, what the agent may use, and why not the rest', async () => {
    disable('acme', 'mail');
    const client = await server.client({ auto });
    expect(await names(client, AVAILABLE)).toEqual({ names: ['calendar', 'mail'], next: `${AVAILABLE}?page=2` });
    expect(await names(client, `${AVAILABLE}?page=2`)).toEqual({ names: ['search'], next: undefined });
    expect(await names(client, ENABLED)).toEqual({ names: ['calendar', 'search'], next: undefined });
    expect(await read(client, UNAVAILABLE)).toMatchObject({
      tools: [{ name: 'mail', why_unavailable: { code: 'disabled_for_agent', message: 'An operator disabled it.' } }],
      total_count: 1,
    });
  });

  it('reads the manifest of one tool, of the newest version or one in a range', async () => {
    const client = await server.client({ auto });
    const newest = await read(client, 'sallyport://tools/tool/mail');
    expect(newest).toMatchObject({ manifest: { tool_id: 'mail', version: '1.0.0' }, content_hash: 'c0' });
    expect(await read(client, 'sallyport://tools/tool/mail?version=%5E1.0.0')).toEqual(newest);
    await expect(client.readResource({ uri: 'sallyport://tools/tool/mail?version=2.0.0' })).rejects.toThrow();
  });

  it.each([
    ["another tenant's list", 'sallyport://tools/tenant/globex/available'],
    ["another agent's list", 'sallyport://tools/agent/did%3Aexample%3Ab/enabled'],
    ["another tenant's tool", 'sallyport://tools/tool/launch'],
  ])('VIS-07.6 %s answers as what does not exist', async (_what, uri) => {
    const client = await server.client({ auto });
    const refusal = (name: string) => client.readResource({ uri: name }).catch((thrown) => thrown);
    const nothing = await refusal('sallyport://tools/tool/nothing');
    const foreign = await refusal(uri);
    expect(foreign).toBeInstanceOf(Error);
    expect([foreign.code, foreign.message]).toEqual([nothing.code, nothing.message]);
    expect(foreign).toMatchObject({ code: -32602, data: { uri } });
  });

  it('VIS-07 an operator reads the lists of the other agents of the tenant', async () => {
    const client = await server.client({ auto, token: 'operator' });
    expect(await names(client, ENABLED)).toMatchObject({ names: ['calendar', 'mail'] });
    await expect(client.readResource({ uri: 'sallyport://tools/tenant/globex/available' })).rejects.toThrow();
  });

  it('completes the arguments of the templates with what the token may know', async () => {
    const client = await server.client({ auto });
    const complete = async (uri: string, name: string, value: string): Promise<string[]> => {
      const params = { ref: { type: 'ref/resource' as const, uri }, argument: { name, value } };
      return (await client.complete(params)).completion.values;
    };
    const tenant = 'sallyport://tools/tenant/{tenant_id}/available{?page}';
    expect(await complete(tenant, 'tenant_id', '')).toEqual(['acme']);
    expect(await complete(tenant, 'tenant_id', 'glo')).toEqual([]);
    expect(await complete(tenant, 'page', '')).toEqual([]);
    expect(await complete('sallyport://tools/tool/{tool_id}{?version}', 'tool_id', 'ca')).toEqual(['calendar']);
    await expect(complete('sallyport://tools/{x}', 'x', '')).rejects.toMatchObject({ code: -32602 });
  });

  it('VIS-07 tells that the list changed', async () => {
    const told = Promise.withResolvers<void>();
    const client = await server.client({ auto, onListChanged: () => told.resolve() });
    await client.listResources();
    const acme = server.world.get('acme');
    await until(told.promise, () => acme?.set(`new-${acme.size}`, { description: 'Does new.', disabled: false }));
  });

  it('VIS-07.5 tells that a resource changed, to who subscribed to it', async () => {
    const client = await server.client({ auto });
    const told: string[] = [];
    const heard = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      told.push(params.uri);
      heard.resolve();
    });
    if (auto) await client.listen({ resourceSubscriptions: [UNAVAILABLE, 'sallyport://tools/tool/mail'] });
    else for (const uri of [UNAVAILABLE, 'sallyport://tools/tool/mail']) await client.subscribeResource({ uri });
    await until(heard.promise, () => disable('acme', 'search'));
    expect(new Set(told)).toEqual(new Set([UNAVAILABLE]));
  });
});
