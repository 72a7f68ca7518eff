import {
  OPERATIONS,
  type OperationEntry,
  type OperationInput,
  type OperationName,
} from '../../../packages/sallyport/src/operations/catalogue.ts';
import type { Names } from './planted.ts';

type Attack<N extends OperationName> = (names: Names) => readonly OperationInput<N>[];
/** For each operation, the requests of an attacker from another tenant who knows these names. */
type Attacks = { readonly [N in OperationName]: Attack<N> };

/** Names of the victim's tenant for use in routes, by the noun before them in the route. */
const IN_ROUTES: Readonly<Record<string, (names: Names) => readonly string[]>> = {
  activations: ({ tool }) => [tool],
  'api-keys': ({ keyId, revocationId }) => [keyId, revocationId],
  'approval-delegations': ({ delegation, approval }) => [delegation, approval],
  'approval-rules': ({ approvalRule, approval }) => [approvalRule, approval],
  approvals: ({ approval, decided }) => [approval, decided],
  checkpoints: ({ checkpoint }) => [checkpoint],
  circuits: ({ circuit }) => [circuit],
  contexts: ({ tool, oldTool }) => [tool, oldTool],
  invocations: ({ invocation, running }) => [invocation, running],
  outcomes: ({ invocation, running }) => [invocation, running],
  revocations: ({ revocationId, keyId }) => [revocationId, keyId],
  'side-effects': ({ invocation, running }) => [invocation, running],
  threads: ({ thread }) => [thread],
  tools: ({ tool, oldTool, upstream }) => [tool, oldTool, `${upstream}__changed`],
  upstreams: ({ upstream }) => [upstream],
  views: ({ view }) => [view],
};

interface NamedInRoute {
  readonly approval_id: string;
  readonly checkpoint_id: string;
  readonly delegation_id: string;
  readonly invocation_id: string;
  readonly key_id: string;
  readonly name: string;
  readonly revocation_id: string;
  readonly rule_id: string;
  readonly thread_id: string;
  readonly tool_id: string;
}

/** Operations whose input needs more than a name in the route: for them an attack has to be written by hand. */
type Demanding = {
  [N in OperationName]: [NamedInRoute] extends [OperationInput<N>]
    ? never
    : [Record<never, never>] extends [OperationInput<N>]
      ? never
      : N;
}[OperationName];
type OwnAttacks = { readonly [N in Demanding]: Attack<N> } & { readonly [N in OperationName]?: Attack<N> };

/** Attacks derived from an operation's row: one for each name in its route, or an empty input if none is required. */
function derived({ path, input }: OperationEntry, names: Names): readonly object[] {
  const { required = [] } = input as { required?: readonly string[] };
  const [, noun = '', member = ''] = /^\/v1\/([a-z-]+)\/\{([a-z_]+)\}/.exec(path) ?? [];
  if (required.some((wanted) => wanted !== member)) return [];
  return member === '' ? [{}] : (IN_ROUTES[noun]?.(names) ?? []).map((name) => ({ [member]: name }));
}

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
  // The token in the body differs from the token of the request.
  { tool_id: tool, capability_token: token },
  { tool_id: `${upstream}__kept` },
];

/** An anchor of a chain that the attacker guesses. */
const ANCHOR = { chain_id: 'one', seq: 1, hash: 'h', time: '2026-01-01T00:00:00Z', key_id: 'k', signature: 's' };

/** An upstream at a port where no server listens, so that nothing is started. */
const upstreamOf = (name: string) => ({ name, transport: { type: 'http' as const, url: 'http://127.0.0.1:1/mcp' } });

const VALUE = { type: 'json', base64: '' };
const savedThread = (thread_id: string) => ({
  ...{ thread_id, checkpoint_id: 'mine', state: VALUE, metadata: VALUE, versions: { mine: '1' } },
  values: [{ channel: 'mine', version: '1', value: VALUE }],
});
const writtenThread = (thread_id: string) => ({
  ...{ thread_id, checkpoint_id: 'mine' },
  writes: [{ task_id: 'mine', index: -1, channel: 'mine', value: VALUE }],
});

const ofTool = ({ tool, oldTool, upstream }: Names) => [
  { tool_id: tool },
  { tool_id: oldTool },
  { tool_id: `${upstream}__changed` },
];

/**
 * Attacks written by hand. A new operation without a derived attack does not compile without one here, or fails the
 * test.
 */
