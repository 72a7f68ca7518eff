import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { CIRCUIT_DEFAULTS } from '../../../../domain/circuit/circuit-terms.ts';
import type { EventDraft } from '../../../../domain/event/event-draft.ts';
import type { OutboundHttp } from '../../../../external/outbound-http.ts';
import { memoryCircuitStore } from '../../../../storage/memory/memory-circuit-store.ts';
import { silentLog } from '../../../../telemetry/log.ts';
import type { OngoingCall } from '../../../ongoing/ongoing-call.ts';
import { ToolRun } from '../../../ongoing/tool-run.ts';
import { manifest } from '../../../pipeline.fixture.ts';
import { type CircuitCall, type CircuitParts, type Circuits, createCircuits } from './circuits.ts';

/** The circuit of the tool, and what its manifest and its grant name. */
export const NAME = 'tool:probed@1.0.0';
export const PROBE = { url: 'http://service.example/health', timeout_ms: 4_000 };
export const NETWORK = [{ host: 'service.example', port: 80 }];
/** The circuit opens with the first failure, and closes with the second trial. */
export const TERMS = {
  ...CIRCUIT_DEFAULTS,
  failuresInRow: 1,
  trialCalls: 2,
  waitMs: 60_000,
  halfOpenStrategy: 'all_or_nothing' as const,
};
export const failed = (code: ConstructorParameters<typeof ToolLayerError>[0]) => new ToolLayerError(code, 'It failed.');
export const never = new AbortController().signal;

/** How probes are sent. */
export type Send = OutboundHttp['send'];
export const answering =
  (status: number): Send =>
  async () =>
    ({ status }) as Awaited<ReturnType<Send>>;

const TOOL = manifest('probed', { execution_config: { circuit_breaker_config: { health_probe: PROBE } } });

/** One attempt of a call of the probed tool. */
function attemptOf(circuits: Circuits, tenantId = 'acme', limits: object = { timeoutMs: 2_000 }, signal = never) {
  const deferred: (() => unknown)[] = [];
  const ongoing = {
    toolRun: new ToolRun(),
    undo: { defer: (step: () => unknown) => void deferred.push(step) },
    controller: { signal },
    call: { invocationId: 'i' },
  } as unknown as OngoingCall;
  const call = {
    tool: { manifest: TOOL },
    grant: { limits, network: NETWORK },
    principal: { tenantId, agentDid: 'did:a' },
  } as unknown as CircuitCall;
  return {
    call,
    ongoing,
    take: () => circuits.take(call, ongoing),
    ended: (end?: ToolLayerError, durationMs = 0) =>
      circuits.ended(call, ongoing, { durationMs, ...(end && { failed: end.failure }) }),
    over: () => Promise.all(deferred.map((step) => step())),
  };
}

/** Calls of a probed tool, one attempt each; the test answers its probes, and moves the clock. */
export function probedCircuits(more: Partial<CircuitParts> = {}) {
  let now = 1_800_000_000_000;
  let send: Send = answering(200);
  let probed = 0;
  const clock = { now: () => now, monotonic: () => now };
  const events: EventDraft[] = [];
  const store = more.store ?? memoryCircuitStore({ clock });
  const outbound: CircuitParts['outbound'] = {
    send: (...given) => {
      probed += 1;
      return send(...given);
    },
  };
  const ledger: CircuitParts['ledger'] = {
    commit: async ({ events: these }) => {
      events.push(...these);
      return undefined as never;
    },
  };
  const usual = {
    ...{ terms: TERMS, unknownState: 'open' as const, timeoutMs: 2_000, upstreamTimeoutMs: 2_000 },
    ...{ outbound, ledger, clock, log: silentLog },
  };
  const circuits = createCircuits({ ...usual, ...more, store });
  const attempt = (...given: [tenantId?: string, limits?: object, signal?: AbortSignal]) =>
    attemptOf(circuits, ...given);
  return {
    circuits,
    clock,
    store,
    events,
    attempt,
    probed: () => probed,
    answer: (next: Send) => {
      send = next;
    },
    turn: (ms: number) => {
      now += ms;
    },
    /** What a call gets that runs well if it may. */
    async codeOf(tenantId?: string) {
      const { take, ended } = attempt(tenantId);
      const found = await take();
      if (found === undefined) await ended();
      return found?.code;
    },
    /** A call fails, which opens the circuit, and the wait passes. */
    async open(tenantId?: string) {
      const { take, ended } = attempt(tenantId);
      await take();
      await ended(failed('E3304'));
      now += TERMS.waitMs;
    },
    state: async (tenantId = 'acme') => (await store.find(tenantId, NAME))?.state,
    trials: async () => (await store.find('acme', NAME))?.trials,
  };
}
