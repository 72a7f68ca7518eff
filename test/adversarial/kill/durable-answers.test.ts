import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import {
  createDatabaseServer,
  type DatabaseServer,
} from '../../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import { clientOf, urlOf } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';

const TEST_MS = 120_000;
const POLICIES = ['pure', 'idempotent', 'compensatable', 'irreversible', undefined] as const;

let folder: string;
let server: DatabaseServer;
let layer: EmbeddedToolLayer;
let token: string;
/** What the next run of the tool does. */
let inside: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'durable-')));
  // What is committed asynchronously stays in memory for 10 s: a kill within that time surely loses it.
  server = await createDatabaseServer(folder, { wal_writer_delay: '10s' });
  await server.start();
  layer = await createToolLayer({
    settings: {
      data_folder: join(folder, 'layer'),
      'database.url': urlOf(server.connection),
      'search.embedder': 'none',
      'notifiers.enabled': [],
      // The layer itself must commit nothing, because a commit would also write the calls to the disk.
      'audit.checkpoint_seconds': 3_600,
      'approvals.sweep_seconds': 3_600,
      'workers.lease_seconds': 3_600,
    },
    log: silentLog,
  });
  for (const policy of POLICIES)
    await layer.registerFunction(toolOf(policy), async () => inside().then(() => ({ done: true })));
  await layer.registerFunction(toolOf('asks'), () => ({ done: true }));
  token = (await layer.mintToken({})).capability_token;
}, TEST_MS);
afterAll(async () => {
  await layer.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function toolOf(policy: (typeof POLICIES)[number] | 'asks'): ToolManifest {
  const tool_id = `tool_${policy ?? 'unsaid'}`;
  return {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: 'Does something.',
    parameters_schema: { type: 'object', properties: { n: { type: 'integer' } } },
    executor: { kind: 'native' },
    ...(policy === undefined
      ? {}
      : policy === 'asks'
        ? { requires_confirmation: true }
        : { side_effect_policy: policy }),
  };
}

/** Kills the database at once, and starts it again. */
async function crash(): Promise<void> {
  await server.kill();
  await server.start();
}

/** State of a call’s row as the database has it after a crash; undefined for none. */
async function stateOnDisk(invocationId: string): Promise<string | undefined> {
  const client = await clientOf(server.connection);
  try {
    const { rows } = await client.query<{ state: string }>(
      'select state from sallyport.tool_invocations where invocation_id = $1',
      [invocationId],
    );
    return rows[0]?.state;
  } finally {
    await client.end();
  }
}

let calls = 0;
const invoke = (policy: (typeof POLICIES)[number] | 'asks', more: object = {}) => {
  calls += 1;
  return layer.invoke({ tool_id: toolOf(policy).tool_id, parameters: { n: calls }, ...more }, { token });
};
const KEYED = () => ({ execution_options: { idempotency_key: `key-${calls + 1}` } });

describe('ORC-06.3 AUD-02 a database that is killed right after the answer', () => {
  test.each([
    ['idempotent', {}],
    ['compensatable', {}],
    ['irreversible', {}],
    [undefined, {}],
    ['pure', 'keyed'],
    ['idempotent', 'keyed'],
  ] as const)('has the end of a call whose tool is %s (%s)', async (policy, more) => {
    for (let time = 0; time < 2; time += 1) {
      const answer = await invoke(policy, more === 'keyed' ? KEYED() : {});
      await crash();
      expect(answer.status).toBe('success');
      expect(await stateOnDisk(answer.invocation_id)).toBe('COMPLETED');
    }
  });

  test('AUD-02.1 has the events of the call too, from its beginning to its end', async () => {
    const { invocation_id } = await invoke('irreversible');
    await crash();
    const eventsOf = () => layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    await expect.poll(() => eventsOf().catch(() => undefined)).toBeDefined();
    const { events } = await eventsOf();
    const states = events.map(({ data }) => data['state']).filter((state) => state !== undefined);
    expect(states).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'COMPLETED']);
  });

  test('PIPE-07.6 has a call that was accepted, and one that waits for a person', async () => {
    for (const [policy, more] of [
      ['irreversible', { execution_options: { async_mode: true } }],
      ['pure', { execution_options: { async_mode: true } }],
      ['asks', {}],
    ] as const) {
      const { promise: gate, resolve } = Promise.withResolvers<void>();
      inside = () => gate;
      const answer = await invoke(policy, more);
      await crash();
      expect(['pending', 'running', 'pending_approval']).toContain(answer.status);
      expect(await stateOnDisk(answer.invocation_id)).toMatch(/^(?:AUTHORIZED|EXECUTING)$/);
      resolve();
      inside = async () => undefined;
    }
  });

  test('has what was decided on a call', async () => {
    const { approval, invocation_id } = await invoke('asks');
    await layer.ask('approvals.deny', { approval_id: approval?.approval_id ?? '', reason: 'no' }, LOCAL_CALLER);
    await crash();
    await expect.poll(() => stateOnDisk(invocation_id)).toBe('DENIED');
  });

  test('PIPE-01 has the refusal of a call for want of rights', async () => {
    const { capability_token } = await layer.mintToken({ tool_id: 'another' });
    const refused = await layer.invoke({ tool_id: 'tool_pure', parameters: {} }, { token: capability_token });
    await crash();
    expect(refused.status).toBe('permission_denied');
    expect(await stateOnDisk(refused.invocation_id)).toBe('DENIED');
  });
});

describe('ORC-06 PIPE-13 a database that is killed inside the tool', () => {
  test.each([
    ['compensatable', {}],
    ['irreversible', {}],
    [undefined, {}],
    ['pure', 'keyed'],
    ['idempotent', 'keyed'],
  ] as const)('PIPE-13.1 has the beginning of a call whose tool is %s (%s), and gets its end', async (policy, more) => {
    const invocation_id = `inside-${policy ?? 'unsaid'}-${typeof more === 'string' ? more : 'plain'}`;
    let begun: string | undefined;
    inside = async () => {
      await crash();
      begun = await stateOnDisk(invocation_id);
    };
    const answer = await invoke(policy, { invocation_id, ...(more === 'keyed' ? KEYED() : {}) });
    inside = async () => undefined;
    expect([begun, answer.status]).toEqual(['EXECUTING', 'success']);
    await crash();
    expect(await stateOnDisk(invocation_id)).toBe('COMPLETED');
  });
});
