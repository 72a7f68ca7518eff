import type { CapabilityClaims, Role, RootHolder } from '../../api/schemas/capability-token.ts';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { ApprovalBinding, ConfirmationReason, GivenApproval } from '../domain/invocation/waiting-call.ts';

/** How an approval ended. A withdrawn one ended because its call did. */
export type ApprovalOutcome = 'approved' | 'denied' | 'expired' | 'withdrawn';

/** One person's vote to approve one approval. */
export interface StoredVote {
  readonly tenantId: string;
  readonly approvalId: string;
  /** The person who voted. */
  readonly approver: string;
  /** Owner of the right to decide: the approver, or the person who delegated it. */
  readonly inNameOf: string;
  /** The person who delegated that right; absent for the approver's own right. */
  readonly lender?: RootHolder;
  /** What was approved. */
  readonly binding: ApprovalBinding;
  /** The arguments that the approver put in place of the original ones; absent when the call was approved as it is. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Epoch ms. */
  readonly votedAt: number;
  /** Claims of the approver's credential, so that a vote whose credential was revoked does not count. */
  readonly claims?: CapabilityClaims;
}

/** The one and final end of an approval. */
export interface ApprovalClosing {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly invocationId: string;
  readonly outcome: ApprovalOutcome;
  /** Epoch ms. */
  readonly closedAt: number;
  /** Who closed it; `layer` for an expiry. */
  readonly by: string;
  /** All approvers whose votes counted; empty for every other outcome. */
  readonly approvers: readonly string[];
  readonly reason?: string;
  /** What was asked. */
  readonly binding: ApprovalBinding;
  /** The reason, the time of the question and its expiry; epoch ms. */
  readonly asked: { readonly reason: ConfirmationReason; readonly at: number; readonly until: number };
  /** What the call is resumed with; only on approved ones. */
  readonly given?: GivenApproval;
  /** The arguments that were approved in place of the original ones. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A closing, and how far it was carried out. */
export interface HeldClosing extends ApprovalClosing {
  /** True when it is on the audit record. */
  readonly noted: boolean;
  /** True when nothing is left to do: the call ended or was resumed. */
  readonly finished: boolean;
}

/** Key of a notice about an approval: level 0 for the question, then one level for each escalation. */
export interface NoticeKey {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly invocationId: string;
  readonly level: number;
}

/** An approver lets another person decide for a limited time. */
export interface StoredDelegation {
  readonly id: string;
  readonly tenantId: string;
  /** Owner of the right: every name by which that approver is known. */
  readonly from: readonly [string, ...string[]];
  /** Roles by which the approver could decide when the delegation was made. */
  readonly roles: readonly Role[];
  /** Claims of the approver's credential: the delegation ends when it is revoked. */
  readonly claims?: CapabilityClaims;
  readonly to: string;
  /** Epoch ms. */
  readonly madeAt: number;
  /** Epoch ms. */
  readonly until: number;
  readonly reason?: string;
}

/** "Always allow": a standing approval of later calls, narrow and limited in time. */
export interface StoredRule {
  readonly id: string;
  readonly tenantId: string;
  /** Absent: every agent of the tenant. */
  readonly agentDid?: string;
  /**
   * The user of the call that the rule was made for; a rule without a user covers calls without one. Ignored without
   * `agentDid`.
   */
  readonly userDid?: string;
  readonly toolId: string;
  /** Hash of the tool's definition: another version asks again. */
  readonly contentHash: string;
  readonly reason: ConfirmationReason;
  /** Absent: any arguments. */
  readonly inputHash?: string;
  /** Absent: any policies. */
  readonly policyVersion?: string;
  /** Epoch ms. */
  readonly madeAt: number;
  /** Epoch ms. */
  readonly expiresAt: number;
  readonly madeBy: string;
  /** The person who made it: under four eyes, it covers none of this person's own calls. */
  readonly maker?: RootHolder;
  /** The approval with which it was made. */
  readonly approvalId: string;
  readonly why?: string;
  readonly revoked?: true;
}

/** A right to answer one approval once, without a credential: stored as the hash of its secret. */
export interface StoredLink {
  readonly hash: string;
  readonly tenantId: string;
  readonly approvalId: string;
  /** The approver in whose name it answers. */
  readonly approver: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/**
 * Votes, ends and notices of approvals. The questions themselves are in the rows of their calls: an approval waits as
 * long as its call waits and it is not closed here. Every method is safe to call at the same time from several
 * instances; all of them throw E3812 when the store cannot be reached.
 */
export interface ApprovalStore {
  /** Stores a vote; a later vote of the same approver replaces the earlier one. Resolves to all votes, oldest first. */
  vote(vote: StoredVote): Promise<readonly StoredVote[]>;
  /** The oldest first. */
  votes(tenantId: string, approvalId: string): Promise<readonly StoredVote[]>;

