import {
  OPERATIONS,
  type OperationInput,
  type OperationName,
} from '../../../packages/sallyport/src/operations/catalogue.ts';
import type { CallNames } from './planted.ts';

/** For each operation, the requests of another user of the same client who knows these names. */
export type Attacks = { readonly [N in OperationName]: (names: CallNames) => readonly OperationInput<N>[] };

/** For an operation whose input names no call and nothing that belongs to a call. */
const NOTHING = () => [];

const eachCall = ({ paid, inTurn, running, waiting, looked, unknown }: CallNames) =>
  [paid, inTurn, running, waiting, looked, unknown].map((invocation_id) => ({ invocation_id }));

const invocations = ({ key, turnGroup, paid, running, waiting }: CallNames) => [
  // The attacker uses the ids of the victim's calls for calls of their own.
  ...[paid, running, waiting].flatMap((invocation_id) => [
    { tool_id: 'pay', parameters: { q: 'mine' }, invocation_id },
    { tool_id: 'nothing', invocation_id },
    { tool_id: 'pay', parameters: { q: 7 }, invocation_id },
    // From the second time on the first call with this key answers.
    { tool_id: 'pay', parameters: { q: 'mine' }, execution_options: { idempotency_key: 'again' } },
    { tool_id: 'pay', parameters: { q: 'mine' }, invocation_id, execution_options: { idempotency_key: 'again' } },
  ]),
  { tool_id: 'pay', parameters: { q: 'mine' }, execution_options: { idempotency_key: key } },
  { tool_id: 'pay', parameters: { q: 'the same' }, execution_options: { idempotency_key: key } },
  { tool_id: 'pay', parameters: { q: 'the same' }, execution_options: { turn_group_id: turnGroup } },
  { tool_id: 'look', parameters: { q: 'the same' } },
];

const VALUE = { type: 'json', base64: '' };
const byCall = (names: CallNames) => eachCall(names);
const byApproval = ({ approval }: CallNames) => [{ approval_id: approval }];

/**
 * One entry for each operation that an agent may use or that concerns calls; a test reports a missing entry.
 */
