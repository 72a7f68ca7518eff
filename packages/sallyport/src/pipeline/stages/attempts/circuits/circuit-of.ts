import type { ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import { circuitTermsOf } from '../../../../domain/circuit/circuit-config.ts';
import type { CircuitTerms } from '../../../../domain/circuit/circuit-terms.ts';
import { traitsOf } from '../../../../domain/tool/executor-kinds.ts';
import { calledApiOf } from '../called-api.ts';
import { type HealthProbe, healthProbeOf } from './health-probe.ts';

/** The circuit that calls of a tool go through. */
export interface CircuitUse {
  /** Unique in the tenant: `api.example.com`, `mcp:github`, or `tool:ID@VERSION`. */
  readonly name: string;
  readonly terms: CircuitTerms;
  /** A timeout shorter than this does not count against the service. */
  readonly patienceMs: number;
  /** Asked before a trial call; undefined when the manifest names none. */
  readonly probe: HealthProbe | undefined;
}

/**
 * Chooses the circuit for the calls of a tool: that of the service it calls, shared with other tools; for a tool with
 * circuit terms of its own, one for that version, so that a fixed version is not held up by a bad one. Other local
 * tools have none: their failures may be the caller's fault, and would lock out all other callers.
 * @param timeoutMs of a tool that names none
 * @returns undefined when the calls go through no circuit
 */
export function circuitOf(manifest: ToolManifest, terms: CircuitTerms, timeoutMs: number): CircuitUse | undefined {
  const { tool_id, version, executor, execution_config: config } = manifest;
  const own = config?.circuit_breaker_config;
  if (own === undefined && traitsOf(executor.kind).service === undefined) return undefined;
  const api = own === undefined ? calledApiOf(manifest) : undefined;
  const used = own === undefined ? terms : circuitTermsOf(own, terms);
  const timeout = config?.default_timeout_seconds === undefined ? timeoutMs : config.default_timeout_seconds * 1000;
  const silence = config?.heartbeat_seconds === undefined ? timeout : config.heartbeat_seconds * 1000;
  return {
    name: api?.name ?? `tool:${tool_id}@${version}`,
    terms: used,
    patienceMs: patienceOf(Math.min(timeout, silence), used),
    probe: healthProbeOf(manifest),
  };
}

/** How long a service has to be silent for a timeout to count. Timers fire slightly early now and then. */
export const patienceOf = (timeoutMs: number, { slowCallMs }: CircuitTerms): number =>
  Math.min(timeoutMs, slowCallMs) * 0.95;
