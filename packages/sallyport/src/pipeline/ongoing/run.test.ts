import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '@sallyport/std/clock';
import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { decisionsOf } from '../../permission/gates/gates.fixture.ts';
import type { PolicyEngine } from '../../permission/policy-engine.port.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

const double = ({ n }: Readonly<Record<string, unknown>>): unknown => ({ value: Number(n) * 2 });
const states = (events: readonly { data: Record<string, unknown> }[]): unknown[] =>
  events.map(({ data }) => data['state']);

/** A function that ends only when it is aborted. */
async function untilAborted(_parameters: unknown, { signal }: { signal: AbortSignal }): Promise<never> {
  await wait(60_000, undefined, { signal });
  throw new Error('nobody stopped it');
}

describe('a call that succeeds', () => {
  test('PIPE-01.1 PIPE-01.3 passes the five states, each audited with time, capabilities and hashes', async () => {
    const { add, call, eventsOf } = await pipeline();
    await add(manifest('double'), double);
    const record = await call({ tool_id: 'double', parameters: { n: 21 } });
    expect(record).toMatchObject({ state: 'COMPLETED', result: { value: 42 }, toolVersion: '1.0.0', tenantId: 'acme' });
    const events = await eventsOf(record.invocationId);
    expect(states(events)).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'COMPLETED']);
    expect(events.map(({ type }) => type).slice(3)).toEqual(['ai.agent.tool.invoked', 'ai.agent.tool.succeeded']);
    for (const event of events) {
      expect(event.data).toMatchObject({
        tool_id: 'double',
        capabilities: [],
        input_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(Date.parse(event.time)).not.toBeNaN();
    }
    expect(events[4]?.data['output_hash']).toBe(sha256('{"value":42}'));
  });

  test('PIPE-11.1 PIPE-11.6 says how long it took and how often it was tried', async () => {
    const { add, call } = await pipeline();
    await add(manifest('double'), double);
    const { metadata } = await call({ tool_id: 'double', parameters: { n: 1 } });
    expect(metadata).toMatchObject({ attempts: 1, cached: false, documents_accessed: [], checkpoints_created: [] });
    expect(metadata?.duration_ms).toBeGreaterThan(0);
    expect(Date.parse(metadata?.completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(metadata?.started_at ?? ''));
  });

  test('gives the function converted arguments and never the fields in which a model thinks', async () => {
    const { add, call } = await pipeline();
    const seen: unknown[] = [];
    await add(manifest('double'), (parameters) => void seen.push(parameters));
    await call({ tool_id: 'double', parameters: { n: '21', _tafc_think: 'twenty-one, then' } });
    expect(seen).toEqual([{ n: 21 }]);
  });

  test('is on record before the answer', async () => {
    const { add, call, store } = await pipeline();
    await add(manifest('double'), double);
    const record = await call({ tool_id: 'double', parameters: { n: 21 } });
    expect(await store.findInvocation('acme', record.invocationId)).toMatchObject({ state: 'COMPLETED' });
  });
});

describe('what cannot be run twice', () => {
  test('is on record as EXECUTING before it runs', async () => {
    const { add, call, store, eventsOf } = await pipeline();
    let before: InvocationRecord | undefined;
    await add(manifest('write', { side_effect_policy: 'irreversible' }), async (_parameters, { invocationId }) => {
      before = await store.findInvocation('acme', invocationId);
    });
    const record = await call({ tool_id: 'write', parameters: { n: 1 } });
    expect(before?.state).toBe('EXECUTING');
    expect(states(await eventsOf(record.invocationId))).toEqual([
      'DECLARED',
      'VALIDATED',
      'AUTHORIZED',
      'EXECUTING',
      'COMPLETED',
    ]);
  });

  test('does not run when it cannot be put on record', async () => {
    const memory = memoryLedgerStore();
    const store = { ...memory, append: () => Promise.reject(new Error('the disk is full')) };
    const { add, call } = await pipeline({ store });
    let ran = false;
    await add(manifest('write', { side_effect_policy: 'irreversible' }), () => {
      ran = true;
    });
    expect((await call({ tool_id: 'write', parameters: { n: 1 } })).failure).toMatchObject({ code: 'E3812' });
    expect(ran).toBe(false);
  });

  test('ends as outcome unknown when its end cannot be put on record', async () => {
    const memory = memoryLedgerStore();
    let full = false;
    const append: typeof memory.append = (batch, how) =>
      full ? Promise.reject(new Error('full')) : memory.append(batch, how);
    const { add, call } = await pipeline({ store: { ...memory, append } });
    await add(manifest('write', { side_effect_policy: 'irreversible' }), () => {
      full = true;
    });
    expect((await call({ tool_id: 'write', parameters: { n: 1 } })).failure).toMatchObject({ code: 'E3804' });
  });
});

describe('a call that is refused', () => {
  test('PIPE-01.1 PIPE-01.6 ends in the state of its refusal, and the refusal is on record', async () => {
    const { add, call, token, eventsOf } = await pipeline();
    await add(manifest('double'), double);
    await add(manifest('approved', { execution_config: { requires_approval: true } }), double);
    const parameters = { n: 1 };
    const expired = await token({ expires_in_seconds: -60 });
    const other = await token({ tool_id: 'other' });
    const cases = [
      [{ tool_id: 'double', capability_token: '' }, 'DENIED', 'E3212', ['DECLARED', 'DENIED']],
      [{ tool_id: 'double', capability_token: 'no.t.oken' }, 'DENIED', 'E3201', ['DECLARED', 'DENIED']],
      [{ tool_id: 'double', capability_token: expired }, 'DENIED', 'E3202', ['DECLARED', 'DENIED']],
      [{ tool_id: 'nowhere' }, 'FAILED', 'E3001', ['DECLARED', 'FAILED']],
      [{ tool_id: 'double', tool_version: '9.9.9' }, 'FAILED', 'E3002', ['DECLARED', 'FAILED']],
      [{ tool_id: 'double', parameters: { n: 'one' } }, 'FAILED', 'E3502', ['DECLARED', 'FAILED']],
      [{ tool_id: 'double', capability_token: other }, 'DENIED', 'E3209', ['DECLARED', 'DENIED']],
      [{ tool_id: 'approved' }, 'DENIED', 'E3806', ['DECLARED', 'VALIDATED', 'AUTHORIZED', 'DENIED']],
    ] as const;
    for (const [request, state, code, passed] of cases) {
      const record = await call({ parameters, ...request });
      expect([record.state, record.failure?.code]).toEqual([state, code]);
      expect(states(await eventsOf(record.invocationId))).toEqual(passed);
    }
  });

  test('names every fault of its arguments with its place', async () => {
    const { add, call } = await pipeline();
    await add(manifest('double'), double);
    const { failure } = await call({ tool_id: 'double', parameters: { m: 1, n: 1.5 } });
    const faults = failure?.details?.['faults'] as { path: string }[];
    expect(faults.map(({ path }) => path).sort()).toEqual(['/m', '/n']);
  });

  test('by a policy names the policy, and an engine that is down denies', async () => {
    const forbid: PolicyEngine = {
      name: 'f',
      version: () => '1',
      decide: () => ({ allowed: false, policies: ['no-doubles'] }),
    };
    const down: PolicyEngine = { name: 'd', version: () => '1', decide: () => Promise.reject(new Error('gone')) };
    for (const [engine, code] of [
      [forbid, 'E3210'],
      [down, 'E3206'],
    ] as const) {
      const { add, call } = await pipeline({ policy: decisionsOf(engine) });
      await add(manifest('double'), double);
      const record = await call({ tool_id: 'double', parameters: { n: 1 } });
      expect([record.state, record.failure?.code]).toEqual(['DENIED', code]);
      if (code === 'E3210') expect(record.failure?.message).toContain('no-doubles');
    }
  });

  test('by its permissions says whose bound it crosses', async () => {
    const { add, call, token } = await pipeline();
    await add(manifest('reader', { permissions: { filesystem: [{ path: '/data/b', mode: 'ro' }] } }), double);
    const parameters = { n: 1 };
    expect((await call({ tool_id: 'reader', parameters })).failure?.code).toBe('E3203');
    const capability_token = await token({ paths: ['/data'] });
    expect((await call({ tool_id: 'reader', parameters, capability_token })).state).toBe('COMPLETED');
    const agent_sandbox_context = { filesystem_policy: { mounts: [{ path: '/data/a', mode: 'ro' as const }] } };
    const narrowed = await call({ tool_id: 'reader', parameters, capability_token, agent_sandbox_context });
    expect(narrowed.failure?.code).toBe('E3105');
  });

  test('for what is not built says so instead of ignoring it', async () => {
    const { add, call } = await pipeline();
    await add(manifest('double'), double);
    const record = await call({ tool_id: 'double', parameters: { n: 1 }, execution_options: { async_mode: true } });
    expect(record.failure).toMatchObject({ code: 'E3901', details: { option: 'execution_options.async_mode' } });
  });

  test('REG-17.1 REG-17.2 by a tool for other versions of agents names both versions; a call that states none is warned', async () => {
    const { add, call } = await pipeline();
    await add(manifest('double', { compatibility_range: '^2.1.0' }), double);
    await add(manifest('any'), double);
    const from = (agent_version?: string, tool_id = 'double') =>
      call({
        tool_id,
        parameters: { n: 1 },
        agent_context: {
          agent_did: 'did:agent:a',
          tenant_id: 'acme',
          ...(agent_version === undefined ? {} : { agent_version }),
        },
      });
    const refused = await from('2.0.9');
    expect(refused).toMatchObject({
      state: 'FAILED',
      toolId: 'double',
      failure: {
        code: 'E3006',
        message: expect.stringMatching(/\^2\.1\.0.* 2\.0\.9\b/),
        details: { compatibility_range: '^2.1.0', agent_version: '2.0.9' },
      },
    });
    expect(await from('3.0.0')).toMatchObject({ failure: { code: 'E3006' } });
    for (const fitting of ['2.1.0', '2.9.9', '2.2.0-beta.1']) {
      expect(await from(fitting)).toMatchObject({ state: 'COMPLETED', warnings: [] });
    }
    expect(await from()).toMatchObject({
      state: 'COMPLETED',
      warnings: [{ code: 'agent_version_unstated', details: { compatibility_range: '^2.1.0' } }],
    });
    expect(await from(undefined, 'any')).toMatchObject({ state: 'COMPLETED', warnings: [] });
  });

  test('for arguments that are too deep or poisoned ends before any schema sees them', async () => {
    const { add, call } = await pipeline();
    await add(manifest('double'), double);
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 10_000; i += 1) deep = { deep };
    expect((await call({ tool_id: 'double', parameters: deep })).failure?.code).toBe('E3810');
    const poisoned = JSON.parse('{"n":1,"__proto__":{"admin":true}}');
    expect((await call({ tool_id: 'double', parameters: poisoned })).failure?.code).toBe('E3801');
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });
});

