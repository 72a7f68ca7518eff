import type { CapabilityClaims, Role, RootHolder } from '../../api/schemas/capability-token.ts';
import type { ApprovalBinding, ConfirmationReason, GivenApproval } from '../domain/invocation/waiting-call.ts';

/** What became of an approval. A withdrawn one ended because its call did. */
export type ApprovalOutcome = 'approved' | 'denied' | 'expired' | 'withdrawn';

/** The yes of one person to one approval. */
export interface StoredVote {
  readonly tenantId: string;
  readonly approvalId: string;
  /** Who said it. */
  readonly approver: string;
  /** Whose right to decide was used: the approver's own, or that of who delegated it. */
  readonly inNameOf: string;
  /** The person who delegated that right; absent for the approver's own right. */
  readonly lender?: RootHolder;
  /** What was said yes to. */
  readonly binding: ApprovalBinding;
  /** The arguments that the approver put in place of those that came; absent for a yes to the call as it is. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Epoch ms. */
  readonly votedAt: number;
  /** What the approver showed, so that a yes whose credential was revoked does not count. */
  readonly claims?: CapabilityClaims;
}

/** The one end of an approval. */
export interface ApprovalClosing {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly invocationId: string;
  readonly outcome: ApprovalOutcome;
  /** Epoch ms. */
  readonly closedAt: number;
  /** Who closed it; `layer` for an expiry. */
  readonly by: string;
  /** Everybody whose yes counted; empty for every other outcome. */
  readonly approvers: readonly string[];
  readonly reason?: string;
  /** What was asked. */
  readonly binding: ApprovalBinding;
  /** Why, when, and until when somebody could answer; epoch ms. */
  readonly asked: { readonly reason: ConfirmationReason; readonly at: number; readonly until: number };
  /** What the call is resumed with; of an approved one only. */
  readonly given?: GivenApproval;
  /** The arguments that were approved in place of those that came. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A closing and how far it was carried out. */
export interface HeldClosing extends ApprovalClosing {
  /** It is on the audit record. */
  readonly noted: boolean;
  /** Nothing is left to be done for it: the call ended or was resumed. */
  readonly finished: boolean;
}

/** That people are told of an approval: level 0 when it is asked, then one for each escalation. */
export interface NoticeKey {
  readonly tenantId: string;
  readonly approvalId: string;
  readonly invocationId: string;
  readonly level: number;
}

/** An approver lets somebody else decide for a while. */
export interface StoredDelegation {
  readonly id: string;
  readonly tenantId: string;
  /** Whose right it is: under each name by which that approver is known. */
  readonly from: readonly [string, ...string[]];
  /** What the approver may decide by role, when it was made. */
  readonly roles: readonly Role[];
  /** What the approver showed: the delegation falls when that is revoked. */
  readonly claims?: CapabilityClaims;
  readonly to: string;
  /** Epoch ms. */
  readonly madeAt: number;
  /** Epoch ms. */
  readonly until: number;
  readonly reason?: string;
}

/** "Always allow": a yes to calls that come later, narrow and for a time. */
export interface StoredRule {
  readonly id: string;
  readonly tenantId: string;
  /** Absent: every agent of the tenant. */
  readonly agentDid?: string;
  /** The user of the call that it was made for; a rule that has none holds for calls without a user. Ignored without `agentDid`. */
  readonly userDid?: string;
  readonly toolId: string;
  /** Of the tool's definition: another version asks again. */
  readonly contentHash: string;
  readonly reason: ConfirmationReason;
  /** Absent: whatever the arguments are. */
  readonly inputHash?: string;
  /** Absent: under any policies. */
  readonly policyVersion?: string;
  /** Epoch ms. */
  readonly madeAt: number;
  /** Epoch ms. */
  readonly expiresAt: number;
  readonly madeBy: string;
  /** The person who made it: where four eyes are asked for, it holds for none of this person's own calls. */
  readonly maker?: RootHolder;
  /** The approval that it was made with. */
  readonly approvalId: string;
  readonly why?: string;
  readonly revoked?: true;
}

/** One right to answer one approval once, without a credential: kept by the hash of its secret. */
export interface StoredLink {
  readonly hash: string;
  readonly tenantId: string;
  readonly approvalId: string;
  /** In whose name it answers. */
  readonly approver: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/**
 * What became of approvals. The questions themselves stand in the rows of their calls: an approval waits as long as its
 * call waits and nothing here closes it. Every method is safe to call at the same time from several instances; all of
 * them throw E3812 when the store cannot be reached.
 */
export interface ApprovalStore {
  /** Keeps a yes; a later one of the same approver takes the place of the earlier. Answers with all of them, the oldest first. */
  vote(vote: StoredVote): Promise<readonly StoredVote[]>;
  /** The oldest first. */
  votes(tenantId: string, approvalId: string): Promise<readonly StoredVote[]>;

