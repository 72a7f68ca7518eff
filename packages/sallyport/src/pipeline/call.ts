import type { Threat } from '@sallyport/guards';
import type { CapabilityClaims, TrustLevel } from '../../api/schemas/capability-token.ts';
import type { EventType } from '../../api/schemas/cloud-event.ts';
import type { ToolInvokeRequest, Warning } from '../../api/schemas/invocation.ts';
import type { PolicyOverrides } from '../../api/schemas/visibility.ts';
import type { GivenDocument } from '../domain/document/given-document.ts';
import type { GateDecision } from '../domain/invocation/gate-decision.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { KeptMembers } from '../domain/invocation/result-members.ts';
import type { AskedFor } from '../domain/invocation/waiting-call.ts';
import type { Caller, Principal } from '../domain/principal/principal.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import type { Executor, ExecutorOutcome } from '../executors/executor.port.ts';
import type { HookVerdict } from '../hooks/hook.ts';
import type { MadeDecision } from '../permission/policy-decisions.ts';
import type { AgentSlot } from './ongoing/slots/agent-slots.ts';

/** What every door builds: the request as the wire has it, and its caller. */
export interface CallRequest {
  readonly request: ToolInvokeRequest;
  readonly caller: Caller;
  /** The call that this one takes back. Set only by the layer for its own calls; no door accepts it (VIS-03). */
  readonly compensates?: string | undefined;
  /**
   * Claims of the agent that the layer acts for when it takes something back and no token is left: they come from a
   * token that was verified earlier (PIPE-03).
   */
  readonly onBehalfOf?: CapabilityClaims | undefined;
}

/** An audited fact of a call that is not a state. */
export interface CallFact {
  readonly type: EventType;
  /** Epoch ms. */
  readonly at: number;
  /** Members of the event, besides those that all events of a call share. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Warnings and facts of a call, from its beginning: a stage that has more to note returns the longer list. */
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

/** resolve: the principal and the tool version. */
export interface Resolved extends Partial<Noted> {
  readonly principal: Principal;
  readonly claims: CapabilityClaims;
  readonly tool: ToolVersion;
  /** The arguments, merged with those that the agent's view sets. */
  readonly givenParameters: Readonly<Record<string, unknown>>;
  /** What the agent's activation changes of the manifest. */
  readonly overrides?: PolicyOverrides;
  /** The user whom that activation is for; absent when it applies to all users of the agent. */
  readonly overridesUser?: string;
}

/** validate: arguments that match the tool's schema. */
export interface Validated extends Partial<Noted> {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Kinds of injection found in the arguments that did not refuse the call (VAL-04). */
  readonly argumentFindings: readonly Threat[];
  /** SHA-256, hex, over the canonical arguments and the variables of the call, if it sets any. */
  readonly inputHash: string;
}

/** authorize: what this call may touch. */
export interface Authorized extends Partial<Noted> {
  readonly grant: Grant;
  readonly executor: Executor;
  /** The lower of two trust levels: the agent's and that of the tool's source (PRM-06). */
  readonly trust: TrustLevel;
  /** What the policy engine decided. */
  readonly policyDecision: MadeDecision;
  /** What the language model said of the call; undefined where none is asked. */
  readonly gateDecision: GateDecision | undefined;
}

/** reuse: no earlier call answers this request. */
export interface Fresh extends Partial<Noted> {
  readonly fresh: true;
  /** From here on the id that the caller chose, if it chose one. */
  readonly invocationId: string;
  /** The key under which the call runs once; absent when it has none. */
  readonly idempotencyKey?: string;
  /** What its names stand for; absent when it has none. */
  readonly asked?: AskedFor;
  /**
   * Present when the call has claimed an id or a key. Called once its row says that it runs: throws E3811 when a claim
   * is no longer the call's, because another call took it over or the database lost it, so that nothing of this call
   * runs.
   */
  readonly confirmClaims?: () => Promise<void>;
  /** Present beside `confirmClaims`. Makes claims again that the database has lost. Throws E3811 as it does. */
  readonly renewClaims?: () => Promise<void>;
}

/** consult: no hook objects. */
export interface Consulted {
  /** What the hooks said, in the order in which they were asked. */
  readonly hookVerdicts: readonly HookVerdict[];
}

/** approve: the call needs no person, or a person has approved it. */
export interface Approved {
  readonly confirmed: boolean;
  /** The executor's question, which the approval answers; undefined when it asked nothing. */
  readonly question: string | undefined;
  /** Who approved, as the audit says it: people, or `rule:` and the id of a standing rule; undefined when nobody had to. */
  readonly approvedBy: string | undefined;
}

/** reserve: there is room for the call. */
export interface Reserved {
  /** The agent's slot; undefined for a compensating call, which runs inside the slot of the original call. */
  readonly slot: AgentSlot | undefined;
  /** How long the call waited for the slot, ms. */
  readonly slotWaitMs: number;
}

/** prepare: everything the tool needs is there. */
export interface Prepared extends Partial<Noted> {
  readonly secrets: ReadonlyMap<string, string>;
  /** Each version once; absent for a call without documents. */
  readonly documents?: readonly GivenDocument[];
}

/** execute: the tool has answered. */
export interface Ran {
  readonly ran: ExecutorOutcome;
}

/** review: the tool's answer, or what a hook made of it. */
export interface Executed {
  readonly outcome: ExecutorOutcome;
  /** What the hooks before and after the tool said, in the order in which they were asked. */
  readonly hookVerdicts: readonly HookVerdict[];
}

/** inspect: the answer may be shown to the caller. */
export interface Inspected extends Partial<Noted> {
  readonly result: unknown;
  /** SHA-256 over the canonical result before any cut, hex. */
  readonly outputHash: string;
  /** The same hash of the part that is kept of a cut result; undefined when the result is whole. */
  readonly outputKeptHash?: string | undefined;
  /** Of a result that is not whole, what its compensation may need. */
  readonly keptMembers?: KeptMembers | undefined;
}

/** settle: the changes of the call stay. */
export interface Settled extends Partial<Noted> {
  readonly settled: true;
}

/** What all stages together establish. */
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

/** Everything that can be known of a call, at any point of its way. */
export type CallSoFar = CallRequest & Noted & { readonly [Name in keyof Established]?: Established[Name] | undefined };

const NO_WARNINGS: readonly Warning[] = [];
const NO_FACTS: readonly CallFact[] = [];

/**
 * A call of which nothing is established yet. Every member is there from the beginning: V8 turns an object that grows
 * by more than a dozen members into a dictionary, which every later stage would pay for.
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
    approvedBy: undefined,
    question: undefined,
    secrets: undefined,
    documents: undefined,
    ran: undefined,
    outcome: undefined,
    result: undefined,
    outputHash: undefined,
    outputKeptHash: undefined,
    keptMembers: undefined,
    fresh: undefined,
    idempotencyKey: undefined,
    asked: undefined,
    confirmClaims: undefined,
    renewClaims: undefined,
    slot: undefined,
    slotWaitMs: undefined,
    settled: undefined,
  };
}
