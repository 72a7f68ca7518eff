import type { TrustLevel } from '../../api/schemas/capability-token.ts';
import type { InvocationPhase } from '../../api/schemas/invocation.ts';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';

/** Where a hook is asked: when a call is authorised and before it runs, or when its tool has answered. */
export type HookPlace = 'before' | 'after';

/** What a hook is told of a call. It is the operator's own, so it sees arguments as they are. */
export interface HookedCall {
  readonly invocationId: string;
  /** Nothing will run: the hook says what it would say, and does nothing else (PIPE-15). */
  readonly dryRun: boolean;
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  readonly sessionId?: string;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly sideEffect: SideEffectPolicy;
  /** As the caller stated it; absent when it did not (PRM-09). */
  readonly phase?: InvocationPhase;
  readonly claimSource?: string;
  readonly trust: TrustLevel;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Variables that the call sets for its tool; absent when it sets none (EXE-10). */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The same after the tool ran, with what it answered. */
export interface HookedResult extends HookedCall {
  /** Not inspected yet: what the tool sent, as it is. */
  readonly result: unknown;
  /** The tool says itself that it failed. */
  readonly toolError: boolean;
}

/** The call goes on as it is. */
export interface Allow {
  readonly outcome: 'allow';
}

/** The call ends with E3815. */
export interface Refuse {
  readonly outcome: 'refuse';
  /** For the caller: what to change. */
  readonly reason: string;
}

/** Other arguments, which are validated and authorised as if the caller had sent them. */
export interface RewriteArguments {
  readonly outcome: 'rewrite';
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Another result, which is inspected as if the tool had sent it. */
export interface RewriteResult {
  readonly outcome: 'rewrite';
  readonly result: unknown;
}

/** What a hook before a call may say; nothing means that the call goes on. */
export type BeforeAnswer = Allow | Refuse | RewriteArguments;
/** What a hook after a call may say; nothing means that the result stays. */
export type AfterAnswer = Allow | Refuse | RewriteResult;

type Said<Answer> = Answer | undefined;

/** Which calls a hook is asked about: those that fit every member that is there. */
export interface HookMatch {
  /** Ids of tools, `*` for any run of characters. */
  readonly tools?: readonly string[];
  readonly sideEffects?: readonly SideEffectPolicy[];
  /** A call that states no phase fits none. */
  readonly phases?: readonly InvocationPhase[];
}

interface HookCommon {
  /** Stands in the audit; letters, digits, `.`, `_`, `-`. */
  readonly id: string;
  readonly match?: HookMatch;
  /** Longest wait for an answer; 5 000 ms when absent, 60 000 at most. */
  readonly timeoutMs?: number;
  /** Whether the call goes on when the hook fails or takes too long; false when absent. */
  readonly failOpen?: boolean;
}

/** A hook that is asked before a call runs (PIPE-14). */
export interface BeforeHook extends HookCommon {
  readonly at: 'before';
  /** Each is asked once for a call. `signal` is aborted at the timeout and when the call ends. */
  run(call: HookedCall, signal: AbortSignal): Said<BeforeAnswer> | Promise<Said<BeforeAnswer>>;
}

/** A hook that is asked when a tool has answered (PIPE-14). */
export interface AfterHook extends HookCommon {
  readonly at: 'after';
  /** Each is asked once for a call. `signal` is aborted at the timeout and when the call ends. */
  run(call: HookedResult, signal: AbortSignal): Said<AfterAnswer> | Promise<Said<AfterAnswer>>;
}

/** A hook of either place. */
export type Hook = BeforeHook | AfterHook;

/** What one hook said, as the audit has it; never its words nor what it saw. */
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
