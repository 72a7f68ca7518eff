import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { unknownTool } from '../../registry/registry.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createVisibleTools } from '../visible-tools.ts';
import { nearNames } from './near-names.ts';

test('MOD-01 among 1 000 tools an unknown name is held against some hundreds, the nearest in the alphabet', async () => {
  const { parts, visibility } = await pipeline();
  const all = Array.from({ length: 1_000 }, (_, at) => manifest(`source${String(at % 100)}__tool_${at}`));
  await parts.registry.registerAll('acme', [...all, manifest('mail__send_letter'), manifest('mail__send_later')]);
  let looked = 0;
  const blocks = () => {
    looked += 1;
    return undefined;
  };
  const quarantine = {
    blocks,
    supersededBy: () => undefined,
    onChanged: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const visible = createVisibleTools({ registry: parts.registry, visibility, quarantine, catalogTenant: 'catalog' });
  const asking = { principal: { tenantId: 'acme', agentDid: 'did:agent:a', roles: ['agent' as const] } };
  const told = visible.read(asking, 'mail__send_leter');
  expect(isFailure(told) ? told.details : told).toEqual({
    did_you_mean: ['mail__send_letter', 'mail__send_later'],
  });
  expect(looked).toBe(512);
  looked = 0;
  expect(isFailure(visible.read(asking, 'mail__send_letter'))).toBe(false);
  expect(looked).toBe(1);
});

test.each([
  ['the first ones, of a name before all', 513, 'a', [0, 511]],
  ['the last ones, of a name after all', 513, 'z', [1, 512]],
  ['as many before it as after it', 2_000, 'tool1000', [744, 1255]],
  ['as many before it as after it, when the name is between two', 2_000, 'tool1000_', [745, 1256]],
  ['the first ones, up to the middle of them', 2_000, 'tool0256', [0, 511]],
  ['from the second on', 2_000, 'tool0257', [1, 512]],
  ['the last ones', 2_000, 'tool1999', [1_488, 1_999]],
  ['all, as long as they are few', 512, 'a', [0, 511]],
  ['all of 300', 300, 'z', [0, 299]],
])('MOD-01 with an unknown name are compared %s', (_which, count, name, [first = 0, last = 0]) => {
  const ids = Array.from({ length: count }, (_, at) => `tool${String(at).padStart(4, '0')}`);
  const compared: string[] = [];
  const { near } = nearNames({
    candidates: () => ids.map((id) => ({ manifest: manifest(id) }) as never),
    seenBy: () => (tool) => {
      compared.push(tool.manifest.tool_id);
      return undefined;
    },
  });
  expect(near({} as never, name)).toEqual([]);
  expect([compared[0], compared.at(-1), compared.length]).toEqual([ids[first], ids[last], last - first + 1]);
});

test('VIS-01 names are added to the error for an absent tool alone, under the names that the caller sees', () => {
  const { suggested } = nearNames({
    candidates: () => ['mail__send', 'mail__sends'].map((id) => ({ manifest: manifest(id) }) as never),
    seenBy: () => (tool) => (tool.manifest.tool_id === 'mail__send' ? ({ name: 'send_mail' } as never) : undefined),
  });
  const to = (found: Failure) => suggested(found, {} as never, 'send_mial');
  expect(to(unknownTool('send_mial')).details).toEqual({ did_you_mean: ['send_mail'] });
  for (const other of [failure('E3002', unknownTool('send_mial').message), failure('E3001', 'It was removed.')])
    expect(to(other)).toBe(other);
});
