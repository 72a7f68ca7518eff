import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import { messageOf } from '@sallyport/std/error/message-of';
import type { CapabilityClaims, Role } from '../../../api/schemas/capability-token.ts';
import type { Ledger } from '../../audit/ledger.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { ApprovalBinding, ConfirmationReason, GivenApproval } from '../../domain/invocation/waiting-call.ts';
import { days, integer, seconds } from '../../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ApprovalClosing, ApprovalStore } from '../approval-store.port.ts';
import type { ApprovalTerms } from '../approval-terms.ts';
import type { Notifier } from '../notifier.port.ts';
import type { StandingRules } from './standing-rules.ts';

/** Settings of pending approvals. */
export const APPROVAL_LIMIT_SETTINGS = {
  sweepMs: seconds('approvals.sweep_seconds', {
    timed: true,
    minimum: 0.05,
    default: 15,
    sentence:
      'How often each instance looks for approvals that expired, that others have to be asked for, or that a crash left.',
  }),
  pendingMax: integer('approvals.pending_max', {
    unit: 'calls',
    minimum: 1,
    default: 1000,
    sentence: 'Calls of one tenant that wait for a person at once; more are refused with E3803.',
  }),
  validMs: seconds('approvals.valid_seconds', {
    whole: true,
    minimum: 1,
    default: 900,
    sentence:
      'How long an approval that was given is valid when its call cannot go on at once; then the call asks again.',
  }),
  rememberMsMax: days('approvals.remember_days_max', {
    minimum: 0,
    default: 30,
    sentence: 'Longest life of a standing rule ("always allow"); 0 allows none.',
  }),
  delegationMsMax: days('approvals.delegation_days_max', {
    minimum: 0,
    default: 30,
    sentence: 'Longest time for which an approver may let somebody else decide; 0 allows none.',
  }),
};

/** Limits and times of approvals. */
export interface ApprovalLimits extends ValuesOf<typeof APPROVAL_LIMIT_SETTINGS> {
  /** Ms between two polls for rules that other instances made. */
  readonly followMs: number;
  /** How long an instance may be silent while it carries out a decision before another one takes over, in ms. */
  readonly leaseMs: number;
}

/** Default limits. */
export const APPROVAL_LIMITS: ApprovalLimits = {
  ...defaultsOf(APPROVAL_LIMIT_SETTINGS),
  followMs: 400,
  leaseMs: 30_000,
};

/** Dependencies of approvals, as far as questions need them. */
export interface ApprovalParts {
  readonly store: ApprovalStore;
  readonly records: Pick<LedgerStore, 'waitingCalls' | 'findInvocation'>;
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  /** Terms from the file of approvals, in its order. */
  readonly terms: readonly ApprovalTerms[];
  /** The tool version that a call was judged for; undefined when it is gone. */
  readonly toolOf: (tenantId: string, toolId: string, version: string) => ToolVersion | undefined;
  readonly notifiers: readonly Notifier[];
  /** True when a credential that was shown earlier still counts. */
  readonly stillGood: (claims: CapabilityClaims) => boolean;
  /** Arguments as notifiers may show them; absent when the operator shows them none. */
  readonly shownArguments?: (parameters: Readonly<Record<string, unknown>>) => string;
  /** Reasons for which the user at the agent's own client may confirm. */
  readonly clientReasons: readonly ConfirmationReason[];
  readonly limits: ApprovalLimits;
}

/** Dependencies of decisions: the pipeline and the workers. */
export interface DecidingParts {
  /**
   * Runs a waiting call with changed arguments through validation and authorisation, without effect.
   * @returns what its approval would be bound to, or its refusal
   */
  readonly judgeEdit: (
    record: InvocationRecord,
    parameters: Readonly<Record<string, unknown>>,
  ) => Promise<ApprovalBinding | Failure>;
  /**
   * Resumes a waiting call with its approval, through every stage. Settles when the call is over, waits again, or is
   * sure to be run by some instance. Its rejection is logged, and it is called again while the call waits.
   */
  readonly resume: (tenantId: string, invocationId: string, approval: GivenApproval) => Promise<unknown>;
}

/** A person who decides. */
export interface Approver {
  readonly tenantId: string;
  /** The user, or the agent if there is none; for a link, the address that it was sent to. */
  readonly id: string;
  /** All names that rules and questions may use for this approver, `id` included. */
  readonly names: readonly string[];
  readonly agentDid?: string;
  readonly userDid?: string | undefined;
  readonly roles: readonly Role[];
  /** `client`: the user at the asking agent's own client. */
  readonly via: 'token' | 'local' | 'link' | 'client';
  readonly claims?: CapabilityClaims;
}

/** State of the approvals as far as questions need it: dependencies and work under way. */
export interface AskingState extends ApprovalParts {
  readonly rules: StandingRules;
  /** Number of pending approvals by tenant: as of the last sweep, plus those asked since. */
  readonly pendingCounts: Map<string, number>;
  /** Calls of the approvals that this instance has seen, by tenant and approval; the oldest are dropped. */
  readonly seen: Map<string, string>;
  /** Highest level that was notified, by tenant and approval, as far as this instance knows. */
  readonly notified: Map<string, number>;
  /** Decisions that this instance carries out at the moment. */
  readonly atWork: Map<string, Promise<void>>;
  /** Decisions that this instance gave up although its claim may still be in force: the store became unavailable. */
  readonly leftOff: Map<string, ApprovalClosing>;
  /** Background work under way. */
  readonly background: Set<Promise<void>>;
  /** Notices that are being delivered. */
  readonly sending: Set<Promise<void>>;
}

/** State of the approvals, decisions included. */
export interface ApprovalState extends AskingState, DecidingParts {}

/** Key of one approval across tenants. */
export const keyOf = (tenantId: string, approvalId: string): string => JSON.stringify([tenantId, approvalId]);

/** Approvals whose call an instance remembers. */
const SEEN_MAX = 10_000;

/** Remembers which call an approval belongs to. */
export function remember({ seen }: AskingState, tenantId: string, approvalId: string, invocationId: string): void {
  const key = keyOf(tenantId, approvalId);
  if (seen.has(key)) return;
  seen.set(key, invocationId);
  if (seen.size <= SEEN_MAX) return;
  for (const oldest of seen.keys()) {
    seen.delete(oldest);
    return;
  }
}

/** Runs work that nobody waits for; its failure is logged. */
export function inBackground(state: AskingState, event: string, work: () => Promise<unknown>): Promise<void> {
  const done: Promise<void> = work().then(
    () => undefined,
    (thrown: unknown) => state.log.error(event, { reason: messageOf(thrown) }),
  );
  state.background.add(done);
  void done.finally(() => state.background.delete(done));
  return done;
}