const OWN: OwnAttacks = {
  'tools.invoke': invocations,
  'tools.dry-run': invocations,
  'invocations.list': ({ agent, tool }) => [{}, { agent_did: agent }, { tool_id: tool }, { limit: 200 }],
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
  'approvals.approve': ({ approval, decided }) => [
    { approval_id: approval },
    { approval_id: approval, parameters: { q: 'x' } },
    { approval_id: approval, remember: { scope: 'tool', for_seconds: 60 } },
    { approval_id: decided },
  ],
  'approvals.answer': ({ approval }) => [
    { answer_token: `spa_${'A'.repeat(43)}`, decision: 'approve' },
    { answer_token: approval, decision: 'deny' },
  ],
  'approvals.delegate': ({ agent }) => [{ to: agent, for_seconds: 60 }],
  'invocations.verify': ({ invocation, running, token }) => [
    { invocation_id: invocation, parameters: { q: 'x' } },
    { invocation_id: running },
    { invocation_id: invocation, capability_token: token },
  ],
  'outcomes.list': ({ invocation }) => [{}, { settled: true }, { after: invocation }],
  'outcomes.settle': ({ invocation }) => [{ invocation_id: invocation, outcome: 'happened', note: 'mine' }],
  'outcomes.reconcile': ({ invocation, tool, token }) => [
    { invocation_id: invocation, tool_id: tool },
    { invocation_id: invocation, tool_id: tool, capability_token: token },
  ],
  'checkpoints.list': ({ invocation, running }) => [{ invocation_id: invocation }, { invocation_id: running }],
  'checkpoints.diff': ({ checkpoint }) => [{ checkpoint_id: checkpoint, with: checkpoint }],
  'threads.list': ({ thread }) => [{}, { limit: 100 }, { thread_id: thread }],
  'threads.save': ({ thread }) => [savedThread(thread)],
  'threads.write': ({ thread }) => [writtenThread(thread)],
  'offers.list': ({ upstream }) => [
    { list: 'servers' },
    { list: 'servers', upstream },
    { list: 'resources', upstream },
    { list: 'templates', upstream },
    { list: 'prompts', upstream },
  ],
  'side-effects.list': ({ agent }) => [{}, { agent_did: agent }, { turn_group_id: 'turn-1' }, { limit: 200 }],
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
  'tools.restore': (names) => ofTool(names).map((input) => ({ ...input, version: '1.0.0' })),
  'tools.diff': (names) => ofTool(names).map((input) => ({ ...input, from: '1.0.0' })),
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
  'upstreams.add': ({ upstream }) => [{ upstream: upstreamOf(upstream) }],
  'upstreams.finish-login': ({ upstream }) => [
    { name: upstream, redirected_to: 'http://127.0.0.1:8976/callback?code=mine&state=mine' },
    { name: upstream, state: 'mine' },
  ],
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
  'availability.set': ({ tool, oldTool }) => [
    { tool_id: tool, available: false },
    { tool_id: oldTool, available: true },
  ],
  'activations.list': ({ agent, tool }) => [{}, { agent_did: agent }, { tool_id: tool }],
  'activations.set': ({ agent, tool }) => [{ agent_did: agent, tool_id: tool, enabled: false }],
  'activations.remove': ({ agent, tool }) => [{ agent_did: agent, tool_id: tool }],
  'views.put': ({ view, agent, tool, upstream }) => [
    { view: { name: view, agents: [agent, '*'], conflict: 'manual', sources: [{ source: 'local', allow: [tool] }] } },
    { view: { name: view, agents: ['*'], conflict: 'manual', sources: [{ source: upstream }] } },
  ],
  'tokens.mint': ({ tenant, agent }) => [
    { tenant_id: tenant },
    { tenant_id: tenant, roles: ['admin'] },
    { agent_did: agent },
  ],
  'tokens.explain': ({ token, apiKey }) => [{ token }, { token: apiKey }],
  'tokens.revoke': ({ token, apiKey, jti, agent }) => [
    { token },
    { token: apiKey },
    { jti },
    { agent_did: agent },
    { whole_tenant: true },
  ],
  'revocations.list': () => [{}, { page_size: 200 }],
  'keys.rotate': () => [{ overlap_seconds: 0 }],
  'api-keys.create': ({ tenant, agent, tool }) => [
    { name: 'mine', tenant_id: tenant },
    { name: 'mine', agent_did: agent, tool_id: tool },
  ],
  'policies.list': () => [{}, { text: true }],
  'policies.explain': ({ invocation, running, tenant, agent, tool }) => [
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
  'audit.verify-anchors': () => [{ anchors: [] }, { anchors: [ANCHOR] }],
};

const attacksOf = ([name, entry]: [string, OperationEntry]): [string, (names: Names) => readonly object[]] => [
  name,
  OWN[name as OperationName] ?? ((names) => derived(entry, names)),
];

/** The attacks on each operation there is. */
export const ATTACKS = Object.fromEntries(Object.entries(OPERATIONS).map(attacksOf)) as Attacks;
