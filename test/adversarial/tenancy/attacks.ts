import type { OperationInput, OperationName } from '../../../packages/sallyport/src/operations/catalogue.ts';
import type { Names } from './planted.ts';

/** What somebody of another tenant asks who knows these names, for each operation. */
export type Attacks = { readonly [N in OperationName]: (names: Names) => readonly OperationInput<N>[] };

const manifestOf = (tool_id: string, more: object = {}) => ({
  tool_id,
  tool_name: 'Mine',
  version: '1.0.0',
  description: 'Mine.',
  parameters_schema: { type: 'object' },
  executor: { kind: 'native' },
  ...more,
});

const invocations = ({ tool, invocation, idempotencyKey, tenant, agent, token, upstream }: Names) => [
  { tool_id: tool, parameters: { q: 'x' }, invocation_id: invocation },
  { tool_id: tool, parameters: { q: 'x' }, execution_options: { idempotency_key: idempotencyKey } },
  { tool_id: tool, agent_context: { agent_did: agent, tenant_id: tenant } },
  // The body's token is another one than the door's.
  { tool_id: tool, capability_token: token },
  { tool_id: `${upstream}__kept` },
];

/** Of a chain that the attacker guesses. */
const ANCHOR = { chain_id: 'one', seq: 1, hash: 'h', time: '2026-01-01T00:00:00Z', key_id: 'k', signature: 's' };

/** Dead servers, so that nothing is started. */
const upstreamOf = (name: string) => ({ name, transport: { type: 'http' as const, url: 'http://127.0.0.1:1/mcp' } });

const ofTool = ({ tool, oldTool, upstream }: Names) => [
  { tool_id: tool },
  { tool_id: oldTool },
  { tool_id: `${upstream}__changed` },
];

