import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../../../audit/ledger.ts';
import { CIRCUIT_DEFAULTS } from '../../../../domain/circuit/circuit-terms.ts';
import type { CircuitStore } from '../../../../external/circuit-store.port.ts';
import { memoryCircuitStore } from '../../../../storage/memory/memory-circuit-store.ts';
import { memoryRateLimiter } from '../../../../storage/memory/memory-rate-limiter.ts';
import { silentLog } from '../../../../telemetry/log.ts';
import type { PipelineParts } from '../../../parts.ts';
import { createCircuits } from './circuits.ts';
import { countedRequest } from './counted-request.ts';

const TIMEOUT_MS = 6_000;

/** Requests to the upstream `documents`; the test moves the clock, and says how each ends. */
async function bench(more: { readonly store?: CircuitStore; readonly unknownState?: 'closed'; burst?: number } = {}) {
  let now = 1_800_000_000_000;
  const clock = { now: () => now, monotonic: () => now };
  const records = memoryLedgerStore();
  const ledger = await openLedger({ store: records, chainId: 'one', log: silentLog });
  const store = more.store ?? memoryCircuitStore({ clock });
  const circuits = createCircuits({
    unknownState: 'open',
    ...more,
    store,
    terms: { ...CIRCUIT_DEFAULTS, windowSize: 4, callsMin: 2, trialCalls: 1, waitMs: 60_000 },
    timeoutMs: TIMEOUT_MS,
    upstreamTimeoutMs: TIMEOUT_MS,
    outbound: { send: () => Promise.reject(new Error('nothing is probed')) },
    ledger,
    clock,
    log: silentLog,
  });
  const apiRates = new Map(more.burst === undefined ? [] : [['mcp:documents', { per_minute: 1, burst: more.burst }]]);
  const limits = { rateAlgorithm: 'token_bucket', apiRates } as unknown as PipelineParts['limits'];
  const request = countedRequest({ circuits, rateLimiter: memoryRateLimiter({ clock }), limits });
  let made = 0;
  const { signal } = new AbortController();
  const asked = { service: 'mcp:documents', tenantId: 'acme', agentDid: 'did:a', timeoutMs: TIMEOUT_MS, signal };
  /** @returns the code of the failure, undefined for an answer */
  const codeOf = async (end?: ToolLayerError, tookMs = 0, given = asked): Promise<string | undefined> => {
    const work = async () => {
      made += 1;
      now += tookMs;
      if (end !== undefined) throw end;
    };
    return request(given, work).then(
      () => undefined,
      ({ code }: ToolLayerError) => code,
    );
  };
  const changes = async () =>
    (await records.events(undefined, { limit: 100 })).map(({ event: { type, data } }) => [
      type.replace('ai.agent.circuit.', ''),
      data['agent_did'],
    ]);
  const turn = (ms: number): void => {
    now += ms;
  };
  return { codeOf, changes, asked, store, turn, made: () => made };
}
const failed = (code: ConstructorParameters<typeof ToolLayerError>[0]) => new ToolLayerError(code, 'It failed.');

test("DOC-03.5 CIR-01.8 the layer's own requests open the circuit of a service, and none is made while it is open", async () => {
  const { codeOf, changes, asked, store, turn, made } = await bench();
  expect([await codeOf(failed('E3310')), await codeOf(failed('E3308'))]).toEqual(['E3310', 'E3308']);
  expect([await codeOf(), made(), (await store.find('acme', 'mcp:documents'))?.state]).toEqual(['E3401', 2, 'open']);
  expect(await codeOf(undefined, 0, { ...asked, tenantId: 'globex' })).toBeUndefined();
  turn(60_000);
  expect([await codeOf(failed('E3107')), await codeOf()]).toEqual(['E3107', 'E3401']);
  turn(60_000);
  expect([await codeOf(), await codeOf()]).toEqual([undefined, undefined]);
  const opened = ['opened', 'did:a'];
  const half = ['half_opened', 'did:a'];
  expect(await changes()).toEqual([opened, half, opened, half, ['closed', 'did:a']]);
});

test('DOC-03.5 what says nothing about the service counts nothing: a cancel, a refusal, too little time', async () => {
  const { codeOf, asked, store } = await bench();
  const cancelled = { ...asked, signal: AbortSignal.abort(failed('E3805')) };
  for (let turn = 0; turn < 4; turn += 1) {
    await codeOf(failed('E3310'), 0, cancelled);
    await codeOf(failed('E3309'));
    await codeOf(failed('E3103'), 100, { ...asked, timeoutMs: 6_000 });
  }
  expect((await store.find('acme', 'mcp:documents'))?.state).toBe('closed');
  await codeOf(failed('E3103'), 900, { ...asked, timeoutMs: 900 });
  expect((await store.find('acme', 'mcp:documents'))?.counts.failures).toBe(1);
});

test('DOC-03.5 EXT-02.1 they count against the rate of the service, and a refused one gives its trial back', async () => {
  const { codeOf, turn, made } = await bench({ burst: 2 });
  expect([await codeOf(failed('E3310')), await codeOf(failed('E3310'))]).toEqual(['E3310', 'E3310']);
  turn(30_000);
  expect([await codeOf(), made()]).toEqual(['E3401', 2]);
  turn(30_000);
  expect([await codeOf(), made()]).toEqual([undefined, 3]);
  expect([await codeOf(), made()]).toEqual(['E3303', 3]);
  turn(60_000);
  expect([await codeOf(), made()]).toEqual([undefined, 4]);
});

test('DOC-03.5 CIR-02 a circuit whose state is not known lets nothing through, unless the operator says otherwise', async () => {
  const broken = { ...memoryCircuitStore(), permit: () => Promise.reject(new Error('down')) };
  const { codeOf, made } = await bench({ store: broken });
  expect([await codeOf(), made()]).toEqual(['E3402', 0]);
  const trusting = await bench({ store: broken, unknownState: 'closed' });
  expect([await trusting.codeOf(), trusting.made()]).toEqual([undefined, 1]);
});
