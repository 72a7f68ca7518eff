import { expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import { createNativeExecutor } from '../../executors/native/native-executor.ts';
import { createPolicyDecisions } from '../../permission/policy-decisions.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

const fault = (): never => {
  throw new Error('the disk is full');
};

test('AUD-01 a call is on record for the one who asked, also when its tool is not there or cannot be looked for', async () => {
  const made = await pipeline();
  await made.add(manifest('tool'), () => 'ran');
  const asker = { tenantId: 'acme', agentDid: 'did:agent:a' };
  const absent = await made.call({ tool_id: 'nowhere', parameters: {} });
  expect(absent).toMatchObject({ ...asker, failure: { code: 'E3001' } });
  const { visible } = made.parts;
  const broken = await pipeline({ visible: { ...visible, findAnywhere: fault } });
  expect(await broken.call({ tool_id: 'tool', parameters: { n: 1 } })).toMatchObject({
    ...asker,
    failure: { code: 'E3900' },
  });
});

test('PRM-06 the trust in a call is on record, also when the policy or the gate behind it fails', async () => {
  const engine = { name: 'broken', version: () => '1', decide: fault };
  const gate = { judge: fault } as never;
  for (const changes of [{ policy: createPolicyDecisions({ engine }) }, { gate }]) {
    const made = await pipeline(changes);
    await made.add(manifest('tool'), () => 'ran');
    const capability_token = await made.token({ trust_level: 'provisional' });
    const record = await made.call({ tool_id: 'tool', parameters: { n: 1 }, capability_token });
    expect(record).toMatchObject({ trust: 'provisional' });
    expect(record.failure).toBeDefined();
  }
});

test('PIPE-08 how long a call waited for its slot is on record, also when what it takes next fails', async () => {
  const quota = { knownSpent: () => undefined, take: fault } as never;
  const made = await pipeline({ quota });
  await made.add(manifest('tool'), () => 'ran');
  const slots = Array.from({ length: made.parts.limits.callsPerAgentMax }, () =>
    made.parts.running.slots.take('acme\ndid:agent:a', made.parts.limits.callsPerAgentMax),
  );
  const waiting = made.call({ tool_id: 'tool', parameters: { n: 1 } });
  await expect.poll(() => made.parts.running.slots.waiting).toBe(1);
  slots[0]?.free();
  const { failure, metadata } = await waiting;
  expect(failure?.code).toBe('E3900');
  expect(metadata?.slot_wait_ms).toBeGreaterThan(0);
});

test('AUD-01.2 AUD-01.3 the end of a call is an event of its type: succeeded, failed, or out of time', async () => {
  const made = await pipeline();
  await made.add(manifest('tool'), () => 'ran');
  await made.add(manifest('broken'), fault);
  await made.add(manifest('slow'), () => new Promise(() => undefined));
  const endOf = async (request: ToolInvokeRequest) => {
    const { invocationId } = await made.call({ parameters: { n: 1 }, ...request });
    return (await made.eventsOf(invocationId)).at(-1)?.type;
  };
  expect(await endOf({ tool_id: 'tool' })).toBe('ai.agent.tool.succeeded');
  expect(await endOf({ tool_id: 'broken' })).toBe('ai.agent.tool.failed');
  const elsewhere = { agent_context: { agent_did: 'did:agent:b', tenant_id: 'acme' } };
  expect(await endOf({ tool_id: 'tool', ...elsewhere })).toBe('ai.agent.tool.failed');
  expect(await endOf({ tool_id: 'slow', resource_limits: { timeout_seconds: 0.01 } })).toBe('ai.agent.tool.timeout');
});

test('PIPE-10 the arguments of a tool that says it is deterministic are on record, with what else its answer depends on', async () => {
  const made = await pipeline();
  const inputsOf = async (more: Partial<ToolManifest>, body: () => unknown = () => 'ran') => {
    const version = `1.0.${versions++}`;
    await made.add(manifest('tool', { version, ...more }), body);
    return (await made.call({ tool_id: 'tool', tool_version: version, parameters: { n: 1 } })).inputs;
  };
  let versions = 0;
  expect(await inputsOf({ deterministic: true })).toEqual({ parameters: { n: 1 } });
  expect(await inputsOf({})).toBeUndefined();
  expect(await inputsOf({ deterministic: true, side_effect_policy: 'idempotent' })).toBeUndefined();
  expect(await inputsOf({ deterministic: true }, fault)).toBeUndefined();
});

test('VIS-03 a call is on record with what takes it back, where it did or may have done something', async () => {
  const made = await pipeline();
  await made.add(manifest('undo'), () => 'undone');
  const back = { compensation_tool_id: 'undo' };
  let whileItRuns: unknown;
  await made.add(manifest('pay', { side_effect_policy: 'compensatable', ...back }), async ({ n }) => {
    whileItRuns = await made.store.findInvocation('acme', `pay-${n}`);
    if (n === 13) throw new Error('no money');
    return 'paid';
  });
  const pay = (n: number) => made.call({ tool_id: 'pay', parameters: { n }, invocation_id: `pay-${n}` });
  const compensation = { toolId: 'undo', parameters: { n: 1 } };
  expect(await pay(1)).toMatchObject({ compensation });
  expect(whileItRuns).toMatchObject({ state: 'EXECUTING', compensation });
  const failed = await pay(13);
  expect(failed).toMatchObject({ state: 'FAILED' });
  expect(failed).not.toHaveProperty('compensation');
});

test('PIPE-11.1 how long a call took, and when it ended, is by the clock of the layer', async () => {
  const time = { ms: 1_000 };
  const clock = { now: () => 1_700_000_000_000 + time.ms, monotonic: () => time.ms };
  const made = await pipeline({ clock });
  await made.add(manifest('tool'), () => {
    time.ms += 500;
  });
  expect((await made.call({ tool_id: 'tool', parameters: { n: 1 } })).metadata).toMatchObject({
    duration_ms: 500,
    started_at: '2023-11-14T22:13:21.000Z',
    completed_at: '2023-11-14T22:13:21.500Z',
  });
});

test('PIPE-11.2 PIPE-11.3 what a run used is on record, with the limits that hold more weakly here', async () => {
  const native = createNativeExecutor();
  const usage = { ...NO_USAGE, cpuMillicoreSeconds: 7, networkBytesSent: 8, weakerLimits: ['memory'] as const };
  const executor = { ...native, owns: () => true, execute: async () => ({ result: 'ran', usage }) };
  const made = await pipeline({ executors: createCompositeExecutor([executor]) });
  await made.add(manifest('tool'), () => 'ran');
  expect((await made.call({ tool_id: 'tool', parameters: { n: 1 } })).metadata).toMatchObject({
    cpu_used_millicore_seconds: 7,
    network_bytes_sent: 8,
    weaker_limits: ['memory'],
  });
});
