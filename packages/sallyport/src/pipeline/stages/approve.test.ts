import { describe, expect, test } from 'vitest';
import type { TokenMintRequest } from '../../../api/schemas/capability-token.ts';
import type { InvocationPhase } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { decisionsOf, trustWith } from '../../permission/gates/gates.fixture.ts';
import type { TrustSettings } from '../../permission/trust.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

/** Error code of a call of a tool, and how often its function ran. */
async function calling(
  tool: Partial<ToolManifest>,
  trust: Partial<TrustSettings>,
  token: TokenMintRequest = {},
  options: { phase?: InvocationPhase; require_approval?: boolean } = {},
  toolId = 'tool',
) {
  const made = await pipeline({ trust: trustWith(trust) });
  let runs = 0;
  await made.add(manifest(toolId, tool), () => {
    runs += 1;
    return 'ran';
  });
  const record = await made.call({
    tool_id: toolId,
    parameters: { n: 1 },
    capability_token: await made.token(token),
    ...(Object.keys(options).length === 0 ? {} : { execution_options: options }),
  });
  const { failure } = record;
  expect(runs).toBe(failure === undefined ? 1 : 0);
  return { code: failure?.code, details: failure?.details, record, ...made };
}

const effect = (side_effect_policy: SideEffectPolicy) => ({ side_effect_policy });

describe('what the trust in a call lets run', () => {
  test('PRM-06.1 without a person goes by level and side effect; the rest is pending and says why', async () => {
    const table: [TokenMintRequest['trust_level'], SideEffectPolicy, boolean][] = [
      ['untrusted', 'pure', true],
      ['untrusted', 'idempotent', false],
      ['provisional', 'idempotent', true],
      ['provisional', 'compensatable', false],
      ['provisional', 'irreversible', false],
      ['trusted', 'irreversible', true],
      [undefined, 'irreversible', true],
    ];
    for (const [level, policy, runs] of table) {
      const token = level === undefined ? {} : { trust_level: level };
      const { code, details } = await calling(effect(policy), {}, token);
      expect(code, `${level} ${policy}`).toBe(runs ? undefined : 'E3806');
      if (!runs) expect(details).toEqual({ reason: 'trust', trust: level, side_effect_policy: policy });
    }
  });

  test('PRM-06 VIS-06 is named before the confirmation of the manifest: an approval to either answers both', async () => {
    const both = { ...effect('irreversible'), requires_confirmation: true };
    expect((await calling(both, {}, { trust_level: 'provisional' })).details).toMatchObject({ reason: 'trust' });
    expect((await calling(both, {})).details).toMatchObject({ reason: 'requires_confirmation' });
  });

  test('PRM-06 is lowered by the source of the tool', async () => {
    const odd = { sources: ['odd__=untrusted'] };
    expect((await calling(effect('idempotent'), odd, {}, {}, 'odd__tool')).code).toBe('E3806');
    expect((await calling(effect('idempotent'), odd, {}, {}, 'even__tool')).code).toBeUndefined();
  });

  test('a tool that says nothing of what it leaves behind counts as irreversible', async () => {
    const silent = { side_effect_policy: undefined as unknown as SideEffectPolicy };
    expect((await calling(silent, {}, { trust_level: 'provisional' })).code).toBe('E3806');
  });
});

describe('a call that a policy wants to be confirmed', () => {
  const asks = {
    name: 'a',
    version: () => '1',
    decide: () => ({ allowed: false, ask: true as const, policies: ['p'] }),
  };

  test('is pending, and nothing runs', async () => {
    const { add, call } = await pipeline({ policy: decisionsOf(asks) });
    await add(manifest('tool'), () => 'ran');
    const record = await call({ tool_id: 'tool', parameters: { n: 1 } });
    expect(record).toMatchObject({ state: 'DENIED', failure: { code: 'E3806', details: { reason: 'policy' } } });
  });
});

describe('an autonomous call that somebody would have to confirm', () => {
  const phase = { phase: 'autonomous' } as const;
  const confirmed = { requires_confirmation: true };

  test('PRM-09.5 is refused, since nobody can be asked', async () => {
    expect((await calling(confirmed, {}, {}, phase)).code).toBe('E3210');
    expect((await calling(effect('irreversible'), {}, { trust_level: 'untrusted' }, phase)).code).toBe('E3210');
    expect((await calling(confirmed, {}, {}, { phase: 'executor' })).code).toBe('E3806');
    expect((await calling({}, {}, {}, phase)).code).toBeUndefined();
  });

  test('PRM-09.5 runs where the operator says so, but not past an approval', async () => {
    const allow = { autonomous: 'allow' } as const;
    expect((await calling(confirmed, allow, {}, phase)).code).toBeUndefined();
    expect((await calling(effect('irreversible'), allow, { trust_level: 'untrusted' }, phase)).code).toBeUndefined();
    expect((await calling(confirmed, allow)).code).toBe('E3806');
    const approved = { execution_config: { requires_approval: true } };
    expect((await calling(approved, allow, {}, phase)).code).toBe('E3806');
    expect((await calling({}, allow, {}, { ...phase, require_approval: true })).code).toBe('E3806');
  });
});

test('PRM-09.2 the phase is what the caller states, on record, in the events and never guessed', async () => {
  const stated = await calling({}, {}, { trust_level: 'provisional' }, { phase: 'verifier' });
  expect(stated.record).toMatchObject({ phase: 'verifier', trust: 'provisional' });
  for (const { data } of await stated.eventsOf(stated.record.invocationId))
    expect(data).toMatchObject({ phase: 'verifier', trust: 'provisional' });
  const silent = await calling({}, {});
  expect(silent.record).not.toHaveProperty('phase');
  for (const { data } of await silent.eventsOf(silent.record.invocationId)) expect(data).not.toHaveProperty('phase');
});
