import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createVisibleTools } from '../visible-tools.ts';

test('MOD-01 among 10 000 tools an unknown name is held against some hundreds, the nearest in the alphabet', async () => {
  const { parts, visibility } = await pipeline();
  const all = Array.from({ length: 10_000 }, (_, at) => manifest(`source${String(at % 100)}__tool_${at}`));
  await parts.registry.registerAll('acme', [...all, manifest('mail__send_letter'), manifest('mail__send_later')]);
  let looked = 0;
  const blocks = () => {
    looked += 1;
    return undefined;
  };
  const quarantine = { blocks, onChanged: () => ({ [Symbol.dispose]: () => undefined }) };
  const visible = createVisibleTools({ registry: parts.registry, visibility, quarantine, catalogTenant: 'catalog' });
  const asking = { principal: { tenantId: 'acme', agentDid: 'did:agent:a', roles: ['agent' as const] } };
  const told = visible.read(asking, 'mail__send_leter');
  expect(isFailure(told) ? told.details : told).toEqual({
    did_you_mean: ['mail__send_letter', 'mail__send_later'],
  });
  expect(looked).toBeLessThan(600);
  looked = 0;
  expect(isFailure(visible.read(asking, 'mail__send_letter'))).toBe(false);
  expect(looked).toBe(1);
});
