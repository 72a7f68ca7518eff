import type { ErrorCode } from '@sallyport/std/error/catalogue';
import type { FailureExtras } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { createCompositeExecutor } from '../../../executors/composite.ts';
import { createNativeExecutor } from '../../../executors/native/native-executor.ts';
import { manifest, pipeline, retries } from '../../pipeline.fixture.ts';
import type { RetryRules } from './retry-rules.ts';

const SAFE = { side_effect_policy: 'idempotent' } as const;
const UNSAFE = { side_effect_policy: 'irreversible' } as const;
const QUICK: RetryRules = { ...retries, jitter: 'none', attemptsMax: 20, budgetMs: 30_000 };
const quick = (more: Partial<ToolManifest['execution_config']> = {}): Partial<ToolManifest> => ({
  execution_config: { retry_policy: { base_delay_ms: 1, max_delay_ms: 5 }, ...more },
});
const down = (code: ErrorCode = 'E3310', extras: FailureExtras = {}): ToolLayerError =>
  new ToolLayerError(code, 'The service cannot be reached.', extras);

/** A tool that fails with each of the entries in turn, and then works. */
async function layer(tool: Partial<ToolManifest>, ends: readonly (ToolLayerError | undefined)[], rules = QUICK) {
  const made = await pipeline({ retries: rules });
  let tries = 0;
  await made.add(manifest('flaky', tool), () => {
    const end = ends[tries];
    tries += 1;
    if (end !== undefined) throw end;
    return { tries };
  });
  const run = (more = {}, caller = {}) => made.call({ tool_id: 'flaky', parameters: { n: 1 }, ...more }, caller);
  return { ...made, run, tries: () => tries };
}

describe('a transient failure', () => {
  test('PIPE-05.2 PIPE-05.8 PIPE-11.6 of a tool that is safe to repeat is tried again, each attempt on record and audited', async () => {
    const { run, eventsOf } = await layer({ ...SAFE, ...quick() }, [
      down(),
      down('E3304', { details: { status: 503 } }),
    ]);
    const record = await run();
    expect(record).toMatchObject({ state: 'COMPLETED', result: { tries: 3 } });
    expect(record.metadata).toMatchObject({
      attempts: 3,
      failed_attempts: [
        { attempt: 1, e_code: 'E3310', category: 'NetworkError', waited_ms: 0, duration_ms: expect.any(Number) },
        { attempt: 2, e_code: 'E3304', category: 'ServerError', waited_ms: 1, started_at: expect.stringMatching(/Z$/) },
      ],
    });
    const failed = (await eventsOf(record.invocationId)).filter(({ type }) => type === 'ai.agent.tool.attempt_failed');
    expect(failed.map(({ data }) => data['attempt'])).toEqual(record.metadata?.failed_attempts);
    expect(failed[0]?.data).toMatchObject({ tool_id: 'flaky', agent_did: 'did:agent:a', tenant_id: 'acme' });
  });

  test.each([
    [SAFE, true, 3],
    [SAFE, false, 1],
    [UNSAFE, true, 1],
  ])(
    'PIPE-05.2 of a tool that is %j, and may run again for its executor: %s, has attempts: %i',
    async (own, may, most) => {
      let tries = 0;
      const execute = async () => {
        tries += 1;
        throw down();
      };
      const executors = createCompositeExecutor([{ ...createNativeExecutor(), isRetryable: () => may, execute }]);
      const { add, call } = await pipeline({ retries: { ...QUICK, attemptsMax: 3 }, executors });
      await add(manifest('flaky', { ...own, ...quick() }), () => undefined);
      await call({ tool_id: 'flaky', parameters: { n: 1 } });
      expect(tries).toBe(most);
    },
  );

  test('a call that needs one attempt has nothing to tell', async () => {
    const { run, eventsOf } = await layer(SAFE, []);
    const record = await run();
    expect(record.metadata).not.toHaveProperty('failed_attempts');
    const types = (await eventsOf(record.invocationId)).map(({ type }) => type);
    expect(types).not.toContain('ai.agent.tool.attempt_failed');
  });

  test.each<[ErrorCode, FailureExtras]>([
    ['E3109', {}],
    ['E3108', {}],
    ['E3309', { details: { status: 400 } }],
    ['E3307', { details: { status: 401 } }],
    ['E3102', {}],
    ['E3210', {}],
    ['E3509', {}],
    ['E3704', {}],
    ['E3401', {}],
    ['E3805', {}],
    ['E3811', { details: { reached: false } }],
  ])('PIPE-05.1 %s is not tried again, though the tool is safe to repeat', async (code, extras) => {
    const { run, tries } = await layer({ ...SAFE, ...quick() }, [down(code, extras)]);
    expect((await run()).failure?.code).toBe(code);
    expect(tries()).toBe(1);
  });

  test('PIPE-05.2 of an unsafe tool is tried again only when the request surely never reached it', async () => {
    const safe = await layer({ ...UNSAFE, ...quick() }, [down('E3310', { details: { request_sent: false } })]);
    expect(await safe.run()).toMatchObject({ state: 'COMPLETED', metadata: { attempts: 2 } });
    const started = await layer({ ...UNSAFE, ...quick() }, [down('E3101')]);
    expect(await started.run()).toMatchObject({ state: 'COMPLETED', metadata: { attempts: 2 } });
    const sent = await layer({ ...UNSAFE, ...quick() }, [down('E3310', { details: { request_sent: true } })]);
    expect(await sent.run()).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
    expect(sent.tries()).toBe(1);
    // The first attempt surely did not reach it, the second may have.
    const [unsent, lost] = [down('E3310', { details: { request_sent: false } }), down()];
    const second = await layer({ ...UNSAFE, ...quick() }, [unsent, lost]);
    expect(await second.run()).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { cut_off_by: 'E3310' } },
      metadata: { attempts: 2 },
    });
  });

  test('EXT-03.5 PIPE-05.6 of a service ends as E3305 once the attempts are spent, with the last cause', async () => {
    const { run, tries } = await layer({ ...SAFE, ...quick() }, [down(), down(), down('E3306'), down()]);
    const record = await run();
    expect(record).toMatchObject({
      state: 'FAILED',
      failure: { code: 'E3305', details: { attempts: 3, last: 'E3306' } },
      metadata: { attempts: 3 },
    });
    expect(record.metadata?.failed_attempts).toHaveLength(3);
    expect(tries()).toBe(3);
  });

  test('of the layer’s own sandbox ends as what it was', async () => {
    const { run } = await layer({ ...SAFE, ...quick() }, [down('E3101'), down('E3101'), down('E3101')]);
    expect(await run()).toMatchObject({ failure: { code: 'E3101' }, metadata: { attempts: 3 } });
  });

  test('a manifest says how often, and for which errors; the layer can allow less', async () => {
    const policy = (more: object) => quick({ retry_policy: { base_delay_ms: 1, ...more } });
    const once = await layer({ ...SAFE, ...policy({ max_attempts: 1 }) }, [down()]);
    expect(await once.run()).toMatchObject({ failure: { code: 'E3310' }, metadata: { attempts: 1 } });
    const others = await layer({ ...SAFE, ...policy({ retryable_errors: ['Timeout'] }) }, [down()]);
    expect((await others.run()).metadata?.attempts).toBe(1);
    const two = await layer({ ...SAFE, ...policy({ max_attempts: 9 }) }, Array(9).fill(down()), {
      ...QUICK,
      attemptsMax: 2,
    });
    expect((await two.run()).metadata?.attempts).toBe(2);
  });
});

