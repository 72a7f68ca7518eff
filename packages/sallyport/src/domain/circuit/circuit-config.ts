import type { Fault } from '../../../api/schemas/error.ts';
import type { CircuitBreakerConfig, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { CIRCUIT_DEFAULTS, type CircuitTerms } from './circuit-terms.ts';

/** Largest window, in calls and in seconds. */
export const WINDOW_SIZE_MAX = 10_000;
/** Most failures in a row. */
const FAILURES_IN_ROW_MAX = 10_000;
/** Most trial calls. */
export const TRIAL_CALLS_MAX = 1_000;
const DAY_SECONDS = 86_400;

/** Numbers of a configuration, by their name on the wire and in the settings. */
const BOUNDS = {
  failure_rate_threshold: { name: 'failureRateThreshold', from: 0, to: 100, unit: 1 },
  slow_call_rate_threshold: { name: 'slowCallRateThreshold', from: 0, to: 100, unit: 1 },
  slow_call_duration_threshold_ms: { name: 'slowCallMs', from: 1, to: DAY_SECONDS * 1000, unit: 1 },
  consecutive_failures_threshold: { name: 'failuresInRow', from: 0, to: FAILURES_IN_ROW_MAX, unit: 1 },
  sliding_window_size: { name: 'windowSize', from: 1, to: WINDOW_SIZE_MAX, unit: 1 },
  minimum_number_of_calls: { name: 'callsMin', from: 1, to: 1_000_000, unit: 1 },
  wait_duration_in_open_state_seconds: { name: 'waitMs', from: 0, to: DAY_SECONDS, unit: 1000 },
  wait_duration_seconds: { name: 'waitMs', from: 0, to: DAY_SECONDS, unit: 1000 },
  permitted_number_of_calls_in_half_open_state: { name: 'trialCalls', from: 1, to: TRIAL_CALLS_MAX, unit: 1 },
} as const satisfies Partial<Record<keyof CircuitBreakerConfig, Bound>>;

type NumberName = Exclude<keyof CircuitTerms, 'windowType' | 'halfOpenStrategy'>;

interface Bound {
  readonly name: NumberName;
  readonly from: number;
  readonly to: number;
  /** Factor from this number to the terms. */
  readonly unit: number;
}

type BoundedKey = keyof typeof BOUNDS;
const BOUNDED = Object.keys(BOUNDS) as BoundedKey[];

/** The fault of one key, and how to fix it. */
export interface CircuitFault {
  readonly key: string;
  readonly message: string;
}

/** Faults of a configuration; empty when there are none (E3403). */
export function circuitConfigFaults(config: CircuitBreakerConfig): CircuitFault[] {
  const faults: CircuitFault[] = [];
  for (const key of BOUNDED) {
    const { from, to } = BOUNDS[key];
    const value = config[key];
    // Negated, so that NaN is refused too.
    if (value !== undefined && !(value >= from && value <= to))
      faults.push({ key, message: `is ${value}; it must be from ${from} to ${to}` });
  }
  const { sliding_window_type: type = CIRCUIT_DEFAULTS.windowType, sliding_window_size: size } = config;
  const { minimum_number_of_calls: callsMin, wait_duration_seconds: wait } = config;
  if (type === 'count_based' && size !== undefined && callsMin !== undefined && callsMin > size)
    faults.push({
      key: 'minimum_number_of_calls',
      message: `is ${callsMin}, more than the ${size} calls of sliding_window_size; it must be at most that`,
    });
  const other = config.wait_duration_in_open_state_seconds;
  if (wait !== undefined && other !== undefined && wait !== other)
    faults.push({
      key: 'wait_duration_seconds',
      message: `is ${wait}, and wait_duration_in_open_state_seconds is ${other}; they mean the same, so name one`,
    });
  return faults;
}

/**
 * The terms of a configuration, over others for absent members. A value out of range, in a manifest older than
 * the limits, is clamped; a minimum beyond the window counts as the window.
 */
export function circuitTermsOf(config: CircuitBreakerConfig, over: CircuitTerms): CircuitTerms {
  const numbers: Partial<Record<NumberName, number>> = {};
  for (const key of BOUNDED) {
    const { name, from, to, unit } = BOUNDS[key];
    const value = config[key];
    if (value !== undefined) numbers[name] = Math.min(Math.max(value, from), to) * unit;
  }
  const terms: CircuitTerms = {
    ...over,
    ...numbers,
    windowType: config.sliding_window_type ?? over.windowType,
    halfOpenStrategy: config.half_open_strategy ?? over.halfOpenStrategy,
  };
  const isCounted = terms.windowType === 'count_based';
  return isCounted ? { ...terms, callsMin: Math.min(terms.callsMin, terms.windowSize) } : terms;
}

/** Faults of the circuit in a manifest, for registration. */
export function circuitFaults(manifest: ToolManifest): Fault[] {
  const { execution_config: config } = manifest;
  if (config?.circuit_breaker_config === undefined) return [];
  const faults = [...circuitConfigFaults(config.circuit_breaker_config), ...probeFaults(manifest)];
  return faults.map(({ key, message }) => ({
    path: `/execution_config/circuit_breaker_config/${key}`,
    code: 'E3403',
    keyword: 'circuit',
    message,
  }));
}

function probeFaults({ execution_config: config, permissions }: ToolManifest): CircuitFault[] {
  const probe = config?.circuit_breaker_config?.health_probe;
  if (probe === undefined) return [];
  const key = 'health_probe/url';
  const url = URL.parse(probe.url);
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.hash}` !== '')
    return [{ key, message: 'must be an http or https address without credentials and fragment' }];
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const host = withoutBrackets(url.hostname);
  const isNamed = permissions?.network?.some(
    (row) => row.port === port && withoutBrackets(row.host.toLowerCase()) === host,
  );
  if (isNamed === true) return [];
  const message = `leads to an address that permissions.network does not name; add {"host": "${host}", "port": ${port}} there`;
  return [{ key, message }];
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');
