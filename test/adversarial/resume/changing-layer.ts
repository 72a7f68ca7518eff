// A program that the test starts and kills: a layer whose operator makes one change of each kind at the same time.
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import {
  createToolLayer,
  LOCAL_CALLER as LOCAL,
  type Settings,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';

/** What the test asks of one process. */
export interface ChangingOrder {
  readonly settings: Partial<Settings>;
  /** Folder of the server whose tools change; absent: no change is made. */
  readonly folder?: string;
}

const SERVER = fileURLToPath(
  new URL('../../../packages/sallyport/src/mcp-servers/test-servers/changing-server.mjs', import.meta.url),
);
const AGENT = 'did:example:changed';
const { settings, folder } = JSON.parse(process.argv[2] ?? '') as ChangingOrder;

/** Writes a line for the test. */
const say = (word: string, value: unknown = null): void => void writeSync(1, `${word} ${JSON.stringify(value)}\n`);

const layer = await createToolLayer({ settings, environment: {}, log: silentLog });

async function addTools(): Promise<void> {
  const manifest: ToolManifest = {
    ...{ tool_id: 'pay', tool_name: 'Pay', version: '1.0.0', description: 'Pays.' },
    side_effect_policy: 'irreversible',
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
  };
  await layer.registerFunction(manifest, () => {
    throw new ToolLayerError('E3107', 'The connection broke.', { details: { reached: true } });
  });
}

/** An upstream with a tool that its server has changed since it was accepted. */
async function addChanged(name: string, mounted: string, token: string): Promise<void> {
  const tool = (description: string) => ({ name: 'changed', description, inputSchema: { type: 'object' } });
  const file = join(mounted, `${name}.json`);
  writeFileSync(file, JSON.stringify({ version: '1.0.0', tools: [tool('Reads.')] }));
  const mounts = [{ path: mounted, mode: 'rw' as const }];
  const transport = { type: 'stdio' as const, command: 'node', args: [SERVER, 'stdio', file], mounts };
  await layer.ask('upstreams.add', { upstream: { name, transport } }, LOCAL);
  const parameters = { state: { version: '1.0.0', tools: [tool('Reads and writes.')] } };
  await layer.invoke({ tool_id: `${name}__control`, parameters, capability_token: token });
  while ((await layer.ask('upstreams.quarantine', { name }, LOCAL)).quarantined.length === 0) await sleep(20);
}

/** A call that waits for a person. @returns its approval */
async function waitingCall(token: string): Promise<string> {
  const call = { tool_id: 'pay', parameters: {}, execution_options: { require_approval: true } };
  return (await layer.invoke(call, { token })).approval?.approval_id ?? '';
}

/** Makes what the changes are made to. @returns the changes */
async function prepare(mounted: string): Promise<readonly (() => Promise<unknown>)[]> {
  const { capability_token: token } = await layer.mintToken({});
  for (const name of ['accepted', 'rejected']) await addChanged(name, mounted, token);
  const transport = { type: 'http' as const, url: 'http://127.0.0.1:9/' };
  for (const name of ['switched', 'removed'])
    await layer.ask('upstreams.add', { upstream: { name, transport, disabled: true } }, LOCAL);
  const view = (name: string) => ({
    ...{ name, agents: [`${AGENT}:${name}`], conflict: 'prefix' as const },
    sources: [{ source: 'local', allow: ['pay'] }],
  });
  await layer.ask('views.put', { view: view('removed') }, LOCAL);
  await layer.ask('activations.set', { agent_did: AGENT, tool_id: 'pay' }, LOCAL);
  const { key } = await layer.ask('api-keys.create', { name: 'revoked', tool_id: 'pay' }, LOCAL);
  const { revocation_id } = await layer.ask('tokens.revoke', { jti: 'lifted' }, LOCAL);
  const { delegation_id } = await layer.ask('approvals.delegate', { to: AGENT, for_seconds: 86_400 }, LOCAL);
  const remember = { scope: 'exact_arguments' as const, for_seconds: 86_400 };
  const [first, second] = [await waitingCall(token), await waitingCall(token)];
  const { rule } = await layer.ask('approvals.approve', { approval_id: first, remember }, LOCAL);
  const { invocation_id } = await layer.invoke({ tool_id: 'pay', parameters: { unknown: true } }, { token });
  return [
    () => layer.ask('tokens.revoke', { jti: 'revoked' }, LOCAL),
    () => layer.ask('revocations.lift', { revocation_id }, LOCAL),
    () => layer.ask('api-keys.create', { name: 'made', tool_id: 'pay' }, LOCAL),
    () => layer.ask('api-keys.revoke', { key_id: key.key_id }, LOCAL),
    () => layer.ask('outcomes.settle', { invocation_id, outcome: 'happened', note: 'The bank shows it.' }, LOCAL),
    () => layer.ask('approvals.approve', { approval_id: second, remember }, LOCAL),
    () => layer.ask('approvals.revoke-rule', { rule_id: rule?.rule_id ?? '' }, LOCAL),
    () => layer.ask('approvals.delegate', { to: `${AGENT}:made`, for_seconds: 86_400 }, LOCAL),
    () => layer.ask('approvals.end-delegation', { delegation_id }, LOCAL),
    () => layer.ask('views.put', { view: view('made') }, LOCAL),
    () => layer.ask('views.remove', { name: 'removed' }, LOCAL),
    () => layer.ask('activations.set', { agent_did: `${AGENT}:made`, tool_id: 'pay' }, LOCAL),
    () => layer.ask('activations.remove', { agent_did: AGENT, tool_id: 'pay' }, LOCAL),
    () => layer.ask('availability.set', { tool_id: 'pay', available: true }, LOCAL),
    () => layer.ask('upstreams.accept', { name: 'accepted', tool: 'changed' }, LOCAL),
    () => layer.ask('upstreams.reject', { name: 'rejected', tool: 'changed' }, LOCAL),
    () => layer.ask('upstreams.add', { upstream: { name: 'added', transport, disabled: true } }, LOCAL),
    () => layer.ask('upstreams.enable', { name: 'switched' }, LOCAL),
    () => layer.ask('upstreams.remove', { name: 'removed' }, LOCAL),
  ];
}

await addTools();
const changes = folder === undefined ? [] : await prepare(folder);
say('ready', changes.length);
process.stdin.once('data', () => {
  for (const change of changes) change().catch((cause: unknown) => say('refused', String(cause)));
});
await text(process.stdin);
await layer.close();
