import { type Clock, systemClock } from '@sallyport/std/clock';
import type {
  ApprovalClosing,
  ApprovalStore,
  HeldClosing,
  NoticeKey,
  StoredVote,
} from '../../../src/orchestration/approval-store.port.ts';
import { memoryApprovalRights } from './memory-approval-rights.ts';

interface Closed {
  /** The closing as JSON text, so that callers never share objects with the store. */
  readonly text: string;
  readonly tenantId: string;
  readonly closedAt: number;
  readonly order: number;
  noted: boolean;
  finished: boolean;
  holder: string | undefined;
  /** Time of the claim in monotonic ms. */
  claimedAt: number;
}

interface Notice extends NoticeKey {
  notified: boolean;
  /** Time of the claim in monotonic ms. */
  claimedAt: number;
  /** Time when the notice was first claimed, in epoch ms. */
  readonly since: number;
}

/** Approvals in memory: for one instance, until it ends. */
export function memoryApprovalStore({ clock = systemClock }: { readonly clock?: Clock } = {}): ApprovalStore {
  const { forget, ...votes } = memoryVotes();
  const closings = memoryClosings(clock, { ...votes, forget });
  const notices = memoryNotices(clock);
  const rights = memoryApprovalRights();
  return {
    ...votes,
    ...closings,
    ...notices,
    ...rights,
    prune: async (beforeMs) => closings.prune(beforeMs) + notices.prune(beforeMs) + rights.prune(beforeMs),
  };
}

interface Votes extends Pick<ApprovalStore, 'vote' | 'votes'> {
  /** Removes the votes of an approval; returns how many there were. */
  forget(key: string): number;
}

function memoryVotes(): Votes {
  /** Votes by approval, then by approver. */
  const votes = new Map<string, Map<string, string>>();
  const votesOf = (tenantId: string, approvalId: string): StoredVote[] =>
    [...(votes.get(keyOf(tenantId, approvalId))?.values() ?? [])]
      .map((text) => JSON.parse(text) as StoredVote)
      .sort((one, other) => one.votedAt - other.votedAt);
  return {
    async vote(vote) {
      const key = keyOf(vote.tenantId, vote.approvalId);
      const known = votes.get(key) ?? new Map<string, string>();
      votes.set(key, known.set(vote.approver, JSON.stringify(vote)));
      return votesOf(vote.tenantId, vote.approvalId);
    },
    votes: async (tenantId, approvalId) => votesOf(tenantId, approvalId),
    forget(key) {
      const count = votes.get(key)?.size ?? 0;
      votes.delete(key);
      return count;
    },
  };
}

type Closings = Pick<
  ApprovalStore,
  'close' | 'closing' | 'closings' | 'unfinished' | 'claim' | 'release' | 'releaseAll' | 'mark'
>;

function memoryClosings(clock: Clock, votes: Votes): Closings & { prune(beforeMs: number): number } {
  const closed = new Map<string, Closed>();
  let order = 0;
  const read = ({ text, noted, finished }: Closed): HeldClosing => ({
    ...(JSON.parse(text) as ApprovalClosing),
    noted,
    finished,
  });
  const isFree = ({ holder, claimedAt }: Closed, leaseMs: number): boolean =>
    holder === undefined || claimedAt + leaseMs <= clock.monotonic();
  return {
    async close(closing) {
      const key = keyOf(closing.tenantId, closing.approvalId);
      if (closed.has(key)) return false;
      order += 1;
      const { tenantId, closedAt } = closing;
      const fresh = { noted: false, finished: false, holder: undefined, claimedAt: 0 };
      closed.set(key, { text: JSON.stringify(closing), tenantId, closedAt, order, ...fresh });
      return true;
    },
    async closing(tenantId, approvalId) {
      const found = closed.get(keyOf(tenantId, approvalId));
      return found === undefined ? undefined : read(found);
    },
    async closings(tenantId, limit, offset) {
      const own = [...closed.values()].filter((each) => each.tenantId === tenantId);
      own.sort((one, other) => other.closedAt - one.closedAt || other.order - one.order);
      return own.slice(offset, offset + limit).map(read);
    },
    async unfinished(limit, leaseMs) {
      const open = [...closed.values()].filter((each) => !each.finished && isFree(each, leaseMs));
      open.sort((one, other) => one.closedAt - other.closedAt);
      return open.slice(0, limit).map(read);
    },
    async claim(tenantId, approvalId, holder, leaseMs) {
      const found = closed.get(keyOf(tenantId, approvalId));
      if (found === undefined || found.finished) return false;
      if (!isFree(found, leaseMs) && found.holder !== holder) return false;
      found.holder = holder;
      found.claimedAt = clock.monotonic();
      return true;
    },
    async release(tenantId, approvalId, holder) {
      const found = closed.get(keyOf(tenantId, approvalId));
      if (found?.holder === holder) found.holder = undefined;
    },
    async releaseAll(holder) {
      for (const found of closed.values()) if (found.holder === holder) found.holder = undefined;
    },
    async mark(tenantId, approvalId, done) {
      const found = closed.get(keyOf(tenantId, approvalId));
      if (found !== undefined) found[done] = true;
    },
    prune(beforeMs) {
      let removed = 0;
      for (const [key, { closedAt, finished }] of closed) {
        if (!finished || closedAt >= beforeMs) continue;
        removed += 1 + votes.forget(key);
        closed.delete(key);
      }
      return removed;
    },
  };
}

type Notices = Pick<ApprovalStore, 'claimNotice' | 'noticeDelivered' | 'invocationOf'>;

function memoryNotices(clock: Clock): Notices & { prune(beforeMs: number): number } {
  const notices = new Map<string, Notice>();
  const noticeKey = (tenantId: string, approvalId: string, level: number) => keyOf(tenantId, approvalId, `${level}`);
  return {
    async claimNotice(notice, leaseMs) {
      const key = noticeKey(notice.tenantId, notice.approvalId, notice.level);
      const known = notices.get(key);
      if (known === undefined) {
        notices.set(key, { ...notice, notified: false, claimedAt: clock.monotonic(), since: clock.now() });
        return 'taken';
      }
      if (known.notified) return 'notified';
      if (known.claimedAt + leaseMs > clock.monotonic()) return 'busy';
      known.claimedAt = clock.monotonic();
      return 'taken';
    },
    async noticeDelivered(tenantId, approvalId, level) {
      const known = notices.get(noticeKey(tenantId, approvalId, level));
      if (known !== undefined) known.notified = true;
    },
    async invocationOf(tenantId, approvalId) {
      return notices.get(noticeKey(tenantId, approvalId, 0))?.invocationId;
    },
    prune(beforeMs) {
      let removed = 0;
      for (const [key, { since }] of notices) if (since < beforeMs && notices.delete(key)) removed += 1;
      return removed;
    },
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