export const OWN: Partial<Attacks> = {
  'tools.invoke': invocations,
  'tools.dry-run': invocations,
  'invocations.list': ({ agent }) => [
    {},
    { limit: 1 },
    { agent_did: agent },
    { state: ['EXECUTING'] },
    { limit: 200 },
    { deferred: true },
  ],
  'invocations.get': byCall,
  'invocations.cancel': byCall,
  'invocations.watch': byCall,
  'invocations.overflow': byCall,
  'invocations.extend': (names) => eachCall(names).map((call) => ({ ...call, extend_seconds: 60 })),
  'invocations.verify': (names) => [...eachCall(names), { invocation_id: names.looked, parameters: { q: 'the same' } }],
  'approvals.list': () => [{}, { state: 'decided' }],
  'approvals.get': byApproval,
  'approvals.approve': byApproval,
  'approvals.deny': byApproval,
  'approvals.answer': ({ approval }) => [{ answer_token: approval, decision: 'deny' }],
  'approvals.rules': () => [{}],
  'approvals.revoke-rule': ({ approval }) => [{ rule_id: approval }],
  'approvals.delegate': ({ agent }) => [{ to: agent, for_seconds: 60 }],
  'approvals.delegations': () => [{}],
  'approvals.end-delegation': ({ approval }) => [{ delegation_id: approval }],
  'outcomes.list': ({ unknown }) => [{}, { after: unknown }],
  'outcomes.get': byCall,
  'outcomes.settle': ({ unknown }) => [{ invocation_id: unknown, outcome: 'happened', note: 'mine' }],
  'outcomes.reconcile': ({ unknown }) => [{ invocation_id: unknown, tool_id: 'look', parameters: { q: 'mine' } }],
  'contexts.get': ({ agent, user }) => [
    { tool_id: 'pay' },
    { tool_id: 'pay', agent_id: agent },
    { tool_id: 'pay', agent_id: agent, ...(user === undefined ? {} : { user_id: user }) },
  ],
  'checkpoints.list': byCall,
  'checkpoints.get': ({ checkpoint }) => [{ checkpoint_id: checkpoint }],
  'checkpoints.diff': ({ checkpoint }) => [{ checkpoint_id: checkpoint, with: checkpoint }],
  'threads.list': ({ thread }) => [{}, { limit: 100 }, { thread_id: thread }],
  'threads.save': ({ thread }) => [
    {
      ...{ thread_id: thread, checkpoint_id: 'one', state: VALUE, metadata: VALUE, versions: { mine: '1' } },
      values: [{ channel: 'mine', version: '1', value: VALUE }],
    },
  ],
  'threads.write': ({ thread }) => [
    {
      ...{ thread_id: thread, checkpoint_id: 'one' },
      writes: [{ task_id: 'mine', index: -1, channel: 'mine', value: VALUE }],
    },
  ],
  'threads.remove': ({ thread }) => [{ thread_id: thread }],
  'checkpoints.restore': ({ checkpoint }) => [{ checkpoint_id: checkpoint }],
  'checkpoints.remove': ({ checkpoint }) => [{ checkpoint_id: checkpoint }],
  'side-effects.list': ({ agent, turnGroup }) => [
    {},
    { limit: 1 },
    { agent_did: agent },
    { turn_group_id: turnGroup },
    { needs_compensation: true },
  ],
  'side-effects.get': byCall,
  'side-effects.compensate': (names) => [...eachCall(names), { invocation_id: names.paid, arguments: { q: 'mine' } }],
  'side-effects.compensate-all': ({ paid, inTurn, turnGroup }) => [
    { invocation_ids: [paid] },
    { invocation_ids: [inTurn, paid], continue_on_failure: true },
    { turn_group_id: turnGroup },
  ],
  'policies.explain': byCall,
  'audit.query': ({ paid, agent }) => [{}, { invocation_id: paid }, { agent_did: agent }],
  // What upstreams offer is the same for all users of a tenant, except where connections are per caller: then it is not listed.
  'offers.list': () => [{ list: 'servers' }, { list: 'resources' }, { list: 'templates' }, { list: 'prompts' }],
  'visibility.list': ({ agent }) => [{ list: 'agent-enabled', agent_did: agent }, { list: 'agent-unavailable' }],
  'activations.list': ({ agent, user }) => [{}, { agent_did: agent, ...of(user) }],
  'activations.set': ({ agent, user }) => [{ agent_did: agent, ...of(user), tool_id: 'mail', enabled: true }],
  'activations.remove': ({ agent, user }) => [{ agent_did: agent, ...of(user), tool_id: 'mail' }],
  'tools.list': () => [{}],
  'tools.search': () => [{ query: 'mail', threshold: 0 }],
  'tools.get': () => [{ tool_id: 'mail' }],
  'tools.manifests': () => [{}],
  'tokens.inspect': () => [{}],
  'tokens.mint': ({ agent, user }) => [{ agent_did: agent, ...of(user) }],
  'tokens.explain': ({ token }) => [{ token }],
  'tokens.revoke': ({ token, agent }) => [{ token }, { agent_did: agent }],
  'api-keys.create': ({ agent }) => [{ name: 'mine', agent_did: agent }],
  'revocations.list': () => [{}],
  // Logins of users are attacked in test/e2e/upstreams/per-user-logins.test.ts, where there is an upstream.
  'upstreams.login': () => [{ name: 'notes' }],
  'upstreams.finish-login': () => [
    { name: 'notes', redirected_to: 'http://127.0.0.1:8976/callback?code=a&state=b' },
    { name: 'notes', state: 'b' },
  ],
  'upstreams.logout': () => [{ name: 'notes' }],
  'tools.diff': NOTHING,
  'tools.compliance': NOTHING,
};

/** The attacks on every operation. An operation that needs a role and has no entry here names no call. */
export const ATTACKS = Object.fromEntries(
  Object.keys(OPERATIONS).map((name) => [name, OWN[name as OperationName] ?? NOTHING]),
) as Attacks;

const of = (user: string | undefined) => (user === undefined ? {} : { user_did: user });