describe('a call that runs', () => {
  test('PIPE-06.1 PIPE-06.3 is stopped at its timeout, and the signal reaches the tool', async () => {
    const { add, call, parts } = await pipeline();
    await add(manifest('slow', { execution_config: { default_timeout_seconds: 0.05 } }), untilAborted);
    const record = await call({ tool_id: 'slow', parameters: { n: 1 } });
    expect([record.state, record.failure?.code]).toEqual(['ABORTED', 'E3103']);
    expect(parts.running.size).toBe(0);
  });

  test('PIPE-06 ends with its caller', async () => {
    const { add, call } = await pipeline();
    await add(manifest('slow'), untilAborted);
    const gone = new AbortController();
    const running = call({ tool_id: 'slow', parameters: { n: 1 } }, { signal: gone.signal });
    setTimeout(() => gone.abort(), 10);
    expect(await running).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
  });

  test('PIPE-08.2 waits for one of the four slots of its agent, which is on record and no time of the tool', async () => {
    let later = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + later };
    const { add, call, parts } = await pipeline({ clock });
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    await add(manifest('held'), () => {
      begun += 1;
      return promise;
    });
    await add(manifest('quick'), double);
    const held = [1, 2, 3, 4].map((n) => call({ tool_id: 'held', parameters: { n } }));
    await expect.poll(() => begun).toBe(4);
    const fifth = call({ tool_id: 'quick', parameters: { n: 5 } });
    await expect.poll(() => parts.running.slots.waiting).toBe(1);
    later = 3_600_000;
    resolve();
    const record = await fifth;
    expect(record).toMatchObject({ state: 'COMPLETED', result: { value: 10 } });
    const { slot_wait_ms: waitedMs = 0, duration_ms: tookMs = later } = record.metadata ?? {};
    expect([waitedMs >= later, tookMs < later]).toEqual([true, true]);
    expect((await Promise.all(held)).map(({ state }) => state)).toEqual(Array(4).fill('COMPLETED'));
    const free = await call({ tool_id: 'quick', parameters: { n: 6 } });
    expect([free.state, free.metadata?.slot_wait_ms]).toEqual(['COMPLETED', undefined]);
    expect(parts.running.size).toBe(0);
  });

  test('PIPE-08.3 ends with E3106 when no slot comes free within its own time, and nothing of it runs', async () => {
    const { add, call } = await pipeline();
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    await add(manifest('held'), () => {
      begun += 1;
      return promise;
    });
    const held = [1, 2, 3, 4].map((n) => call({ tool_id: 'held', parameters: { n } }));
    await expect.poll(() => begun).toBe(4);
    const late = await call({ tool_id: 'held', parameters: { n: 5 }, resource_limits: { timeout_seconds: 0.02 } });
    expect(late.failure).toMatchObject({ code: 'E3106', retryAfterMs: expect.any(Number) });
    expect([late.metadata?.attempts, begun]).toEqual([0, 4]);
    resolve();
    await Promise.all(held);
  });

  test('PIPE-06 PIPE-08 that waits for a slot is ended at once by its caller, and costs those behind it nothing', async () => {
    const { add, call, parts } = await pipeline();
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    await add(manifest('held'), () => {
      begun += 1;
      return promise;
    });
    const held = [1, 2, 3, 4].map((n) => call({ tool_id: 'held', parameters: { n } }));
    await expect.poll(() => begun).toBe(4);
    const gone = new AbortController();
    const cancelled = call({ tool_id: 'held', parameters: { n: 5 } }, { signal: gone.signal });
    await expect.poll(() => parts.running.slots.waiting).toBe(1);
    const behind = call({ tool_id: 'held', parameters: { n: 6 } });
    await expect.poll(() => parts.running.slots.waiting).toBe(2);
    gone.abort();
    expect(await cancelled).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
    expect([parts.running.slots.waiting, begun]).toEqual([1, 4]);
    resolve();
    expect((await Promise.all([...held, behind])).every(({ state }) => state === 'COMPLETED')).toBe(true);
  });

  test('spends its tool’s rate limit', async () => {
    const { add, call } = await pipeline();
    await add(manifest('limited', { execution_config: { rate_limit: { per_minute: 1, burst: 2 } } }), double);
    const codes = [];
    for (const n of [1, 2, 3]) codes.push((await call({ tool_id: 'limited', parameters: { n } })).failure?.code);
    expect(codes).toEqual([undefined, undefined, 'E3303']);
  });

  test('gets the secrets that it was granted, and no others', async () => {
    const { add, call, token } = await pipeline();
    const seen: unknown[] = [];
    await add(
      manifest('secretive', { permissions: { credentials: ['key'] } }),
      (_parameters, { secrets }) => void seen.push([...secrets]),
    );
    const parameters = { n: 1 };
    expect((await call({ tool_id: 'secretive', parameters })).failure?.code).toBe('E3205');
    await call({ tool_id: 'secretive', parameters, capability_token: await token({ secrets: ['key', 'other'] }) });
    expect(seen).toEqual([[['key', 'value of key']]]);
  });

  test('PIPE-04.5 PIPE-04.7 fails with a code when its function throws, and tells nobody the stack', async () => {
    const { add, call } = await pipeline();
    await add(manifest('broken'), () => {
      throw new Error('password=hunter2');
    });
    const record = await call({ tool_id: 'broken', parameters: { n: 1 } });
    expect(record.failure?.code).toBe('E3109');
    expect(JSON.stringify(record)).not.toContain('hunter2');
  });
});

describe('a result', () => {
  test('that breaks its schema does not reach the caller', async () => {
    const { add, call } = await pipeline();
    const result_schema = { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] };
    await add(manifest('typed', { result_schema }), ({ n }) =>
      n === 1 ? { value: 1 } : n === 2 ? { value: 'two' } : {},
    );
    const codes = [];
    for (const n of [1, 2, 3]) codes.push((await call({ tool_id: 'typed', parameters: { n } })).failure?.code);
    expect(codes).toEqual([undefined, 'E3507', 'E3506']);
  });

  test('MOD-10.1 MOD-10.2 beyond its budget is cut, and says so', async () => {
    const { add, call } = await pipeline();
    await add(manifest('long', { execution_config: { output_bytes_max: 100 } }), ({ n }) => 'ä'.repeat(Number(n)));
    const whole = await call({ tool_id: 'long', parameters: { n: 49 } });
    expect(whole).toMatchObject({ result: 'ä'.repeat(49), warnings: [] });
    const cut = await call({ tool_id: 'long', parameters: { n: 50 } });
    expect(cut).toMatchObject({
      result: { truncated: true, bytes: 102, preview: 'ä'.repeat(49) },
      warnings: [{ code: 'result_cut' }],
    });
  });
});
