// Costs two look-ups for tools without a circuit, and a shared permit for closed circuits.

import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import type { ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import type { Ledger } from '../../../../audit/ledger.ts';
import type { CircuitAnswer, CircuitChange, SetState } from '../../../../domain/circuit/circuit.ts';
import type { CircuitTerms } from '../../../../domain/circuit/circuit-terms.ts';
import { countsAs } from '../../../../domain/circuit/counts.ts';
import type { MakeOwnRequest } from '../../../../domain/circuit/own-request.ts';
import type { CircuitStore, EndedAttempt } from '../../../../external/circuit-store.port.ts';
import type { OutboundHttp } from '../../../../external/outbound-http.ts';
import type { Log } from '../../../../telemetry/log.ts';
import type { Authorized, Resolved } from '../../../call.ts';
import type { OngoingCall } from '../../../ongoing/ongoing-call.ts';
import { circuitEvent } from './circuit-event.ts';
import { lostReport, noteChange, unknownState } from './circuit-notes.ts';
import { type CircuitUse, circuitOf } from './circuit-of.ts';
import { refusalOf } from './circuit-refusals.ts';
import { type HealthProbe, probeFailed, probeHealth } from './health-probe.ts';
import { ownRequest } from './own-request.ts';

/** A call that goes through a circuit. */
export type CircuitCall = Resolved & Authorized;

/** The circuits of the layer, which every attempt goes through (CIR-01, EXE-06). */
export interface Circuits {
  /**
   * Takes a permit for one attempt. A trial permit is held by the call, and is given back with the end of the call at
   * the latest. Where the manifest names a health probe, that takes the place of the first trial.
   * @returns undefined when the attempt may go; E3401, E3402, E3404, E3405 when not
   */
  take(call: CircuitCall, ongoing: OngoingCall): Promise<Failure | undefined>;
  /** Counts the end of an attempt; `failed` is absent when the tool answered. Never rejects. */
  ended(
    call: CircuitCall,
    ongoing: OngoingCall,
    attempt: { readonly failed?: Failure; readonly durationMs: number },
  ): Promise<void>;
  /** Through the same circuit as the attempts of tools. @throws ToolLayerError E3401 E3402 when it may not be made */
  readonly request: MakeOwnRequest;
  readonly store: Pick<CircuitStore, 'find' | 'list'>;
  /**
   * Sets a circuit by hand, and puts that on record.
   * @returns false when there is no such circuit
   * @throws what store and ledger throw
   */
  set(tenantId: string, name: string, state: SetState, by: Readonly<Record<string, unknown>>): Promise<boolean>;
}

/** Dependencies of the circuits. */
export interface CircuitParts {
  readonly store: CircuitStore;
  /** Terms of circuits whose tools set none. */
  readonly terms: CircuitTerms;
  /** Assumed state of a circuit whose state the store does not know (E3402). */
  readonly unknownState: 'open' | 'closed';
  /** Timeout of tools that name none. */
  readonly timeoutMs: number;
  /** Timeout of upstream tools. */
  readonly upstreamTimeoutMs: number;
  /** How health probes are sent. */
  readonly outbound: Pick<OutboundHttp, 'send'>;
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long beyond its timeout a call may hold a trial: the steps before the tool runs, and the end, take time too. */
const HELD_BEYOND_MS = 30_000;

/** Creates the circuits that guard the services of tools. */
export function createCircuits(parts: CircuitParts): Circuits {
  const { store } = parts;
  const useOf = rememberedUses(parts);
  const probes: Probes = new Map();
  return {
    store,
    async take(call, ongoing) {
      const use = useOf(call.tool.manifest);
      if (use === undefined) return undefined;
      const passing = { use, call, ongoing };
      return use.probe === undefined ? permitted(parts, passing) : throughProbe(parts, probes, passing, use.probe);
    },
    async ended(call, ongoing, { failed, durationMs }) {
      const use = useOf(call.tool.manifest);
      if (use === undefined) return;
      // The time that an executor takes to stop after the timeout does not count as waiting for the service.
      const waitedMs = Math.min(durationMs, call.grant.limits.timeoutMs);
      const end = failed === undefined ? 'success' : countsAs(failed.code, waitedMs, use.patienceMs);
      await report(parts, { use, call, ongoing }, { end, durationMs });
    },
    request: (request, work) => ownRequest(parts, request, work),
    async set(tenantId, name, state, by) {
      const change = await store.set(tenantId, name, state);
      if (change === undefined) return false;
      const event = circuitEvent({ tenantId, name, change, at: parts.clock.now(), by });
      await parts.ledger.commit({ events: [event], durability: 'synchronous' });
      return true;
    },
  };
}

/** Caches the circuit of each manifest. */
function rememberedUses({
  terms,
  timeoutMs,
  upstreamTimeoutMs,
}: CircuitParts): (manifest: ToolManifest) => CircuitUse | undefined {
  const uses = new WeakMap<ToolManifest, CircuitUse>();
  return (manifest) => {
    const known = uses.get(manifest);
    if (known !== undefined) return known;
    const use = circuitOf(manifest, terms, manifest.executor.kind === 'mcp' ? upstreamTimeoutMs : timeoutMs);
    if (use !== undefined) uses.set(manifest, use);
    return use;
  };
}

/** A call with its circuit and its permit. */
interface Passing {
  readonly use: CircuitUse;
  readonly call: CircuitCall;
  readonly ongoing: OngoingCall;
}

/**
 * Asks the circuit for a permit.
 * @param onAnswer called before anything else is awaited
 */
async function permitted(
  parts: CircuitParts,
  passing: Passing,
  onAnswer?: (answer: CircuitAnswer) => void,
): Promise<Failure | undefined> {
  const { use, call } = passing;
  try {
    const { timeoutMs, timeoutMsMax = timeoutMs } = call.grant.limits;
    const heldMsMax = timeoutMsMax + HELD_BEYOND_MS;
    const answer = await parts.store.permit(call.principal.tenantId, use.name, use.terms, heldMsMax);
    onAnswer?.(answer);
    return await answered(parts, passing, answer);
  } catch (thrown) {
    return unknownState(parts, use.name, thrown);
  }
}

/** Circuits that have become half open and whose probe is due, or under way, by tenant and name. */
type Probes = Map<string, 'due' | 'under_way'>;

/**
 * As `permitted`, with a probe in place of the first trial. While it is under way no call is let through, and when it
 * fails the circuit opens again.
 */
async function throughProbe(
  parts: CircuitParts,
  probes: Probes,
  passing: Passing,
  probe: HealthProbe,
): Promise<Failure | undefined> {
  const { use, call, ongoing } = passing;
  const key = `${call.principal.tenantId}\n${use.name}`;
  const isUnderWay = (): boolean => probes.get(key) === 'under_way';
  const refused = await permitted(parts, passing, (answer) => {
    if (!answer.permitted || isUnderWay()) return;
    if (answer.change !== undefined) probes.set(key, 'due');
    if (answer.trial === undefined) probes.delete(key);
  });
  if (refused !== undefined) return refused;
  if (ongoing.toolRun.permit?.trial === undefined || !probes.has(key)) return undefined;
  if (isUnderWay()) {
    // Another call waits for the probe.
    await report(parts, passing, { end: 'nothing', durationMs: 0 });
    return refusalOf(use.name, PROBED, false);
  }
  probes.set(key, 'under_way');
  const begunAt = parts.clock.monotonic();
  let isOver = false;
  try {
    const health = await probeHealth(parts.outbound, probe, call.grant.network, ongoing.controller.signal);
    isOver = health.is !== 'unknown';
    const end = health.is === 'well' ? 'success' : health.is === 'ill' ? 'unhealthy' : 'nothing';
    const change = await report(parts, passing, { end, durationMs: parts.clock.monotonic() - begunAt });
    if (health.is === 'unknown') return health.refused;
    // Without a change somebody has set the circuit meanwhile, and that counts.
    if (health.is === 'ill' && change !== undefined) return probeFailed(use.name, health.why, use.terms.waitMs);
  } finally {
    if (isOver) probes.delete(key);
    else probes.set(key, 'due');
  }
  return permitted(parts, passing);
}

/** Answer of a circuit whose probe is under way. */
const PROBED = { permitted: false, state: 'half_open', waitMs: 1_000 } as const;

async function answered(parts: CircuitParts, passing: Passing, answer: CircuitAnswer): Promise<Failure | undefined> {
  const { use, ongoing } = passing;
  if (!answer.permitted) return refusalOf(use.name, answer, ongoing.toolRun.trialFailed);
  ongoing.toolRun.holdPermit(answer);
  // Only a trial permit has to be given back.
  if (answer.trial === undefined) return undefined;
  ongoing.undo.defer(async () => {
    await report(parts, passing, { end: 'nothing', durationMs: 0 });
  });
  if (answer.change !== undefined) await note(parts, passing, answer.change);
  return undefined;
}

/**
 * Reports an attempt once for each permit: a later report finds none. Never rejects.
 * @returns how it changed the circuit
 */
async function report(
  parts: CircuitParts,
  passing: Passing,
  attempt: EndedAttempt,
): Promise<CircuitChange | undefined> {
  const { use, call, ongoing } = passing;
  const permit = ongoing.toolRun.returnPermit(attempt.end === 'failure');
  if (permit === undefined) return undefined;
  try {
    const change = await parts.store.report(call.principal.tenantId, use.name, permit, attempt);
    if (change !== undefined) await note(parts, passing, change);
    return change;
  } catch (thrown) {
    lostReport(parts, use.name, thrown);
    return undefined;
  }
}

/** Puts a change on record before the call continues. */
function note(parts: CircuitParts, { use: { name }, call, ongoing }: Passing, change: CircuitChange): Promise<void> {
  const { tenantId, agentDid } = call.principal;
  const { invocationId } = ongoing.call;
  const by = {
    agent_did: agentDid,
    tool_id: call.tool.manifest.tool_id,
    ...(invocationId === undefined ? {} : { invocation_id: invocationId }),
  };
  return noteChange(parts, { tenantId, name, by }, change);
}
