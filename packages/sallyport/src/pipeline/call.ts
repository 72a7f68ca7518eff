import type { Threat } from '@sallyport/guards';
import type { CapabilityClaims, TrustLevel } from '../../api/schemas/capability-token.ts';
import type { EventType } from '../../api/schemas/cloud-event.ts';
import type { ToolInvokeRequest, Warning } from '../../api/schemas/invocation.ts';
import type { PolicyOverrides } from '../../api/schemas/visibility.ts';
import type { GateDecision } from '../domain/invocation/gate-decision.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Caller, Principal } from '../domain/principal/principal.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import type { Executor, ExecutorOutcome } from '../executors/executor.port.ts';
import type { HookVerdict } from '../hooks/hook.ts';
import type { MadeDecision } from '../permission/policy-decisions.ts';
import type { AgentSlot } from './ongoing/agent-slots.ts';

/** What every door builds: the request as the wire has it, and who brought it. */
export interface CallRequest {
  readonly request: ToolInvokeRequest;
  readonly caller: Caller;
  /** The call that this one takes back; for the layer's own calls, no door says it (VIS-03). */
  readonly compensates?: string | undefined;
  /**
   * Who the layer calls for, where it takes something back and no token is there any more: what the token said, which was
   * verified then (PIPE-03).
   */
  readonly onBehalfOf?: CapabilityClaims | undefined;
}

/** Something about a call that is audited and is no state. */
export interface CallFact {
  readonly type: EventType;
  /** Epoch ms. */
  readonly at: number;
  /** Members of the event beside those of every event of a call. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** What is noted of every call from its beginning: a stage that has more to note returns the longer list. */
export interface Noted {
  /** For the caller, in order. */
  readonly warnings: readonly Warning[];
  /** Audited before the end of the call, in order. */
  readonly facts: readonly CallFact[];
}

/** admit: the call has an id of the layer's, a time, and arguments within bounds. */
export interface Admitted {
  readonly invocationId: string;
  /** Epoch ms. */
  readonly acceptedAt: number;
  readonly givenParameters: Readonly<Record<string, unknown>>;
}

/** resolve: who asks, and for which tool version. */
export interface Resolved extends Partial<Noted> {
  readonly principal: Principal;
  readonly claims: CapabilityClaims;
  readonly tool: ToolVersion;
  /** The arguments with those that the agent's view gives. */
  readonly givenParameters: Readonly<Record<string, unknown>>;
  /** What the agent's activation changes of the manifest. */
  readonly overrides?: PolicyOverrides;
  /** The user whom that activation is for; absent when it is for all users of the agent. */
  readonly overridesUser?: string;
}

/** validate: arguments that match the tool's schema. */
export interface Validated extends Partial<Noted> {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Kinds of injection that the arguments look like, and that did not refuse the call (VAL-04). */
  readonly argumentFindings: readonly Threat[];
  /** SHA-256 over the canonical arguments, and the variables that the call sets where it sets any; hex. */
  readonly inputHash: string;
}

/** authorize: what this call may touch. */
export interface Authorized {
  readonly grant: Grant;
  readonly executor: Executor;
  /** Least of what the agent and the tool's source are trusted (PRM-06). */
  readonly trust: TrustLevel;
  /** What the policy engine decided. */
  readonly policyDecision: MadeDecision;
  /** What the language model said of the call; undefined where none is asked. */
  readonly gateDecision: GateDecision | undefined;
}

/** reuse: nobody has answered this request before. */
export interface Fresh extends Partial<Noted> {
  readonly fresh: true;
  /** From here on the one that the caller chose, if it did. */
  readonly invocationId: string;
  /** The key under which the call runs once; absent when it has none. */
  readonly idempotencyKey?: string;
  /**
   * There where the call has claimed an id or a key. Asked once its row says that it runs: throws E3811 when a claim is not the
   * call's any more, because another call took it over or the database lost it, so that nothing of this one runs.
   */
  readonly confirmClaims?: () => Promise<void>;
}

/** consult: no hook objects. */
export interface Consulted {
  /** What the hooks said, in the order in which they were asked. */
  readonly hookVerdicts: readonly HookVerdict[];
}

/** approve: no person has to be asked, or one has said yes. */
export interface Approved {
  readonly confirmed: boolean;
  /** What the executor asked, which the yes answers; undefined when it asked nothing. */
  readonly question: string | undefined;
}

/** reserve: there is room for the call. */
export interface Reserved {
  /** Of its agent; undefined for a call that takes another back, within the slot of that one. */
  readonly slot: AgentSlot | undefined;
  /** How long it waited for the slot, ms. */
  readonly slotWaitMs: number;
}

/** prepare: everything the tool needs is there. */
export interface Prepared {
  readonly secrets: ReadonlyMap<string, string>;
}

/** execute: the tool has answered. */
export interface Ran {
  readonly ran: ExecutorOutcome;
}

/** review: what it answered, or what a hook made of it. */
export interface Executed {
  readonly outcome: ExecutorOutcome;
  /** What the hooks before and after the tool said, in the order in which they were asked. */
  readonly hookVerdicts: readonly HookVerdict[];
}

/** inspect: the answer may be shown. */
export interface Inspected extends Partial<Noted> {
  readonly result: unknown;
  /** SHA-256 over the canonical result before any cut, hex. */
  readonly outputHash: string;
  /** The same of what is kept of a result that was cut; undefined of a whole one. */
  readonly outputKeptHash?: string | undefined;
}

/** settle: what the call changed stays. */
export interface Settled extends Partial<Noted> {
  readonly settled: true;
}

/** What the stages establish, all of them together. */
type Established = Admitted &
  Resolved &
  Validated &
  Authorized &
  Consulted &
  Approved &
  Prepared &
  Ran &
  Executed &
  Inspected &
  Fresh &
  Reserved &
  Settled;

/** Everything that may be known of a call, as far as it came. */
export type CallSoFar = CallRequest & Noted & { readonly [Name in keyof Established]?: Established[Name] | undefined };

const NO_WARNINGS: readonly Warning[] = [];
const NO_FACTS: readonly CallFact[] = [];

/**
 * A call of which nothing is established yet. Every member is there from the beginning: an object that grows by more than
 * a dozen becomes a dictionary, which each later stage would pay for.
 */
export function newCall({ request, caller, compensates, onBehalfOf }: CallRequest): CallSoFar {
  return {
    request,
    caller,
    compensates,
    onBehalfOf,
    warnings: NO_WARNINGS,
    facts: NO_FACTS,
    invocationId: undefined,
    acceptedAt: undefined,
    givenParameters: undefined,
    principal: undefined,
    claims: undefined,
    tool: undefined,
    overrides: undefined,
    overridesUser: undefined,
    parameters: undefined,
    argumentFindings: undefined,
    inputHash: undefined,
    grant: undefined,
    executor: undefined,
    trust: undefined,
    policyDecision: undefined,
    gateDecision: undefined,
    hookVerdicts: undefined,
    confirmed: undefined,
    question: undefined,
    secrets: undefined,
    ran: undefined,
    outcome: undefined,
    result: undefined,
    outputHash: undefined,
    outputKeptHash: undefined,
    fresh: undefined,
    idempotencyKey: undefined,
    confirmClaims: undefined,
    slot: undefined,
    slotWaitMs: undefined,
    settled: undefined,
  };
}
