import type { ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import { circuitTermsOf } from '../../../../domain/circuit/circuit-config.ts';
import type { CircuitTerms } from '../../../../domain/circuit/circuit-terms.ts';
import { traitsOf } from '../../../../domain/tool/executor-kinds.ts';
import { calledApiOf } from '../called-api.ts';

/** The circuit that calls of a tool go through. */
export interface CircuitUse {
  /** Of the tenant: `api.example.com`, `mcp:github`, or `tool:ID@VERSION`. */
  readonly name: string;
  readonly terms: CircuitTerms;
  /** A timeout that comes sooner says nothing of the service. */
  readonly patienceMs: number;
}

/**
 * Which circuit the calls of a tool go through: the one of the service that it calls, which its other tools share; of a
 * tool that says terms of its own, one for that version, so that a better one is not held up by it. Other tools of this
 * machine go through none: what fails there is the caller's as well as anybody's, and would shut out all others.
 * @param timeoutMs of a tool that names none
 * @returns undefined when they go through none
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
    // Timers are a little early now and then.
    patienceMs: Math.min(timeout, silence, used.slowCallMs) * 0.95,
  };
}