  /** Closes an approval; false, with no change, when it is closed already. This alone decides whose decision counts. */
  close(closing: ApprovalClosing): Promise<boolean>;
  closing(tenantId: string, approvalId: string): Promise<HeldClosing | undefined>;
  /** Closings of one tenant, latest first. */
  closings(tenantId: string, limit: number, offset: number): Promise<readonly HeldClosing[]>;
  /** Closings of all tenants that are not carried out and that nobody has claimed; oldest first. */
  unfinished(limit: number, leaseMs: number): Promise<readonly HeldClosing[]>;
  /**
   * Claims the carrying out of a closing: true for one holder at a time, and for nobody once it is finished. A holder
   * renews its claim by claiming again within the lease. The lease is measured by the store's own clock, which no
   * instance can move.
   */
  claim(tenantId: string, approvalId: string, holder: string, leaseMs: number): Promise<boolean>;
  /** Gives a claim back, so that it can be taken at once. Nothing happens when another holder has it. */
  release(tenantId: string, approvalId: string, holder: string): Promise<void>;
  /** Gives back all claims of a holder: those of an earlier life of an instance. */
  releaseAll(holder: string): Promise<void>;
  /** Notes how far a closing was carried out. Idempotent. */
  mark(tenantId: string, approvalId: string, done: 'noted' | 'finished'): Promise<void>;

  /**
   * Claims the delivery of one notice for the length of a lease: `taken` for one caller at a time, `busy` for the
   * others meanwhile, `notified` for everybody once the notice was delivered.
   */
  claimNotice(notice: NoticeKey, leaseMs: number): Promise<'taken' | 'busy' | 'notified'>;
  /** Notes that a notice was delivered. */
  noticeDelivered(tenantId: string, approvalId: string, level: number): Promise<void>;
  /** The call of an approval about which somebody was notified; undefined for any other. */
  invocationOf(tenantId: string, approvalId: string): Promise<string | undefined>;

  addDelegation(delegation: StoredDelegation, events?: EventsOf<StoredDelegation>): Promise<void>;
  /**
   * False when the tenant has no delegation of this id. Idempotent otherwise.
   * @param events of a delegation that this call ends
   */
  endDelegation(tenantId: string, id: string, events?: EventsOf<StoredDelegation>): Promise<boolean>;
  /** A tenant's delegations that have not ended at a time, latest first; 1 000 at most. */
  delegations(tenantId: string, nowMs: number): Promise<readonly StoredDelegation[]>;

  addRule(rule: StoredRule, events?: EventsOf<StoredRule>): Promise<void>;
  /** Resolves to the revoked rule; undefined when the tenant has no rule of this id in force. */
  revokeRule(tenantId: string, id: string, events?: EventsOf<StoredRule>): Promise<StoredRule | undefined>;
  /**
   * Rules of every tenant that changed after a revision, including revoked ones; all rules for revision 0. No change is
   * ever left out.
   */
  changedRules(revision: number): Promise<{ readonly revision: number; readonly rules: readonly StoredRule[] }>;

  addLink(link: StoredLink): Promise<void>;
  /** Undefined for a link that was never made, or was pruned. */
  link(hash: string): Promise<StoredLink | undefined>;
  /** Uses up a link: true once. */
  useLink(hash: string): Promise<boolean>;
  /** Makes a link usable again after its answer was refused. */
  freeLink(hash: string): Promise<void>;

  /**
   * Removes what ended before a time: finished closings with their votes and notices, delegations, links, and expired
   * rules. Closings that are not carried out stay. Resolves to the number of removed rows.
   */
  prune(beforeMs: number): Promise<number>;
}