/** One entry for each operation there is; a new operation without one does not compile, and fails the test. */
export const ATTACKS: Attacks = {
  'tools.invoke': invocations,
  'tools.dry-run': invocations,
  'invocations.list': ({ agent, tool }) => [{}, { agent_did: agent }, { tool_id: tool }, { limit: 200 }],
  'invocations.get': ({ invocation, running }) => [{ invocation_id: invocation }, { invocation_id: running }],
  'invocations.cancel': ({ invocation, running }) => [{ invocation_id: invocation }, { invocation_id: running }],
  'invocations.watch': ({ invocation, running }) => [
    { invocation_id: invocation },
    { invocation_id: running },
    { invocation_id: running, after: 'x', wait_seconds: 0.01 },
  ],
  'invocations.extend': ({ invocation, running }) => [
    { invocation_id: invocation, extend_seconds: 60 },
    { invocation_id: running, extend_seconds: 60 },
  ],
  'approvals.list': () => [{}, { state: 'decided' }, { page_size: 200 }],
  'approvals.get': ({ approval, decided }) => [{ approval_id: approval }, { approval_id: decided }],
  'approvals.approve': ({ approval, decided }) => [
    { approval_id: approval },
    { approval_id: approval, parameters: { q: 'x' } },
    { approval_id: approval, remember: { scope: 'tool', for_seconds: 60 } },
    { approval_id: decided },
  ],
  'approvals.deny': ({ approval, decided }) => [{ approval_id: approval }, { approval_id: decided }],
  'approvals.answer': ({ approval }) => [
    { answer_token: `spa_${'A'.repeat(43)}`, decision: 'approve' },
    { answer_token: approval, decision: 'deny' },
  ],
  'approvals.rules': () => [{}],
  'approvals.revoke-rule': ({ approvalRule, approval }) => [{ rule_id: approvalRule }, { rule_id: approval }],
  'approvals.delegate': ({ agent }) => [{ to: agent, for_seconds: 60 }],
  'approvals.delegations': () => [{}],
  'approvals.end-delegation': ({ delegation, approval }) => [
    { delegation_id: delegation },
    { delegation_id: approval },
  ],
  'invocations.verify': ({ invocation, running, token }) => [
    { invocation_id: invocation, parameters: { q: 'x' } },
    { invocation_id: running },
    { invocation_id: invocation, capability_token: token },
  ],
  'outcomes.list': ({ invocation }) => [{}, { settled: true }, { after: invocation }],
  'outcomes.get': ({ invocation, running }) => [{ invocation_id: invocation }, { invocation_id: running }],
  'outcomes.settle': ({ invocation }) => [{ invocation_id: invocation, outcome: 'happened', note: 'mine' }],
  'outcomes.reconcile': ({ invocation, tool, token }) => [
    { invocation_id: invocation, tool_id: tool },
    { invocation_id: invocation, tool_id: tool, capability_token: token },
  ],
  'side-effects.list': ({ agent }) => [{}, { agent_did: agent }, { turn_group_id: 'turn-1' }, { limit: 200 }],
  'side-effects.get': ({ invocation, running }) => [{ invocation_id: invocation }, { invocation_id: running }],
  'side-effects.compensate': ({ invocation, running }) => [
    { invocation_id: invocation },
    { invocation_id: running, arguments: { q: 'x' } },
  ],
  'side-effects.compensate-all': ({ invocation, running }) => [
    { invocation_ids: [invocation] },
    { invocation_ids: [running, invocation], continue_on_failure: true },
    { turn_group_id: 'turn-1' },
  ],
  'tools.list': ({ words }) => [{}, { page_size: 200 }, { capability_query: words }, { executor: 'mcp' }],
  'tools.search': ({ words, tool }) => [
    { query: words, threshold: 0 },
    { query: tool, tier: 'catalog' },
    { query: 'Answers with', tier: 'tenant', threshold: 0 },
  ],
  'tools.get': (names) => [...ofTool(names), { tool_id: names.tool, version: '1.1.0-next' }],
  'tools.manifests': () => [{ page_size: 1000 }],
  'tools.register': ({ tool, upstream }) => [
    { manifest: manifestOf(tool) },
    { manifest: manifestOf(`${upstream}__kept`) },
    { manifest: manifestOf('through', { executor: { kind: 'mcp', config: { upstream, tool: 'kept' } } }) },
    { manifest: manifestOf('needing', { dependencies: { requires: [tool] } }) },
  ],
  'tools.remove': (names) => ofTool(names).map((input) => ({ ...input, force: true })),
  'tools.deprecate': (names) => ofTool(names),
  'tools.sunset': (names) => ofTool(names),
  'tools.restore': (names) => ofTool(names).map((input) => ({ ...input, version: '1.0.0' })),
  'tools.history': (names) => ofTool(names),
  'tools.diff': (names) => ofTool(names).map((input) => ({ ...input, from: '1.0.0' })),
  'tools.compliance': (names) => ofTool(names),
  'tools.check': ({ tool }) => [{ manifest: manifestOf(tool) }],
  'tools.import-openapi': ({ upstream }) => [
    { name: upstream, document: '{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{}}' },
  ],
  'tools.import-langchain': ({ tool, upstream }) => [
    { name: upstream, tools: [{ name: tool, description: 'x', schema: { type: 'object' } }] },
  ],
  'tools.import-skill': ({ upstream }) => [
    { name: upstream, files: [{ path: 'SKILL.md', content: '---\nname: kept\ndescription: x\n---\nx' }] },
  ],
  'tools.import-composio': ({ upstream }) => [
    { name: upstream, base_url: 'http://127.0.0.1:1/api/v3' },
    { name: upstream, base_url: 'http://127.0.0.1:1/api/v3', tools: ['KEPT'], dry_run: true },
  ],
  'upstreams.import': ({ upstream }) => [
    { configuration: JSON.stringify({ mcpServers: { [upstream]: { url: 'http://127.0.0.1:1/mcp' } } }) },
  ],
  'upstreams.list': () => [{}],
  'upstreams.get': ({ upstream }) => [{ name: upstream }],
  'upstreams.add': ({ upstream }) => [{ upstream: upstreamOf(upstream) }],
  'upstreams.remove': ({ upstream }) => [{ name: upstream }],
  'upstreams.disable': ({ upstream }) => [{ name: upstream }],
  'upstreams.enable': ({ upstream }) => [{ name: upstream }],
  'upstreams.restart': ({ upstream }) => [{ name: upstream }],
  'upstreams.logs': ({ upstream }) => [{ name: upstream }],
  'upstreams.export': ({ upstream }) => [{}, { names: [upstream] }],
  'upstreams.quarantine': ({ upstream }) => [{}, { name: upstream }, { tool: 'changed' }],
  'upstreams.accept': ({ upstream }) => [
    { name: upstream, all: true },
    { name: upstream, tool: 'changed' },
  ],
  'upstreams.reject': ({ upstream }) => [
    { name: upstream, all: true },
    { name: upstream, tool: 'changed' },
  ],
  'circuits.list': ({ circuit }) => [{}, { limit: 200 }, { state: 'closed' }, { after: circuit.slice(0, -1) }],
  'circuits.get': ({ circuit }) => [{ name: circuit }],
  'circuits.set': ({ circuit }) => [
    { name: circuit, state: 'forced_open' },
    { name: circuit, state: 'disabled', reason: 'mine' },
    { name: circuit, state: 'closed' },
  ],
  'visibility.list': ({ agent }) => [
    { list: 'catalog' },
    { list: 'tenant-available' },
    { list: 'agent-enabled', agent_did: agent },
    { list: 'agent-unavailable', agent_did: agent },
  ],
  'availability.list': () => [{}],
  'availability.set': ({ tool, oldTool }) => [
    { tool_id: tool, available: false },
    { tool_id: oldTool, available: true },
  ],
  'activations.list': ({ agent, tool }) => [{}, { agent_did: agent }, { tool_id: tool }],
  'activations.set': ({ agent, tool }) => [{ agent_did: agent, tool_id: tool, enabled: false }],
  'activations.remove': ({ agent, tool }) => [{ agent_did: agent, tool_id: tool }],
  'views.list': () => [{}],
  'views.get': ({ view }) => [{ name: view }],
  'views.put': ({ view, agent, tool, upstream }) => [
    { view: { name: view, agents: [agent, '*'], conflict: 'manual', sources: [{ source: 'local', allow: [tool] }] } },
    { view: { name: view, agents: ['*'], conflict: 'manual', sources: [{ source: upstream }] } },
  ],
  'views.remove': ({ view }) => [{ name: view }],
  'tokens.mint': ({ tenant, agent }) => [
    { tenant_id: tenant },
    { tenant_id: tenant, roles: ['admin'] },
    { agent_did: agent },
  ],
  'tokens.inspect': () => [{}],
  'tokens.explain': ({ token, apiKey }) => [{ token }, { token: apiKey }],
  'tokens.revoke': ({ token, apiKey, jti, agent }) => [
    { token },
    { token: apiKey },
    { jti },
    { agent_did: agent },
    { whole_tenant: true },
  ],
  'revocations.list': () => [{}, { page_size: 200 }],
  'revocations.lift': ({ revocationId, keyId }) => [{ revocation_id: revocationId }, { revocation_id: keyId }],
  'keys.list': () => [{}],
  'keys.rotate': () => [{ overlap_seconds: 0 }],
  'keys.published': () => [{}],
  'api-keys.create': ({ tenant, agent, tool }) => [
    { name: 'mine', tenant_id: tenant },
    { name: 'mine', agent_did: agent, tool_id: tool },
  ],
  'api-keys.list': () => [{}],
  'api-keys.revoke': ({ keyId, revocationId }) => [{ key_id: keyId }, { key_id: revocationId }],
  'policies.list': () => [{}, { text: true }],
  'policies.reload': () => [{}],
  'policies.test': () => [{}],
  'policies.why': ({ invocation, running, tenant, agent, tool }) => [
    { invocation_id: invocation },
    { invocation_id: running },
    { question: { principal: { tenant_id: tenant, agent_did: agent }, tool: { tool_id: tool } } },
  ],
  'audit.query': ({ invocation, tool, agent }) => [
    {},
    { newest: true, limit: 1000 },
    { after: 0, limit: 1000 },
    { invocation_id: invocation },
    { tool_id: tool },
    { agent_did: agent },
  ],
  'audit.verify': () => [{}],
  'audit.anchor': () => [{}],
  'audit.verify-anchors': () => [{ anchors: [] }, { anchors: [ANCHOR] }],
  health: () => [{}],
};
