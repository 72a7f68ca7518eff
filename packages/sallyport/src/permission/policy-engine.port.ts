import type { Threat } from '@sallyport/guards';
import type { TrustLevel } from '../../api/schemas/capability-token.ts';
import type { InvocationPhase } from '../../api/schemas/invocation.ts';
import type { PolicyExplanation, PolicyRule } from '../../api/schemas/policy.ts';
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
  /** Kinds of injection that the arguments look like, in content that the tool gets as it was given (VAL-04). */
  readonly argumentFindings: readonly Threat[];
}

/** What would become of a call if policies in shadow mode were in force. */
export interface ShadowDecision {
  readonly allowed: boolean;
  readonly policies: readonly string[];
  /** Why there is no answer, which would have denied the call. */
  readonly error?: string;
}

/** A policy engine's answer. */
export interface PolicyDecision {
  readonly allowed: boolean;
  /** True beside `allowed: false` when the call may run once a person has confirmed it. */
  readonly ask?: true;
  /** Names of the policies that decided; empty when none did, which denies. */
  readonly policies: readonly string[];
  /** What the engine says of it in words of its own; foreign text, for operators. */
  readonly reasons?: readonly string[];
  /** What policies in shadow mode would have decided, where that differs; recorded, not enforced (PIPE-15). */
  readonly shadow?: ShadowDecision;
  /** How long the answer may be kept; the setting permission.cache_ttl_seconds when absent (PRM-05). */
  readonly cacheTtlSeconds?: number;
}

/** A set of policies that was not taken. The one before stays in force. */
export interface PolicyFault {
  /** File and line, and what to change. */
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

/** Decides whether a call may run (PRM-04). What an engine cannot do it lacks. */
export interface PolicyEngine {
  readonly name: string;
  /** Changes whenever the policies do; part of every cache key. */
  version(): string;
  /** @throws E3206 when the engine gives no usable answer; the caller denies */
  decide(question: PolicyQuestion): PolicyDecision | Promise<PolicyDecision>;
  /** The policies in force and in shadow, in the order in which they were read. Absent: they are kept elsewhere. */
  policies?(): readonly PolicyRule[];
  /** Parts of the set in force that were left out, such as a file in shadow mode with a fault; empty when whole. */
  faults?(): readonly PolicyFault[];
  /** Why the answer to a question is what it is, and what would have to change. */
  explain?(question: PolicyQuestion): Promise<PolicyExplanation>;
  /**
   * Reads the policies again; they hold from the next decision on.
   * @returns whether they changed
   * @throws E3214 with file and line when one is not valid; the old policies stay in force
   */
  reload?(): Promise<boolean>;
}
