import { setTimeout as wait } from 'node:timers/promises';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import { isFinal, isLegalTransition } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { NativeFunction } from '../../executors/native/native-executor.ts';
import { manifest, pipeline, retries } from '../pipeline.fixture.ts';

const POLICIES = ['pure', 'idempotent', 'compensatable', 'irreversible'] as const;
const STARTS = ['good', 'no-token', 'other-token', 'no-tool', 'bad-arguments', 'needs-yes'] as const;
const BODIES = ['ok', 'tool-error', 'lost', 'not-reached', 'hangs', 'bad-result', 'not-json'] as const;
const CANCELS = ['never', 'before', 'while'] as const;

/** One call: how it begins, what its tool does, and when its caller goes away. */
interface Wanted {
  readonly policy: SideEffectPolicy;
  readonly start: (typeof STARTS)[number];
  readonly body: (typeof BODIES)[number];
  readonly cancel: (typeof CANCELS)[number];
  /** Turns of the event loop before the call. */
  readonly after: number;
}

const wanted: fc.Arbitrary<Wanted> = fc.record({
  policy: fc.constantFrom(...POLICIES),
  start: fc.oneof({ weight: 4, arbitrary: fc.constant('good' as const) }, fc.constantFrom(...STARTS)),
  body: fc.constantFrom(...BODIES),
  cancel: fc.oneof({ weight: 3, arbitrary: fc.constant('never' as const) }, fc.constantFrom(...CANCELS)),
  after: fc.nat(3),
});

type End = readonly [state: InvocationRecord['state'], code: ErrorCode | undefined, runs: number];

const REFUSED: Readonly<Record<Exclude<Wanted['start'], 'good'>, End>> = {
  'no-token': ['DENIED', 'E3212', 0],
  'other-token': ['DENIED', 'E3209', 0],
  'no-tool': ['FAILED', 'E3001', 0],
  'bad-arguments': ['FAILED', 'E3502', 0],
  'needs-yes': ['DENIED', 'E3806', 0],
};

/** Number of attempts when a tool may be repeated. */
const ATTEMPTS = 2;

/** The model: how such a call must end. */
function endOf({ policy, start, body, cancel }: Wanted): End {
  const isSafe = policy === 'pure' || policy === 'idempotent';
  if (cancel === 'before') return ['ABORTED', 'E3805', 0];
  if (start !== 'good') return REFUSED[start];
  if (cancel === 'while') return ['ABORTED', isSafe ? 'E3805' : 'E3804', 1];
  switch (body) {
    case 'ok':
      return ['COMPLETED', undefined, 1];
    case 'tool-error':
      return ['FAILED', 'E3109', 1];
    case 'lost':
      return isSafe ? ['FAILED', 'E3305', ATTEMPTS] : ['ABORTED', 'E3804', 1];
    case 'not-reached':
      return ['FAILED', 'E3305', ATTEMPTS];
    case 'hangs':
      return ['ABORTED', isSafe ? 'E3103' : 'E3804', 1];
    case 'bad-result':
      return ['FAILED', 'E3506', 1];
    case 'not-json':
      return ['FAILED', 'E3501', 1];
  }
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

const ANSWERS: Readonly<Record<Wanted['body'], (signal: AbortSignal) => unknown>> = {
  ok: () => ({ x: 1 }),
  'tool-error': () => {
    throw new Error('no');
  },
  lost: () => {
    throw new ToolLayerError('E3310', 'Lost.', { details: { reached: true } });
  },
  'not-reached': () => {
    throw new ToolLayerError('E3310', 'Lost.', { details: { reached: false } });
  },
  hangs: untilAborted,
  'bad-result': () => ({}),
  'not-json': () => ({ x: 1n }),
};

async function layer() {
  const { limits } = (await pipeline()).parts;
  const made = await pipeline({
    limits: { ...limits, callsPerAgentMax: 100 },
    retries: { ...retries, jitter: 'none', attemptsMax: ATTEMPTS, budgetMs: 9_000 },
  });
  const calls: { readonly wanted: Wanted; readonly gone: AbortController; runs: number }[] = [];
  const body: NativeFunction = async ({ n }, { signal }) => {
    const call = calls[Number(n)];
    if (call === undefined) throw new Error('nobody made this call');
    call.runs += 1;
    await wait(0);
    if (call.wanted.cancel !== 'while') return ANSWERS[call.wanted.body](signal);
    call.gone.abort();
    return untilAborted(signal);
  };
  const result_schema = { type: 'object', required: ['x'] };
  for (const policy of POLICIES) {
    // Only a hanging tool reaches its timeout.
    for (const [name, default_timeout_seconds] of [
      [policy, 9],
      [`${policy}-short`, 0.05],
    ] as const) {
      const execution_config = { default_timeout_seconds, retry_policy: { base_delay_ms: 1, max_attempts: ATTEMPTS } };
      await made.add(manifest(name, { side_effect_policy: policy, execution_config, result_schema }), body);
    }
  }
  const other = await made.token({ tool_id: 'other' });
  const requestOf = ({ policy, start, body: what }: Wanted, n: number): ToolInvokeRequest => ({
    tool_id: start === 'no-tool' ? 'nowhere' : what === 'hangs' ? `${policy}-short` : policy,
    parameters: { n: start === 'bad-arguments' ? 'none' : n },
    ...(start === 'no-token' ? { capability_token: '' } : {}),
    ...(start === 'other-token' ? { capability_token: other } : {}),
    ...(start === 'needs-yes' ? { execution_options: { require_approval: true } } : {}),
  });
  return {
    ...made,
    async make(asked: Wanted) {
      const call = { wanted: asked, gone: new AbortController(), runs: 0 };
      const n = calls.push(call) - 1;
      for (let turn = 0; turn < asked.after; turn += 1) await wait(0);
      if (asked.cancel === 'before') call.gone.abort();
      const record = await made.call(requestOf(asked, n), { signal: call.gone.signal });
      return { record, call };
    },
  };
}

test('PIPE-01.2 PIPE-13 whatever calls do beside each other, each goes only legal ways to one end, which is on record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(wanted, { minLength: 1, maxLength: 8 }), async (all) => {
      const { make, store, everyEventOf, parts } = await layer();
      const made = await Promise.all(all.map(make));
      for (const { record, call } of made) {
        const [state, code, runs] = endOf(call.wanted);
        expect([record.state, record.failure?.code, call.runs]).toEqual([state, code, runs]);
        const { tenantId, invocationId } = record;
        expect(await store.findInvocation(tenantId, invocationId)).toEqual(record);
        const events = await everyEventOf(invocationId);
        const states = events.flatMap(({ type, data }) =>
          type.includes('.side_effect.') || data['state'] === undefined ? [] : [data['state'] as typeof state],
        );
        expect(states[0]).toBe('DECLARED');
        expect(states.at(-1)).toBe(state);
        expect(states.filter(isFinal)).toEqual([state]);
        for (const [at, each] of states.slice(1).entries()) {
          const from = states[at];
          expect(from !== undefined && isLegalTransition(from, each)).toBe(true);
        }
        expect(states.includes('EXECUTING')).toBe(call.runs > 0);
        const effects = events
          .filter(({ type }) => type.includes('.side_effect.'))
          .map(({ type }) => type.split('.').at(-1));
        const end = state === 'COMPLETED' ? 'completed' : 'failed';
        expect(effects).toEqual(call.runs === 0 || call.wanted.policy === 'pure' ? [] : ['started', end]);
      }
      expect(parts.running.size).toBe(0);
    }),
    { numRuns: 60 },
  );
});
