import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { PolicyDecision, PolicyEngine } from '../policy-engine.port.ts';
import { combineEngines } from './combine-engines.ts';
import { policyQuestion } from './policy.fixture.ts';

const engineThat = (name: string, decide: PolicyEngine['decide']): PolicyEngine => ({
  name,
  version: () => '1',
  decide,
});
const says = (name: string, decision: PolicyDecision, later = false): PolicyEngine =>
  engineThat(name, () => (later ? Promise.resolve(decision) : decision));
const down = engineThat('down', () => Promise.reject(new ToolLayerError('E3206', 'down is down.')));
const broken = engineThat('broken', () => {
  throw new Error('secret detail');
});
const ALLOW: PolicyDecision = { allowed: true, policies: ['a'] };
const DENY: PolicyDecision = { allowed: false, policies: ['d'], reasons: ['why'] };
const ASK: PolicyDecision = { allowed: false, ask: true, policies: ['q'] };
const decide = (enforced: PolicyEngine[], shadow: PolicyEngine[] = []) =>
  combineEngines({ enforced, shadow }).decide(policyQuestion());

describe.each([
  ['at once', false],
  ['later', true],
])('engines that answer %s', (_name, later) => {
  test('PRM-04.1 all must allow, and the first that denies is named and ends it', async () => {
    const [allow, deny] = [says('x', ALLOW, later), says('y', DENY, later)];
    const never = engineThat('never', () => expect.fail('asked'));
    expect(await decide([allow, says('z', { allowed: true, policies: ['b'] }, later)])).toEqual({
      allowed: true,
      policies: ['a', 'b'],
    });
    expect(await decide([allow, deny, never])).toEqual(DENY);
  });

  test('ask holds unless one denies', async () => {
    expect(await decide([says('x', ALLOW, later), says('y', ASK, later)])).toEqual(ASK);
    expect(await decide([says('x', ASK, later), says('y', ALLOW, later)])).toEqual(ASK);
    expect(await decide([says('x', ASK, later), says('y', DENY, later)])).toEqual(DENY);
  });

  test('the shortest lifetime counts', async () => {
    const brief = says('x', { ...ALLOW, cacheTtlSeconds: 5 }, later);
    expect(
      await decide([brief, says('y', { ...ALLOW, cacheTtlSeconds: 9 }, later), says('z', ALLOW, later)]),
    ).toMatchObject({
      cacheTtlSeconds: 5,
    });
  });

  test('PIPE-15 an engine in shadow mode is told where it differs, and changes nothing', async () => {
    expect(await decide([says('x', ALLOW, later)], [says('y', DENY, later)])).toEqual({
      ...ALLOW,
      shadow: { allowed: false, policies: ['d'] },
    });
    expect(await decide([says('x', DENY, later)], [says('y', ALLOW, later)])).toEqual({
      ...DENY,
      shadow: { allowed: true, policies: ['a'] },
    });
    expect(await decide([says('x', ALLOW, later)], [says('y', ALLOW, later)])).toEqual(ALLOW);
  });

  test('PIPE-15 a shadow that fails changes nothing, is told, and is asked again soon', async () => {
    for (const failing of [down, broken]) {
      expect(await decide([says('x', ALLOW, later)], [failing])).toEqual({
        ...ALLOW,
        shadow: { allowed: false, policies: [], error: expect.not.stringContaining('secret') },
        cacheTtlSeconds: 10,
      });
    }
  });
});

describe('answers of several engines', () => {
  const shadowed = (name: string, allowed: boolean, ttl?: number) =>
    says(name, {
      ...ALLOW,
      shadow: { allowed, policies: [name], ...(allowed ? {} : { error: `${name} failed` }) },
      ...(ttl === undefined ? {} : { cacheTtlSeconds: ttl }),
    });

  test('PRM-04.1 a denial has the reasons of the engine that denies alone', async () => {
    const first = says('x', { allowed: true, policies: ['a'], reasons: ['fine'], cacheTtlSeconds: 9 });
    expect(await decide([first, says('y', DENY)])).toEqual({ ...DENY, cacheTtlSeconds: 9 });
    const silent = { allowed: false, policies: ['s'] };
    expect(await decide([first, says('y', silent)])).toEqual({ ...silent, cacheTtlSeconds: 9 });
    expect(await decide([first, says('y', { ...ALLOW, reasons: ['too'] })])).toMatchObject({
      reasons: ['fine', 'too'],
    });
  });

  test('PIPE-15 keeps what each has in shadow mode, and all must allow there too', async () => {
    expect(await decide([shadowed('x', true), says('y', ALLOW)])).toMatchObject({
      shadow: { allowed: true, policies: ['x'] },
    });
    expect((await decide([shadowed('x', true), shadowed('y', true)])).shadow).toEqual({
      allowed: true,
      policies: ['x', 'y'],
    });
    const both = await decide([shadowed('x', true), shadowed('y', false), says('z', DENY)]);
    expect(both).toEqual({ ...DENY, shadow: { allowed: false, policies: ['x', 'y'], error: 'y failed' } });
    const three = await decide([shadowed('x', false)], [down, says('z', DENY), says('same', ALLOW)]);
    expect(three).toEqual({
      ...ALLOW,
      shadow: { allowed: false, policies: ['x', 'd'], error: 'x failed down is down.' },
      cacheTtlSeconds: 10,
    });
  });

  test('PIPE-15 a shadow that fails is on record beside a denial too, and shortens no shorter lifetime', async () => {
    expect(await decide([says('x', DENY)], [down])).toMatchObject({ shadow: { error: 'down is down.' } });
    expect(await decide([shadowed('x', true, 5)], [down])).toMatchObject({ cacheTtlSeconds: 5 });
    expect(await decide([shadowed('x', true, 50)], [says('y', DENY)])).toMatchObject({ cacheTtlSeconds: 50 });
    expect(await decide([says('x', ALLOW)], [says('y', { ...DENY, cacheTtlSeconds: 1 })])).not.toHaveProperty(
      'cacheTtlSeconds',
    );
  });

  test('PIPE-15 one engine with another in shadow mode is not that engine', () => {
    const [one, other] = [says('x', ALLOW), says('y', ALLOW)];
    expect(combineEngines({ enforced: [one], shadow: [other] })).not.toBe(one);
  });
});

test('PRM-04 an engine that gives no answer ends it with an error, in whatever place it stands', async () => {
  await expect(decide([says('x', ALLOW), down])).rejects.toMatchObject({ code: 'E3206' });
  await expect(decide([down, says('x', ALLOW)], [says('y', DENY, true)])).rejects.toMatchObject({ code: 'E3206' });
  await expect(decide([broken, says('x', ALLOW)])).rejects.toThrow('secret detail');
});

test('no engine allows nothing', async () => {
  expect(await decide([])).toEqual({ allowed: false, policies: [] });
});

test('the name and the version are those of all', () => {
  const combined = combineEngines({ enforced: [says('x', ALLOW), says('y', ALLOW)], shadow: [says('z', ALLOW)] });
  expect([combined.name, combined.version()]).toEqual(['x+y', '1+1+1']);
  const one = says('x', ALLOW);
  expect(combineEngines({ enforced: [one] })).toBe(one);
});
