import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import type { EmbeddedToolLayer } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';

/** The names of everything in a tenant; an attacker with lucky guesses knows these, and no more. */
export interface Names {
  readonly tenant: string;
  readonly agent: string;
  readonly tool: string;
  readonly oldTool: string;
  readonly upstream: string;
  readonly view: string;
  /** A checkpoint of the call that runs. */
  readonly checkpoint: string;
  /** A thread of the agent. */
  readonly thread: string;
  /** Id of the tenant's circuit for `upstream`. */
  readonly circuit: string;
  readonly invocation: string;
  readonly running: string;
  readonly idempotencyKey: string;
  /** Id of an approval that waits for a person. */
  readonly approval: string;
  /** Id of an approval that was given. */
  readonly decided: string;
  readonly approvalRule: string;
  readonly delegation: string;
  readonly keyId: string;
  readonly revocationId: string;
  readonly jti: string;
  readonly token: string;
  readonly apiKey: string;
  /** Words from the tool's description, to search for. */
  readonly words: string;
}

/** A tenant with one of everything, and the texts that no other tenant may read. */
export interface Planted extends AsyncDisposable {
  readonly names: Names;
  /** Texts that cannot be guessed. */
  readonly marks: readonly string[];
  /** Ends the running call. */
  finish(): void;
  readonly finished: Promise<unknown>;
}

const SERVER = fileURLToPath(
  new URL('../../../packages/sallyport/src/mcp-servers/test-servers/changing-server.mjs', import.meta.url),
);

/** A text that occurs nowhere else. */
const word = (kind: string): string => `${kind}${randomBytes(9).toString('hex')}`;

/** Names of the same form that name nothing. */
export const absentNames = (token: string): Names => ({
  tenant: word('tenant'),
  agent: `did:example:${word('agent')}`,
  tool: word('tool'),
  oldTool: word('old'),
  upstream: word('up'),
  view: word('view'),
  circuit: `mcp:${word('circuit')}`,
  checkpoint: word('checkpoint'),
  thread: word('thread'),
  invocation: word('call'),
  running: word('running'),
  idempotencyKey: word('key'),
  approval: crypto.randomUUID(),
  decided: crypto.randomUUID(),
  approvalRule: crypto.randomUUID(),
  delegation: crypto.randomUUID(),
  keyId: crypto.randomUUID(),
  revocationId: crypto.randomUUID(),
  jti: crypto.randomUUID(),
  token,
  apiKey: `sp_${randomBytes(32).toString('base64url')}`,
  words: word('words'),
});

/** Session of every token that is made here. */
export const SESSION = 'session-of-somebody';
const WAITING = { timeout: 50_000, interval: 20 } as const;
const LOCAL = { door: 'library', local: true } as const;

