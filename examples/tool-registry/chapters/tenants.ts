import assert from 'node:assert/strict';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { codeOf, invoke, overRest, type RegistryParts, refusalOf, withMcpClient } from '../registry-story.ts';

const NORTH = { tenant_id: 'north', agent_did: 'did:example:north' };
const SOUTH = { tenant_id: 'south', agent_did: 'did:example:south' };
const OPERATOR = { roles: ['operator' as const] };

/** A tool that says a word, in a sandbox. */
const saying = (tool_id: string, word: string): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: `Tells the ${tool_id} of the house.`,
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object', additionalProperties: false },
  execution_config: { default_memory_mb_limit: 64 },
  executor: { kind: 'shell', config: { command: ['echo', word], output: 'text' } },
});

/** Two tenants on one layer, and a catalogue between them. */
export async function tenantsChapter(parts: RegistryParts): Promise<void> {
  parts.story.step('Two tenants on one layer');
  const register = (manifest: ToolManifest, claims: object) =>
    overRest(parts, '/v1/tools', { ...OPERATOR, ...claims }, { manifest });
  const done = [
    await register(saying('prices', 'northern'), NORTH),
    await register(saying('prices', 'southern'), SOUTH),
    await register(saying('recipe', 'secret'), NORTH),
    await register(saying('holidays', 'in August'), { tenant_id: 'catalog', roles: ['admin'] }),
  ];
  assert.deepEqual(
    done.map(({ status }) => status),
    [201, 201, 201, 201],
    JSON.stringify(done),
  );
  await ownTools(parts);
  await nothingOfOthers(parts);
  await fromCatalog(parts);
}

async function ownTools(parts: RegistryParts): Promise<void> {
  const prices = [await invoke(parts, 'prices', {}, NORTH), await invoke(parts, 'prices', {}, SOUTH)];
  const { body } = await overRest(parts, '/v1/tools', SOUTH);
  parts.story.holds('each has its own tool under one name, and lists no other', () => {
    assert.deepEqual(
      prices.map((answer) => answer.body['result']),
      ['northern\n', 'southern\n'],
    );
    assert.deepEqual(
      (body['tools'] as { tool_id: string }[]).map(({ tool_id }) => tool_id),
      ['prices'],
    );
  });
}

async function nothingOfOthers(parts: RegistryParts): Promise<void> {
  const { story } = parts;
  const south = { ...SOUTH, ...OPERATOR };
  const refusal = async (id: string) => {
    const got = await overRest(parts, `/v1/tools/${id}`, south);
    const called = await invoke(parts, id, {}, SOUTH);
    const shown = JSON.stringify([got.status, codeOf(got), got.body['detail'], codeOf(called)]);
    return shown.replaceAll(id, 'ID');
  };
  const [foreign, nowhere] = [await refusal('recipe'), await refusal('nothing')];
  story.holds("another tenant's tool is answered in the same words as one that never was", () => {
    assert.equal(foreign, nowhere);
    assert.match(foreign, /404.*E3001.*E3001/);
  });
  const found = await overRest(parts, '/v1/tool-search', south, { query: 'recipe of the house', threshold: 0 });
  const { body: audit } = await overRest(parts, '/v1/audit?limit=1000', south);
  story.holds('search and audit have nothing of it either', () => {
    assert.doesNotMatch(JSON.stringify(found.body['results']), /recipe/);
    assert.ok((audit['events'] as unknown[]).length > 0);
    assert.doesNotMatch(JSON.stringify(audit), /northern|did:example:north|"north"/);
  });
  await withMcpClient(parts, '/mcp/discovery', SOUTH, async (client) => {
    const errorAt = (uri: string) => refusalOf(client.readResource({ uri }));
    const [theirs, none] = [
      await errorAt('sallyport://tools/tenant/north/available'),
      await errorAt('sallyport://tools/tenant/nobody/available'),
    ];
    story.holds('nor does the discovery server', () => assert.deepEqual(theirs, none));
  });
}

async function fromCatalog(parts: RegistryParts): Promise<void> {
  const before = await invoke(parts, 'holidays', {}, SOUTH);
  await overRest(parts, '/v1/availability', { ...SOUTH, ...OPERATOR }, { tool_id: 'holidays', available: true });
  const [taken, untaken] = [await invoke(parts, 'holidays', {}, SOUTH), await invoke(parts, 'holidays', {}, NORTH)];
  parts.story.holds('a tool of the catalogue belongs to the tenant that takes it, and to no other', () => {
    assert.deepEqual([codeOf(before), taken.body['result'], codeOf(untaken)], ['E3001', 'in August\n', 'E3001']);
  });
}