describe('the wait between attempts', () => {
  test('PIPE-05.5 honours Retry-After, and is not begun when it would outlast the call', async () => {
    const soon = await layer({ ...SAFE, ...quick() }, [down('E3303', { retryAfterMs: 30, details: { status: 429 } })]);
    const { metadata } = await soon.run();
    expect(metadata?.failed_attempts).toHaveLength(1);
    const late = await layer({ ...SAFE, ...quick() }, [down('E3303', { retryAfterMs: 60_000 })]);
    expect(await late.run()).toMatchObject({
      failure: { code: 'E3303', retryAfterMs: 60_000 },
      metadata: { attempts: 1 },
    });
  });

  test('PIPE-05.7 no attempt begins once the budget of time is spent', async () => {
    const { run } = await layer({ ...SAFE, ...quick() }, [down()], { ...QUICK, budgetMs: 0 });
    expect((await run()).metadata?.attempts).toBe(1);
  });

  test('PIPE-05 PIPE-06 a cancel ends it, and is never swallowed by a retry', async () => {
    const slow = { execution_config: { retry_policy: { base_delay_ms: 3_600_000, max_delay_ms: 1500 } } };
    const { run, tries, parts } = await layer({ ...SAFE, ...slow }, [down()]);
    const gone = new AbortController();
    const running = run({}, { signal: gone.signal });
    await expect.poll(tries).toBe(1);
    gone.abort();
    expect(await running).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3805' },
      metadata: { attempts: 1 },
    });
    expect(tries()).toBe(1);
    expect(parts.running.size).toBe(0);
  });

  test('PIPE-05.7 the timeout of the call holds over all attempts and waits', async () => {
    const tool = quick({ default_timeout_seconds: 0.2, retry_policy: { base_delay_ms: 60, max_attempts: 20 } });
    const { run, tries } = await layer({ ...SAFE, ...tool }, Array(20).fill(down()));
    const { failure, metadata } = await run();
    expect(['E3305', 'E3103']).toContain(failure?.code);
    expect(tries()).toBeLessThanOrEqual(3);
    expect(metadata?.attempts).toBe(tries());
  });

  test('EXT-02 every attempt takes a token of the rate limit', async () => {
    const limited = { ...SAFE, ...quick({ rate_limit: { per_minute: 1, burst: 2 } }) };
    const { run, tries } = await layer(limited, [down(), down(), down()]);
    expect((await run()).failure?.code).toBe('E3303');
    expect(tries()).toBe(2);
  });
});