  /** Closes an approval; false when it is closed already, and nothing changes then. The one decision on who decided. */
  close(closing: ApprovalClosing): Promise<boolean>;
  closing(tenantId: string, approvalId: string): Promise<HeldClosing | undefined>;
  /** Of one tenant, the latest first. */
  closings(tenantId: string, limit: number, offset: number): Promise<readonly HeldClosing[]>;
  /** Of all tenants, those that are not carried out and that nobody is at; the oldest first. */
  unfinished(limit: number, leaseMs: number): Promise<readonly HeldClosing[]>;
  /**
   * Takes the carrying out of a closing: true for one holder at a time, and for nobody once it is finished. A holder keeps
   * it by claiming again within the lease. The lease is measured by the store's own clock, which no instance can move.
   */
  claim(tenantId: string, approvalId: string, holder: string, leaseMs: number): Promise<boolean>;
  /** Gives a claim back, so that it can be taken at once. Nothing happens when another one holds it. */
  release(tenantId: string, approvalId: string, holder: string): Promise<void>;
  /** Gives back whatever a holder has: what an earlier life of an instance was at when it ended. */
  releaseAll(holder: string): Promise<void>;
  /** Notes how far a closing was carried out. Idempotent. */
  mark(tenantId: string, approvalId: string, done: 'noted' | 'finished'): Promise<void>;

  /**
   * Takes the telling of one notice, for the length of a lease: `taken` for one caller at a time, `busy` for the others
   * meanwhile, `told` for everybody once people were told.
   */
  claimNotice(notice: NoticeKey, leaseMs: number): Promise<'taken' | 'busy' | 'told'>;
  /** Notes that people were told. */
  noticeTold(tenantId: string, approvalId: string, level: number): Promise<void>;
  /** The call of an approval that somebody was told of; undefined for any other. */
  invocationOf(tenantId: string, approvalId: string): Promise<string | undefined>;

  addDelegation(delegation: StoredDelegation): Promise<void>;
  /** False when the tenant has none of this id. Idempotent otherwise. */
  endDelegation(tenantId: string, id: string): Promise<boolean>;
  /** Those of a tenant that have not ended at a time, the latest first; 1 000 at most. */
  delegations(tenantId: string, nowMs: number): Promise<readonly StoredDelegation[]>;

  addRule(rule: StoredRule): Promise<void>;
  /** Answers with the revoked rule; undefined when the tenant has none of this id that stands. */
  revokeRule(tenantId: string, id: string): Promise<StoredRule | undefined>;
  /** Rules of every tenant that changed after a revision, revoked ones too; all for 0. No change is ever left out. */
  changedRules(revision: number): Promise<{ readonly revision: number; readonly rules: readonly StoredRule[] }>;

  addLink(link: StoredLink): Promise<void>;
  /** Undefined for what was never made, or was pruned. */
  link(hash: string): Promise<StoredLink | undefined>;
  /** Uses a link up: true once. */
  useLink(hash: string): Promise<boolean>;
  /** Makes a link good again whose answer was refused. */
  freeLink(hash: string): Promise<void>;

  /**
   * Removes what ended before a time: finished closings with their votes and notices, delegations, links, and rules that
   * expired. What is not carried out stays. Answers how many rows went.
   */
  prune(beforeMs: number): Promise<number>;
}
