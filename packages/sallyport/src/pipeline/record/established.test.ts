import { expect, test } from 'vitest';
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
