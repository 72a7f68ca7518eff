import type { TrustLevel } from '../../api/schemas/capability-token.ts';
import type { InvocationPhase } from '../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Principal } from '../domain/principal/principal.ts';

/** What a policy may judge by. */
export interface PolicyQuestion {
  readonly principal: Principal;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly contentHash: string;
  /** Name of the upstream or imported document, the part before `__`; empty when the tool stands alone. */
  readonly source: string;
  readonly executor: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly sideEffect: SideEffectPolicy;
  readonly grant: Grant;
  /** When in its reasoning the agent calls; absent when the caller did not say (PRM-09). */
  readonly phase?: InvocationPhase;
  /** Least of what the token's issuer and the tool's source are trusted (PRM-06). */
  readonly trust: TrustLevel;
}

/** A policy engine's answer. */
export interface PolicyDecision {
  readonly allowed: boolean;
  /** Names of the policies that decided; empty when none did, which denies. */
  readonly policies: readonly string[];
  /** What policies in shadow mode would have decided, where that differs; recorded, not enforced (PIPE-15). */
  readonly shadow?: { readonly allowed: boolean; readonly policies: readonly string[] };
  /** How long the answer may be kept; 300 s when absent (PRM-05). */
  readonly cacheTtlSeconds?: number;
}

/** Decides whether a call may run (PRM-04). */
export interface PolicyEngine {
  readonly name: string;
  /** Changes whenever the policies do; part of every cache key. */
  version(): string;
  /** @throws E3206 when the engine gives no usable answer; the caller denies */
  decide(question: PolicyQuestion): PolicyDecision | Promise<PolicyDecision>;
}
