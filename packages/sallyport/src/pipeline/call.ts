import type { Threat } from '@sallyport/guards';
import type { CapabilityClaims, TrustLevel } from '../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../api/schemas/invocation.ts';
import type { PolicyOverrides } from '../../api/schemas/visibility.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import type { Caller, Principal } from '../domain/principal/principal.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import type { Executor, ExecutorOutcome } from '../executors/executor.port.ts';

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

/** admit: the call has an id of the layer's, a time, and arguments within bounds. */
export interface Admitted {
  readonly invocationId: string;
  /** Epoch ms. */
  readonly acceptedAt: number;
  readonly givenParameters: Readonly<Record<string, unknown>>;
}

/** resolve: who asks, and for which tool version. */
export interface Resolved {
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
export interface Validated {
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
  /** A policy permits the call once a person has confirmed it. */
  readonly policyAsks: boolean;
}

/** reuse: nobody has answered this request before. */
export interface Fresh {
  readonly fresh: true;
  /** From here on the one that the caller chose, if it did. */
  readonly invocationId: string;
  /** The key under which the call runs once; absent when it has none. */
  readonly idempotencyKey?: string;
}

/** consult: no hook objects. */
export interface Consulted {
  readonly consulted: true;
}

/** approve: no person has to be asked, or one has said yes. */
export interface Approved {
  readonly confirmed: boolean;
  /** What the executor asked, which the yes answers; undefined when it asked nothing. */
  readonly question: string | undefined;
}

/** reserve: there is room for the call. */
export interface Reserved {
  readonly reserved: true;
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
}

/** inspect: the answer may be shown. */
export interface Inspected {
  readonly result: unknown;
  /** SHA-256 over the canonical result before any cut, hex. */
  readonly outputHash: string;
  /** The same of what is kept of a result that was cut; undefined of a whole one. */
  readonly outputKeptHash?: string | undefined;
}

/** settle: what the call changed stays. */
export interface Settled {
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
export type CallSoFar = CallRequest & { readonly [Name in keyof Established]?: Established[Name] | undefined };

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
    invocationId: undefined,
    acceptedAt: undefined,
    givenParameters: undefined,
    principal: undefined,
    claims: undefined,
    tool: undefined,
    overrides: undefined,
    overridesUser: undefined,
    parameters: undefined,
    inputHash: undefined,
    grant: undefined,
    executor: undefined,
    trust: undefined,
    policyAsks: undefined,
    consulted: undefined,
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
    reserved: undefined,
    settled: undefined,
  };
}
