import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
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

/** Settings of the approvals that wait. */
export const APPROVAL_LIMIT_SETTINGS = {
  sweepMs: seconds('approvals.sweep_seconds', {
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
  yesValidMs: seconds('approvals.yes_valid_seconds', {
    whole: true,
    minimum: 1,
    default: 900,
    sentence: 'How long a yes is good for when the call cannot go on at once; then it asks again.',
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
  /** Between two looks for rules that other instances made. */
  readonly followMs: number;
  /** How long one instance may be silent in carrying out a decision before another one goes on. */
  readonly leaseMs: number;
}

/** What holds where nobody says otherwise. */
export const APPROVAL_LIMITS: ApprovalLimits = {
  ...defaultsOf(APPROVAL_LIMIT_SETTINGS),
  followMs: 400,
  leaseMs: 30_000,
};

/** Dependencies of approvals, as far as questions take them. */
export interface ApprovalParts {
  readonly store: ApprovalStore;
  readonly records: Pick<LedgerStore, 'waitingCalls' | 'findInvocation'>;
  readonly ledger: Pick<Ledger, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  /** From the file of approvals, in its order. */
  readonly terms?: readonly ApprovalTerms[];
  /** The version that a call was judged for; undefined when it is gone. */
  readonly toolOf: (tenantId: string, toolId: string, version: string) => ToolVersion | undefined;
  readonly notifiers?: readonly Notifier[];
  /** Whether a credential that was shown earlier still counts; default: it does. */
  readonly stillGood?: (claims: CapabilityClaims) => boolean;
  /** Arguments as notifiers may show them; none are shown when absent. */
  readonly shownArguments?: (parameters: Readonly<Record<string, unknown>>) => string;
  /** Reasons for which the user at the agent's own client may confirm; default: requires_confirmation alone. */
  readonly clientReasons?: readonly ConfirmationReason[];
  readonly limits?: Partial<ApprovalLimits>;
}

/** Dependencies of decisions: they lead back into the pipeline and to the workers. */
export interface DecidingParts {
  /**
   * Takes a waiting call with other arguments through validation and authorisation, without effect.
   * @returns what a yes to it is bound to, or why it is refused
   */
  readonly judgeEdit: (
    record: InvocationRecord,
    parameters: Readonly<Record<string, unknown>>,
  ) => Promise<ApprovalBinding | Failure>;
  /**
   * Runs a call that waited, with its yes: every stage again. Settles when the call is over, waits again, or surely will be
   * run by somebody. What it rejects with is logged, and it is asked again as long as the call waits.
   */
  readonly resume: (tenantId: string, invocationId: string, approval: GivenApproval) => Promise<unknown>;
}

/** Somebody who decides. */
export interface Approver {
  readonly tenantId: string;
  /** The user, or an agent without one; of a link the address that it was sent to. */
  readonly id: string;
  /** Every name that rules and questions may know this approver by; `id` among them. */
  readonly names: readonly string[];
  readonly agentDid?: string;
  readonly userDid?: string | undefined;
  readonly roles: readonly Role[];
  /** `client`: the user who sits with the asking agent, through its own client. */
  readonly via: 'token' | 'local' | 'link' | 'client';
  readonly claims?: CapabilityClaims;
}

/** Approvals at work, as far as people are only asked: their dependencies, and what is under way. */
export interface AskingState extends Required<Omit<ApprovalParts, 'limits' | 'shownArguments'>> {
  readonly shownArguments: ApprovalParts['shownArguments'];
  readonly limits: ApprovalLimits;
  readonly rules: StandingRules;
  /** Approvals that wait, by tenant: as of the last sweep, and those asked since. */
  readonly pendingCounts: Map<string, number>;
  /** Call of an approval that this instance has seen, by tenant and approval; the oldest are forgotten. */
  readonly seen: Map<string, string>;
  /** Highest level of which people were told, by tenant and approval, as far as this instance knows. */
  readonly told: Map<string, number>;
  /** Decisions that this instance carries out at the moment. */
  readonly atWork: Set<string>;
  /** Decisions that this instance is not at any more, though its claim on them may stand: the store went away. */
  readonly leftOff: Map<string, ApprovalClosing>;
  /** What goes on in the background. */
  readonly background: Set<Promise<void>>;
  /** Notices that are on their way. */
  readonly sending: Set<Promise<void>>;
}

/** Approvals at work, decisions included. */
export interface ApprovalState extends AskingState, DecidingParts {}

/** One approval among all. */
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

/** Does something that nobody waits for; what fails is logged. */
export function inBackground(state: AskingState, event: string, work: () => Promise<unknown>): Promise<void> {
  const done: Promise<void> = work().then(
    () => undefined,
    (thrown: unknown) => state.log.error(event, { reason: thrown instanceof Error ? thrown.message : String(thrown) }),
  );
  state.background.add(done);
  void done.finally(() => state.background.delete(done));
  return done;
}
