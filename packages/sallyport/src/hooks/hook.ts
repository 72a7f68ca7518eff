import type { TrustLevel } from '../../api/schemas/capability-token.ts';
import type { InvocationPhase } from '../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';

/** When a hook is asked: after a call is authorised and before it runs, or after its tool has answered. */
export type HookPlace = 'before' | 'after';

/** A call as shown to a hook. The hook is the operator's own, so it sees unredacted arguments. */
export interface HookedCall {
  readonly invocationId: string;
  /** Nothing will run: the hook only returns what it would say (PIPE-15). */
  readonly dryRun: boolean;
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sessionId?: string;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly sideEffect: SideEffectPolicy;
  /** As stated by the caller; absent when not stated (PRM-09). */
  readonly phase?: InvocationPhase;
  readonly claimSource?: string;
  readonly trust: TrustLevel;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Variables that the call sets for its tool; absent when it sets none (EXE-10). */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A call after its tool ran, with the result. */
export interface HookedResult extends HookedCall {
  /** The tool's raw result, before inspection. */
  readonly result: unknown;
  /** True when the tool itself reports failure. */
  readonly toolError: boolean;
}

/** The call continues unchanged. */
export interface Allow {
  readonly outcome: 'allow';
}

/** The call ends with E3815. */
export interface Refuse {
  readonly outcome: 'refuse';
  /** For the caller: what to change. */
  readonly reason: string;
}

/** Other arguments, which are validated and authorised as if sent by the caller. */
export interface RewriteArguments {
  readonly outcome: 'rewrite';
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Another result, which is inspected as if sent by the tool. */
export interface RewriteResult {
  readonly outcome: 'rewrite';
  readonly result: unknown;
}

/** Answers of a hook before a call; none means that the call continues. */
export type BeforeAnswer = Allow | Refuse | RewriteArguments;
/** Answers of a hook after a call; none means that the result stays. */
export type AfterAnswer = Allow | Refuse | RewriteResult;

type Said<Answer> = Answer | undefined;

/** Calls that a hook is asked about: those that match every present member. */
export interface HookMatch {
  /** Ids of tools, `*` for any run of characters. */
  readonly tools?: readonly string[];
  readonly sideEffects?: readonly SideEffectPolicy[];
  /** A call without a stated phase matches none. */
  readonly phases?: readonly InvocationPhase[];
}

interface HookCommon {
  /** Name in the audit; letters, digits, `.`, `_`, `-`. */
  readonly id: string;
  readonly match?: HookMatch;
  /** Longest wait for an answer; default 5 000 ms, at most 60 000. */
  readonly timeoutMs?: number;
  /** True when the call continues although the hook fails or takes too long; default false. */
  readonly failOpen?: boolean;
}

/** A hook that is asked before a call runs (PIPE-14). */
export interface BeforeHook extends HookCommon {
  readonly at: 'before';
  /** Called once per call. `signal` is aborted at the timeout and when the call ends. */
  run(call: HookedCall, signal: AbortSignal): Said<BeforeAnswer> | Promise<Said<BeforeAnswer>>;
}

/** A hook that is asked when a tool has answered (PIPE-14). */
export interface AfterHook extends HookCommon {
  readonly at: 'after';
  /** Called once per call. `signal` is aborted at the timeout and when the call ends. */
  run(call: HookedResult, signal: AbortSignal): Said<AfterAnswer> | Promise<Said<AfterAnswer>>;
}

/** A hook of either place. */
export type Hook = BeforeHook | AfterHook;

/** One hook's verdict in the form of the audit; never its words nor its input. */
export interface HookVerdict {
  readonly id: string;
  readonly at: HookPlace;
  /** `failed`: no usable answer. Then `went_on` says whether the hook fails open. */
  readonly outcome: 'allow' | 'refuse' | 'rewrite' | 'failed';
  readonly ms: number;
  readonly went_on?: boolean;
  /** Hash of the arguments before the hook rewrote them. */
  readonly input_hash_before?: string;
}
