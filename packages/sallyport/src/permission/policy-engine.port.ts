import type { Threat } from '@sallyport/guards';
import type { TrustLevel } from '../../api/schemas/capability-token.ts';
import type { InvocationPhase } from '../../api/schemas/invocation.ts';
import type { PolicyExplanation, PolicyRule } from '../../api/schemas/policy.ts';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import type { DocumentAccessMode } from '../domain/document/given-document.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Principal } from '../domain/principal/principal.ts';

/** The facts that a policy may judge by. */
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
  /** Phase of the agent's reasoning; absent when the caller did not state it (PRM-09). */
  readonly phase?: InvocationPhase;
  /** The lower of the trust in the token's issuer and the trust in the tool's source (PRM-06). */
  readonly trust: TrustLevel;
  /** Kinds of injection found in arguments that the tool receives unchanged (VAL-04). */
  readonly argumentFindings: readonly Threat[];
  /** The document that the call is about to read; absent when the call itself is judged (DOC-04). */
  readonly document?: { readonly id: string; readonly mode: DocumentAccessMode };
}

/** The outcome of a call if policies in shadow mode were in force. */
export interface ShadowDecision {
  readonly allowed: boolean;
  readonly policies: readonly string[];
  /** Reason for a missing answer, which would have denied the call. */
  readonly error?: string;
}

/** A policy engine's answer. */
export interface PolicyDecision {
  readonly allowed: boolean;
  /** True beside `allowed: false` when the call may run after a person's confirmation. */
  readonly ask?: true;
  /** Names of the policies that decided; empty when none did, which denies. */
  readonly policies: readonly string[];
  /** The engine's own reasons; foreign text, for operators. */
  readonly reasons?: readonly string[];
  /** Decision of the policies in shadow mode, where it differs; recorded, not enforced (PIPE-15). */
  readonly shadow?: ShadowDecision;
  /** Lifetime of the answer in the cache; default: the setting permission.cache_ttl_seconds (PRM-05). */
  readonly cacheTtlSeconds?: number;
}

/** A set of policies that was rejected. The one before stays in force. */
export interface PolicyFault {
  /** File and line, and what to change. */
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

/** Decides whether a call may run (PRM-04). An engine leaves out the methods that it does not support. */
export interface PolicyEngine {
  readonly name: string;
  /** Changes whenever the policies do; part of every cache key. */
  version(): string;
  /** @throws E3206 when the engine has no usable answer; the caller denies */
  decide(question: PolicyQuestion): PolicyDecision | Promise<PolicyDecision>;
  /** The policies in force and in shadow mode, in the order of reading. Absent: they are kept elsewhere. */
  policies?(): readonly PolicyRule[];
  /** Parts of the set in force that were left out, such as a faulty file in shadow mode; empty when complete. */
  faults?(): readonly PolicyFault[];
  /** Explains the answer to a question, and what would have to change. */
  explain?(question: PolicyQuestion): Promise<PolicyExplanation>;
  /**
   * Reads the policies again; they apply from the next decision on.
   * @param othersRead awaited once new policies are read and valid, and directly before they apply: engines over the
   *   same files change at the same moment. When it rejects, the old policies stay in force, and so does the promise
   * @returns whether they changed
   * @throws E3214 with file and line when one is not valid; the old policies stay in force
   */
  reload?(othersRead?: () => Promise<void>): Promise<boolean>;
}
