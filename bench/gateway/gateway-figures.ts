import { type Bound, besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { OURS } from './our-names.ts';
import { PEER } from './peer-servers.ts';
import type { Callers, Measured, Outcome } from './rounds.ts';

/** One thing that is shown of every target. */
interface Aspect {
  readonly name: string;
  readonly unit: string;
  readonly callers: Callers;
  readonly of: keyof Measured;
  /** Whether more of it is better. */
  readonly more?: true;
}

const P50: Aspect = { name: 'p50, 1 caller', unit: 'ms', callers: 1, of: 'p50Ms' };
const RATE: Aspect = { name: '32 callers', unit: 'calls/s', callers: 32, of: 'callsPerSecond', more: true };
const CPU_ALONE: Aspect = { name: 'server CPU a call, 1 caller', unit: 'µs', callers: 1, of: 'cpuUs' };
const CPU_MANY: Aspect = { name: 'server CPU a call, 32 callers', unit: 'µs', callers: 32, of: 'cpuUs' };

const ASPECTS: readonly Aspect[] = [
  P50,
  { name: 'p99, 1 caller', unit: 'ms', callers: 1, of: 'p99Ms' },
  RATE,
  { name: 'p50, 32 callers', unit: 'ms', callers: 32, of: 'p50Ms' },
  { name: 'p99, 32 callers', unit: 'ms', callers: 32, of: 'p99Ms' },
  CPU_ALONE,
  CPU_MANY,
  { name: 'CPU a call with children, 32 callers', unit: 'µs', callers: 32, of: 'treeCpuUs' },
];

/** One of our targets: what it should reach, and whom it is shown beside. */
interface Comparison {
  readonly ours: string;
  readonly peers: readonly string[];
  /** Targets of the system design, §9. */
  readonly bounds: ReadonlyMap<Aspect, Bound>;
  /** Peers that we must not be slower than. */
  readonly rivals: readonly Rival[];
}

interface Rival {
  readonly peer: string;
  /** In what we must not be slower. */
  readonly aspects: readonly Aspect[];
  /** How many times as slow we may be; default 1. */
  readonly factor?: number;
}

const PROXIED = new Map<Aspect, Bound>([
  [P50, { atMost: 1 }],
  [RATE, { atLeast: 4_000 }],
]);
const IN_PROCESS = new Map<Aspect, Bound>([
  [CPU_ALONE, { atMost: 120 }],
  [CPU_MANY, { atMost: 120 }],
]);
const AS_MCP_PROXY: Rival = { peer: PEER.proxy, aspects: [P50, RATE] };
/** It checks and records nothing. */
const AS_MCP_HUB: Rival = { peer: PEER.hub, aspects: [P50, RATE], factor: 1.5 };
const AS_SDK: Rival = { peer: PEER.sdk, aspects: [P50, RATE, CPU_MANY] };
/** What no door of ours can be without: HTTP, and the stages. */
const PARTS = `${PEER.floor} and ${OURS.alone}`;
const AS_PARTS: Rival = { peer: PARTS, aspects: [CPU_ALONE, CPU_MANY], factor: 2.5 };
const PROXIES = [PEER.proxy, PEER.leanProxy, PEER.hub, PEER.sdk, PEER.floor];
const REST_PROXIES = [PEER.proxy, PEER.hubRest, PEER.floor];

const COMPARISONS: readonly Comparison[] = [
  { ours: OURS.mcp, peers: PROXIES, bounds: PROXIED, rivals: [AS_MCP_PROXY] },
  { ours: OURS.mcpPure, peers: [PEER.proxy, PEER.hub], bounds: PROXIED, rivals: [AS_MCP_PROXY, AS_MCP_HUB] },
  { ours: OURS.rest, peers: REST_PROXIES, bounds: PROXIED, rivals: [AS_MCP_PROXY] },
  { ours: OURS.restPure, peers: [PEER.proxy], bounds: PROXIED, rivals: [AS_MCP_PROXY] },
  { ours: OURS.mcpNative, peers: [PEER.sdk, PEER.floor, PARTS], bounds: IN_PROCESS, rivals: [AS_SDK, AS_PARTS] },
  { ours: OURS.restNative, peers: [PEER.sdk, PEER.floor, PARTS], bounds: IN_PROCESS, rivals: [AS_SDK, AS_PARTS] },
];

/** Figures of all targets beside their peers. A figure with a bound of its own has a row without a peer first. */
export function gatewayFigures(measured: ReadonlyMap<string, Outcome>): Figure[] {
  const outcomes = new Map(measured).set(PARTS, sumOf(measured.get(PEER.floor), measured.get(OURS.alone)));
  return COMPARISONS.flatMap((comparison) => ASPECTS.flatMap((aspect) => rowsOf(comparison, aspect, outcomes)));
}

/** Times of two that come one after the other. */
function sumOf(one: Outcome = NOTHING, other: Outcome = NOTHING): Outcome {
  if ('failure' in one) return one;
  if ('failure' in other) return other;
  const sum = (callers: Callers): Measured => {
    const [a, b] = [one.by[callers], other.by[callers]];
    return {
      p50Ms: a.p50Ms + b.p50Ms,
      p99Ms: a.p99Ms + b.p99Ms,
      callsPerSecond: 1 / (1 / a.callsPerSecond + 1 / b.callsPerSecond),
      cpuUs: a.cpuUs + b.cpuUs,
      treeCpuUs: a.treeCpuUs + b.treeCpuUs,
    };
  };
  return { by: { 1: sum(1), 32: sum(32) } };
}

const NOTHING: Outcome = { failure: 'was not measured' };

function rowsOf(
  { ours, peers, bounds, rivals }: Comparison,
  aspect: Aspect,
  outcomes: ReadonlyMap<string, Outcome>,
): Figure[] {
  const name = `${ours}: ${aspect.name}`;
  const value = measuredValue(outcomes.get(ours), aspect);
  const bound = bounds.get(aspect);
  const own = bound === undefined ? [] : [figureOf(name, aspect.unit, value, bound)];
  const beside = peers.map((peer) => {
    const outcome = outcomes.get(peer);
    const peerValue = measuredValue(outcome, aspect);
    const rival = rivals.find((each) => each.peer === peer && each.aspects.includes(aspect));
    const asGood =
      rival !== undefined && peerValue !== undefined ? boundOf(aspect, peerValue, rival.factor) : undefined;
    return besidePeer(figureOf(name, aspect.unit, value, asGood), nameWithReason(peer, outcome), peerValue);
  });
  return [...own, ...beside];
}

function boundOf({ more }: Aspect, value: number, factor = 1): Bound {
  return more === true ? { atLeast: value / factor } : { atMost: value * factor };
}

function measuredValue(outcome: Outcome | undefined, { callers, of }: Aspect): number | undefined {
  return outcome === undefined || 'failure' in outcome ? undefined : outcome.by[callers][of];
}

function nameWithReason(peer: string, outcome: Outcome | undefined): string {
  return outcome !== undefined && 'failure' in outcome ? `${peer} (${shortened(outcome.failure)})` : peer;
}

function shortened(reason: string): string {
  const line = reason.replace(/\s+/g, ' ');
  return line.length <= REASON_CHARACTERS_MAX ? line : `${line.slice(0, REASON_CHARACTERS_MAX)}…`;
}

const REASON_CHARACTERS_MAX = 160;