/** Creates one of everything in the layer's default tenant. */
export async function plant(layer: EmbeddedToolLayer): Promise<Planted> {
  const marks: string[] = [];
  const marked = (kind: string): string => {
    const mark = word(kind);
    marks.push(mark);
    return mark;
  };
  const tenant = layer.settings['tenant.default'];
  const absent = absentNames('');
  const names = { ...absent, tenant, words: marked('description'), circuit: `mcp:${absent.upstream}` };
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  const { promise: gate, resolve: finish } = Promise.withResolvers<void>();

  const manifest = (tool_id: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
    tool_id,
    tool_name: marked('title'),
    version: '1.0.0',
    description: `Answers with ${names.words}.`,
    tags: [marked('tag')],
    parameters_schema: { type: 'object', properties: { q: { type: 'string', description: marked('parameter') } } },
    executor: { kind: 'native' },
    side_effect_policy: 'idempotent',
    execution_config: { default_timeout_seconds: 300 },
    ...more,
  });
  const result = marked('result');
  const used = manifest(names.tool);
  const state = { [marked('member')]: marked('state') };
  await layer.registerFunction(used, async ({ q }, { checkpoints }) => {
    if (q !== 'wait') return { result };
    await checkpoints.save(state, { name: marked('label'), phase: marked('phase') });
    return gate.then(() => ({ result }));
  });
  await layer.ask(
    'tools.register',
    { manifest: { ...used, version: '1.1.0-next', description: marked('next') } },
    LOCAL,
  );
  await layer.ask('tools.register', { manifest: { ...manifest(names.oldTool) } }, LOCAL);
  const said = { migration_guide: marked('guide'), reason: marked('reason') };
  await layer.ask('tools.deprecate', { tool_id: names.oldTool, ...said }, LOCAL);

  await plantUpstream(layer, names.upstream, folder, marked);
  await plantRules(layer, names, marked);
  const identities = await plantIdentities(layer, names, marked);
  const planted = { ...names, ...identities };
  const { capability_token: token } = await layer.mintToken({ agent_did: names.agent });
  const caller = { token };
  await plantThread(layer, token, names.thread, marked);
  const parameters = { q: marked('argument') };
  const call = { tool_id: names.tool, parameters, invocation_id: names.invocation };
  const options = { execution_options: { idempotency_key: names.idempotencyKey } };
  expect(await layer.invoke({ ...call, ...options }, caller)).toMatchObject({ status: 'success', result: { result } });
  const approvals = await plantApprovals(layer, names, token, marked);
  const long = { tool_id: names.tool, parameters: { q: 'wait' }, invocation_id: names.running };
  const finished = layer.invoke(long, caller);
  await vi.waitFor(async () => {
    const status = await layer.ask('invocations.get', { invocation_id: names.running }, LOCAL);
    expect(status).toMatchObject({ state: 'EXECUTING', latest_checkpoint: {} });
  }, WAITING);
  const { checkpoints } = await layer.ask('checkpoints.list', { invocation_id: names.running }, LOCAL);
  return {
    names: { ...planted, ...approvals, checkpoint: checkpoints[0]?.checkpoint_id ?? '' },
    marks,
    finish,
    finished,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

type Marked = (kind: string) => string;

/** Saves a state of a thread, and a write on top of it. */
async function plantThread(layer: EmbeddedToolLayer, token: string, thread_id: string, marked: Marked): Promise<void> {
  const caller = { door: 'library', token } as const;
  const value = { type: 'json', base64: '' };
  const place = { thread_id, checkpoint_id: marked('state') };
  const channel = marked('channel');
  const values = [{ channel, version: '1', value }];
  await layer.ask(
    'threads.save',
    { ...place, state: value, metadata: value, versions: { [channel]: '1' }, values },
    caller,
  );
  const write = { task_id: marked('task'), index: 0, channel, value };
  await layer.ask('threads.write', { ...place, writes: [write] }, caller);
}

/** Adds an upstream with one tool that is accepted, and one that has changed and waits for an operator. */
async function plantUpstream(layer: EmbeddedToolLayer, name: string, folder: string, marked: Marked): Promise<void> {
  const tool = (id: string) => ({ name: id, description: marked(id), inputSchema: { type: 'object' } });
  const file = join(folder, 'state.json');
  const kept = tool('kept');
  await writeFile(file, JSON.stringify({ version: '1.0.0', tools: [kept, tool('changed')] }));
  const transport = {
    type: 'stdio' as const,
    command: 'node',
    args: [SERVER, 'stdio', file],
    env: { SOMETHING: marked('environment') },
    mounts: [{ path: folder, mode: 'rw' as const }],
  };
  await layer.ask('upstreams.add', { upstream: { name, transport } }, LOCAL);
  const { capability_token } = await layer.mintToken({});
  const parameters = { state: { version: '1.0.0', tools: [kept, tool('changed')] } };
  await layer.invoke({ tool_id: `${name}__control`, parameters, capability_token });
  await vi.waitFor(async () => {
    const { quarantined } = await layer.ask('upstreams.quarantine', {}, LOCAL);
    expect(quarantined).toMatchObject([{ tool: 'changed' }]);
  }, WAITING);
}

async function plantRules(layer: EmbeddedToolLayer, names: Names, marked: Marked): Promise<void> {
  const { agent, tool, oldTool, view: name } = names;
  await layer.ask('activations.set', { agent_did: agent, tool_id: tool, reason: marked('activation') }, LOCAL);
  await layer.ask('availability.set', { tool_id: oldTool, available: false, reason: marked('availability') }, LOCAL);
  const agents = [`did:example:${marked('viewed')}`];
  const sources = [{ source: 'local', allow: [tool] }];
  const view = { name, description: marked('viewing'), agents, conflict: 'prefix' as const, sources };
  await layer.ask('views.put', { view }, LOCAL);
}

/** Makes a call that waits for a person, one that was approved for good, and a delegation of an approver. */
async function plantApprovals(layer: EmbeddedToolLayer, { tool, agent }: Names, token: string, marked: Marked) {
  const ask = async () => {
    const call = { tool_id: tool, parameters: { q: marked('asked') }, execution_options: { require_approval: true } };
    const { approval, status } = await layer.invoke(call, { token });
    expect(status).toBe('pending_approval');
    return approval?.approval_id ?? '';
  };
  const [approval, decided] = [await ask(), await ask()];
  const remember = { scope: 'exact_arguments' as const, for_seconds: 86_400 };
  const yes = { approval_id: decided, remember, reason: marked('approved') };
  const { rule } = await layer.ask('approvals.approve', yes, LOCAL);
  const lent = { to: agent, for_seconds: 86_400, reason: marked('delegated') };
  const { delegation_id: delegation } = await layer.ask('approvals.delegate', lent, LOCAL);
  await vi.waitFor(async () => {
    const { events } = await layer.ask('audit.query', { type: 'ai.agent.approval.requested' }, LOCAL);
    expect(events).toHaveLength(2);
  }, WAITING);
  return { approval, decided, approvalRule: rule?.rule_id ?? '', delegation };
}

async function plantIdentities(layer: EmbeddedToolLayer, { agent, jti, tool }: Names, marked: Marked) {
  const request = { name: marked('keyname'), agent_did: agent, tool_id: tool };
  const { api_key: apiKey, key } = await layer.ask('api-keys.create', request, LOCAL);
  const revocation = await layer.ask('tokens.revoke', { jti, reason: marked('revoked') }, LOCAL);
  const { capability_token: token } = await layer.mintToken({ agent_did: agent, session_id: SESSION });
  return { apiKey, keyId: key.key_id, revocationId: revocation.revocation_id, token };
}
