import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CloudEvent } from '../../../packages/sallyport/api/schemas/cloud-event.ts';
import type { ToolInvokeRequest } from '../../../packages/sallyport/api/schemas/invocation.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

let folder = '';
let layer: EmbeddedToolLayer;
let token = '';
/** Events of side effects that the embedding program was notified of. */
const heard: CloudEvent[] = [];
/** Types of the events of side effects that the embedding program had received when the tool began to run. */
let startedBefore: string[] = [];

const toolOf = (tool_id: string, more: Partial<ToolManifest> = {}): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: 'A tool of the test.',
  parameters_schema: { type: 'object', properties: { order: { type: 'string', description: 'The order.' } } },
  executor: { kind: 'native' },
  ...more,
});
const SHORT = { execution_config: { default_timeout_seconds: 0.05 } } as const;

beforeAll(async () => {
  folder = await temporaryDataFolder('sallyport-fields-');
  layer = await createToolLayer({
    settings: { data_folder: folder, 'agent.mounts': ['.:ro'] },
    log: silentLog,
    environment: {},
    onSideEffect(event) {
      heard.push(event);
      throw new Error('a listener that fails changes nothing');
    },
  });
  token = (await layer.mintToken({})).capability_token;
  const hang = (_given: unknown, { signal }: { signal: AbortSignal }) => sleep(60_000, undefined, { signal });
  for (const policy of ['pure', 'idempotent', 'compensatable', 'irreversible'] as const) {
    await layer.registerFunction(toolOf(`late-${policy}`, { ...SHORT, side_effect_policy: policy }), hang);
  }
  await layer.registerFunction(toolOf('cancel', { side_effect_policy: 'irreversible' }), () => 'cancelled');
  await layer.registerFunction(
    toolOf('order', { side_effect_policy: 'compensatable', compensation_tool_id: 'cancel' }),
    async () => {
      while (heard.length === 0) await sleep(5);
      startedBefore = heard.map(({ type }) => type);
      return { order: 'o-1' };
    },
  );
  await layer.registerFunction(toolOf('pay', { execution_config: { requires_approval: true } }), () => 'paid');
  for (const [tool_id, script] of [
    ['says', 'echo hello'],
    ['fails', 'echo no >&2; exit 3'],
  ] as const) {
    const config = { command: ['/bin/sh', '-c', script], output: 'text' };
    await layer.ask(
      'tools.register',
      { manifest: toolOf(tool_id, { executor: { kind: 'shell', config } }) },
      LOCAL_CALLER,
    );
  }
});
afterAll(async () => {
  await layer.close();
  await rm(folder, { recursive: true, force: true });
});

const call = (tool_id: string, more: Partial<ToolInvokeRequest> = {}) =>
  layer.invoke({ tool_id, parameters: {}, capability_token: token, ...more });

/** Events of one call, by the last word of the event's type. */
async function eventsOf(invocation_id: string): Promise<Map<string, Record<string, unknown>>> {
  const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
  return new Map(events.map(({ type, data }) => [type.replace('ai.agent.tool.', ''), data]));
}

test.each(['pure', 'idempotent', 'compensatable', 'irreversible'])(
  'AUD-01.3 a call of a tool that is %s and runs out of time ends with the event timeout',
  async (policy) => {
    const { invocation_id, status } = await call(`late-${policy}`);
    expect(status).toBe('timeout');
    const events = await eventsOf(invocation_id);
    expect([...events.keys()]).toContain('timeout');
    expect([...events.keys()]).not.toContain('failed');
    expect(events.get('timeout')).toMatchObject({ tool_id: `late-${policy}`, tool_version: '1.0.0', state: 'ABORTED' });
  },
);

test('AUD-01.11 the beginning of a call says how it was asked for, and who asked: mode, priority, sub-agent', async () => {
  const agent_did = 'did:example:a';
  const { capability_token } = await layer.mintToken({ agent_did });
  const agent_context = { agent_did, tenant_id: 'default', caller_id: 'researcher-2' };
  const plain = await call('says');
  const asked = await call('says', { capability_token, agent_context, execution_options: { priority: 'high' } });
  expect((await eventsOf(plain.invocation_id)).get('invoked')).toMatchObject({ async_mode: false, priority: 'normal' });
  const events = await eventsOf(asked.invocation_id);
  expect(events.get('invoked')).toMatchObject({ async_mode: false, priority: 'high' });
  for (const data of events.values()) expect(data).toMatchObject({ caller_id: 'researcher-2' });
});

test('AUD-01.11 ORC-03.13 the beginning of a call says who approved it: nobody had to, people, or a standing rule', async () => {
  const approver = { agent_did: 'did:example:boss', user_did: 'did:user:boss', roles: ['approver' as const] };
  const { capability_token: yes } = await layer.mintToken(approver);
  const approvedBy = async (more: Partial<ToolInvokeRequest>, decide: boolean) => {
    const { invocation_id, approval } = await call('pay', more);
    const remember = { scope: 'exact_arguments' as const, for_seconds: 600 };
    const decision = { approval_id: approval?.approval_id ?? '', remember };
    if (decide) await layer.ask('approvals.approve', decision, { door: 'rest', token: yes });
    const state = () => layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER);
    await expect.poll(state).toMatchObject({ state: 'COMPLETED' });
    return (await eventsOf(invocation_id)).get('invoked')?.['approved_by'];
  };
  expect((await eventsOf((await call('says')).invocation_id)).get('invoked')).toMatchObject({ approved_by: 'auto' });
  expect(await approvedBy({}, true)).toBe('did:user:boss');
  expect(await approvedBy({}, false)).toMatch(/^rule:[0-9a-f-]{36}$/);
  expect(await approvedBy({ parameters: { order: 'b' }, execution_options: { async_mode: true } }, true)).toBe(
    'did:user:boss',
  );
});

test('AUD-01.11 the end of a program says its exit code, and whether its output was cut', async () => {
  const [said, failed] = [await call('says'), await call('fails')];
  expect(said).toMatchObject({ status: 'success', result: 'hello\n' });
  expect((await eventsOf(said.invocation_id)).get('succeeded')).toMatchObject({ exit_code: 0, truncated: false });
  expect((await eventsOf(failed.invocation_id)).get('failed')).toMatchObject({ exit_code: 3, truncated: false });
});

test('VIS-09.1 VIS-09.2 VIS-03.4 the embedding program hears of a side effect before it happens, of its end, and of its compensation', async () => {
  heard.length = 0;
  const { invocation_id } = await call('order', { execution_options: { idempotency_key: 'key-1' } });
  expect(startedBefore).toEqual(['ai.agent.tool.side_effect.started']);
  await layer.ask('side-effects.compensate', { invocation_id }, { door: 'library', token });
  const own = heard.filter(({ subject }) => subject === invocation_id);
  expect(own.map(({ type, data }) => [type.replace('ai.agent.tool.side_effect.', ''), data['side_effect']])).toEqual([
    [
      'started',
      { compensation_tool: 'cancel', idempotency_key: 'key-1', policy: 'compensatable', status: 'executing' },
    ],
    [
      'completed',
      { compensation_tool: 'cancel', idempotency_key: 'key-1', policy: 'compensatable', status: 'executed' },
    ],
    [
      'compensated',
      {
        compensation_executed: true,
        compensation_id: expect.any(String),
        compensation_tool: 'cancel',
        idempotency_key: 'key-1',
        policy: 'compensatable',
        status: 'compensated',
      },
    ],
  ]);
  const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
  for (const event of own) expect(events).toContainEqual(event);
});
