import { describe, expect, test } from 'vitest';
import type { BeforeAnswer, Hook, HookedCall } from '../../../hooks/hook.ts';
import { createHooks } from '../../../hooks/run-hooks.ts';
import { decisionsOf } from '../../../permission/gates/gates.fixture.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

const beforeHook = (id: string, run: (call: HookedCall) => BeforeAnswer | undefined, more: Partial<Hook> = {}): Hook =>
  ({ id, at: 'before', run, ...more }) as Hook;
const rewrite = (parameters: Record<string, unknown>): BeforeAnswer => ({ outcome: 'rewrite', arguments: parameters });

async function hooked(hooks: readonly Hook[], changes: Parameters<typeof pipeline>[0] = {}) {
  const made = await pipeline({ hooks: createHooks(hooks), ...changes });
  const ran: unknown[] = [];
  await made.add(manifest('double', { side_effect_policy: 'irreversible' }), (parameters) => void ran.push(parameters));
  const call = (more = {}) => made.call({ tool_id: 'double', parameters: { n: 1 }, ...more });
  return { ...made, call, ran };
}

describe('a hook before a call', () => {
  test('PIPE-14 sees the call as it would run, and its verdict is in the audit', async () => {
    const seen: HookedCall[] = [];
    const { call, ran, eventsOf } = await hooked([beforeHook('one', (told) => void seen.push(told))]);
    const record = await call({
      parameters: { n: '1' },
      execution_options: { phase: 'executor', claim_source: 'a page' },
    });
    expect(seen).toMatchObject([
      {
        invocationId: record.invocationId,
        dryRun: false,
        tenantId: 'acme',
        toolId: 'double',
        sideEffect: 'irreversible',
        phase: 'executor',
        claimSource: 'a page',
        arguments: { n: 1 },
      },
    ]);
    expect(ran).toEqual([{ n: 1 }]);
    const events = await eventsOf(record.invocationId);
    expect(events.map(({ data }) => data['hooks'])).toEqual([
      undefined,
      undefined,
      undefined,
      [{ id: 'one', at: 'before', outcome: 'allow', ms: expect.any(Number) }],
      undefined,
    ]);
  });

  test('PIPE-14.1 PIPE-14.3 may refuse: nothing runs, and a key is free again', async () => {
    let refusing = true;
    const hook = beforeHook('no', () => (refusing ? { outcome: 'refuse', reason: 'Not now.' } : undefined));
    const { call, ran, eventsOf } = await hooked([hook]);
    const keyed = { execution_options: { idempotency_key: 'k' } };
    const record = await call(keyed);
    expect(record).toMatchObject({ state: 'DENIED', failure: { code: 'E3815' } });
    expect((await eventsOf(record.invocationId)).at(-1)?.data['hooks']).toMatchObject([
      { id: 'no', outcome: 'refuse' },
    ]);
    expect(ran).toEqual([]);
    refusing = false;
    expect((await call(keyed)).state).toBe('COMPLETED');
  });

  test('PIPE-14.4 may rewrite arguments, which are validated again; the next hook sees them', async () => {
    const seen: unknown[] = [];
    const { call, ran, eventsOf } = await hooked([
      beforeHook('a', () => rewrite({ n: '2' })),
      beforeHook('b', (told) => void seen.push(told.arguments)),
    ]);
    const plain = await (await hooked([])).call({ parameters: { n: 2 } });
    const record = await call();
    expect([ran, seen, record.inputHash]).toEqual([[{ n: 2 }], [{ n: 2 }], plain.inputHash]);
    const data = (await eventsOf(record.invocationId)).find((event) => event.data['state'] === 'EXECUTING')?.data;
    expect(data?.['hooks']).toMatchObject([
      { id: 'a', outcome: 'rewrite', input_hash_before: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { id: 'b', outcome: 'allow' },
    ]);
    expect(JSON.stringify(data)).not.toContain('"n"');
  });

  test.each([
    ['arguments that break the schema', { n: 'two' }, 'E3502'],
    ['arguments that are poisoned', JSON.parse('{"n":1,"__proto__":{"admin":true}}'), 'E3801'],
    ['arguments that are too large', { n: 1, more: 'x'.repeat(20_000) }, 'E3810'],
  ])('PIPE-14.8 that rewrites to %s makes the call fail as if the caller had sent them', async (_name, given, code) => {
    const { call, ran } = await hooked([beforeHook('bad', () => rewrite(given))]);
    expect((await call()).failure?.code).toBe(code);
    expect(ran).toEqual([]);
  });

  test('PIPE-14.9 that rewrites into forbidden arguments does not get them past authorisation', async () => {
    const { add, token, call, eventsOf } = await hooked([beforeHook('bad', () => rewrite({ path: '/etc/passwd' }))]);
    await add(
      manifest('read', {
        permissions: { filesystem: [{ path: '/data', mode: 'ro' }] },
        parameters_schema: { type: 'object', properties: { path: { type: 'string', 'x-path': 'ro' } } },
      }),
      () => 'read',
    );
    const capability_token = await token({ paths: ['/data'] });
    const record = await call({ tool_id: 'read', parameters: { path: '/data/a' }, capability_token });
    expect(record.state).toBe('DENIED');
    expect(record.failure?.code).toMatch(/^E3(105|203)$/);
    expect((await eventsOf(record.invocationId)).at(-1)?.data['state']).toBe('DENIED');
  });

  test('PIPE-14.9 that rewrites is judged by the policies again, and the refusal is what the audit has', async () => {
    let asked = 0;
    const engine = {
      name: 'e',
      version: () => {
        asked += 1;
        return String(asked);
      },
      decide: () => (asked > 1 ? { allowed: false, policies: ['second'] } : { allowed: true, policies: ['first'] }),
    };
    const hooks = [beforeHook('a', () => rewrite({ n: 2 }))];
    const { call, ran, eventsOf } = await hooked(hooks, { policy: decisionsOf(engine) });
    const record = await call();
    expect(record.failure?.code).toBe('E3210');
    expect(ran).toEqual([]);
    const events = await eventsOf(record.invocationId);
    expect(events.map(({ data }) => data['state'])).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED', 'DENIED']);
    expect(events.at(-1)?.data['policy_decision']).toMatchObject({ allowed: false, policies: ['second'] });
    expect(events.at(2)?.data).not.toHaveProperty('policy_decision');
  });

  test('is asked once for a call, and not about a replay', async () => {
    const asked: string[] = [];
    const hooks = [
      beforeHook('a', ({ arguments: { n } }) => {
        asked.push(`a${n}`);
        return rewrite({ n: Number(n) + 1 });
      }),
      beforeHook('b', ({ arguments: { n } }) => {
        asked.push(`b${n}`);
        return rewrite({ n: Number(n) + 1 });
      }),
    ];
    const { call, ran } = await hooked(hooks);
    const keyed = { execution_options: { idempotency_key: 'k' } };
    const first = await call(keyed);
    const second = await call(keyed);
    expect([asked, ran]).toEqual([['a1', 'b2'], [{ n: 3 }]]);
    expect(second.invocationId).toBe(first.invocationId);
    expect((await call({ ...keyed, parameters: { n: 3 } })).failure?.code).toBe('E3802');
  });

  test('is not asked about what is refused before', async () => {
    const asked: unknown[] = [];
    const { call, token } = await hooked([beforeHook('a', (told) => void asked.push(told))]);
    await call({ parameters: { n: 'x' } });
    await call({ capability_token: await token({ tool_id: 'other' }) });
    expect(asked).toEqual([]);
  });
});
