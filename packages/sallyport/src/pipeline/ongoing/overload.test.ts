import { expect, test } from 'vitest';
import { manifest, pipeline } from '../pipeline.fixture.ts';

test('PIPE-08.4 a layer that runs as many calls as it may refuses the next at once, with a hint, until one ends', async () => {
  const { parts } = await pipeline();
  const { add, call, token } = await pipeline({ limits: { ...parts.limits, callsMax: 2 } });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ran: unknown[] = [];
  await add(manifest('tool'), async ({ n }) => {
    ran.push(n);
    await released;
  });
  const ask = async (n: number, agent_did: string) =>
    call({ tool_id: 'tool', parameters: { n }, capability_token: await token({ agent_did }) });
  const running = [ask(1, 'did:agent:a'), ask(2, 'did:agent:b')];
  await expect.poll(() => ran.length).toBe(2);
  // The limit is of the layer: another agent is refused too.
  const refused = await ask(3, 'did:agent:c');
  expect(refused).toMatchObject({ failure: { code: 'E3803', retryAfterMs: 250 } });
  release();
  for (const record of await Promise.all(running)) expect(record).toMatchObject({ state: 'COMPLETED' });
  expect(await ask(4, 'did:agent:c')).toMatchObject({ state: 'COMPLETED' });
  expect(ran.toSorted()).toEqual([1, 2, 4]);
});
