import { sha256 } from '@sallyport/std/sha256';
import { type Kysely, type Selectable, sql } from 'kysely';
import type {
  ApprovalClosing,
  ApprovalStore,
  HeldClosing,
  StoredVote,
} from '../../../orchestration/approval-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { approvalRights } from './approval-rights.ts';
import { pruneApprovals } from './prune-approvals.ts';

const VOTES = 'sallyport.approval_votes';
const CLOSINGS = 'sallyport.approval_closings';
const NOTICES = 'sallyport.approval_notices';

/** Approvals in PostgreSQL. Leases are measured by the server's clock. */
export function postgresApprovalStore(database: Kysely<Tables>): ApprovalStore {
  return {
    ...votes(database),
    ...closings(database),
    ...carryingOut(database),
    ...notices(database),
    ...approvalRights(database),
    prune: (beforeMs) => inDatabase('remove old approvals', () => pruneApprovals(database, new Date(beforeMs))),
  };
}

function votes(database: Kysely<Tables>): Pick<ApprovalStore, 'vote' | 'votes'> {
  const read = async (tenantId: string, approvalId: string): Promise<readonly StoredVote[]> => {
    const rows = await database
      .selectFrom(VOTES)
      .select('vote')
      .where('tenant_id', '=', keyText(tenantId))
      .where('approval_id', '=', keyText(approvalId))
      .orderBy('voted_at')
      .execute();
    return rows.map(({ vote }) => vote);
  };
  return {
    vote: (vote) =>
      inDatabase('keep the vote', async () => {
        const said = { voted_at: new Date(vote.votedAt), vote: JSON.stringify(vote) };
        const key = {
          tenant_id: keyText(vote.tenantId),
          approval_id: keyText(vote.approvalId),
          approver_hash: sha256(keyText(vote.approver)),
        };
        await database
          .insertInto(VOTES)
          .values({ ...key, ...said })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'approval_id', 'approver_hash']).doUpdateSet(said))
          .execute();
        // A separate statement, so that of two simultaneous voters at least one sees both votes.
        return read(vote.tenantId, vote.approvalId);
      }),
    votes: (tenantId, approvalId) => inDatabase('read who approved', () => read(tenantId, approvalId)),
  };
}

function closings(database: Kysely<Tables>): Pick<ApprovalStore, 'close' | 'closing' | 'closings' | 'unfinished'> {
  const columns = ['closing', 'noted', 'finished'] as const;
  return {
    close: (closing) =>
      inDatabase('close the approval', async () => {
        const row = {
          tenant_id: keyText(closing.tenantId),
          approval_id: keyText(closing.approvalId),
          closed_at: new Date(closing.closedAt),
          closing: JSON.stringify(closing satisfies ApprovalClosing),
        };
        const { numInsertedOrUpdatedRows } = await database
          .insertInto(CLOSINGS)
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirstOrThrow();
        return numInsertedOrUpdatedRows === 1n;
      }),
    closing: (tenantId, approvalId) =>
      inDatabase('read what became of the approval', async () => {
        const row = await database
          .selectFrom(CLOSINGS)
          .select(columns)
          .where('tenant_id', '=', keyText(tenantId))
          .where('approval_id', '=', keyText(approvalId))
          .executeTakeFirst();
        return row === undefined ? undefined : heldOf(row);
      }),
    closings: (tenantId, limit, offset) =>
      inDatabase('list the approvals', async () => {
        const own = database.selectFrom(CLOSINGS).select(columns).where('tenant_id', '=', keyText(tenantId));
        const page = own.orderBy('closed_at', 'desc').orderBy('approval_id').limit(limit).offset(offset);
        return (await page.execute()).map(heldOf);
      }),
    unfinished: (limit, leaseMs) =>
      inDatabase('list what is left of approvals', async () => {
        const open = database
          .selectFrom(CLOSINGS)
          .select(columns)
          // Worded like the partial index, so that it is used.
          .where((is) => is.not(is.ref('finished')))
          .where(isFree(leaseMs));
        return (await open.orderBy('closed_at').limit(limit).execute()).map(heldOf);
      }),
  };
}

const isFree = (leaseMs: number) =>
  sql<boolean>`(holder is null or claimed_at <= now() - make_interval(secs => ${leaseMs}::double precision / 1000))`;

type ClosingRow = Pick<Selectable<Tables[typeof CLOSINGS]>, 'closing' | 'noted' | 'finished'>;

const heldOf = ({ closing, noted, finished }: ClosingRow): HeldClosing => ({ ...closing, noted, finished });

function carryingOut(database: Kysely<Tables>): Pick<ApprovalStore, 'claim' | 'release' | 'releaseAll' | 'mark'> {
  const one = (tenantId: string, approvalId: string) =>
    database
      .updateTable(CLOSINGS)
      .where('tenant_id', '=', keyText(tenantId))
      .where('approval_id', '=', keyText(approvalId));
  return {
    claim: (tenantId, approvalId, holder, leaseMs) =>
      inDatabase('take the approval', async () => {
        const { numUpdatedRows } = await one(tenantId, approvalId)
          .set({ holder: keyText(holder), claimed_at: sql`now()` })
          .where('finished', '=', false)
          .where((is) => is.or([is('holder', '=', keyText(holder)), isFree(leaseMs)]))
          .executeTakeFirstOrThrow();
        return numUpdatedRows === 1n;
      }),
    release: (tenantId, approvalId, holder) =>
      inDatabase('give the approval back', async () => {
        await one(tenantId, approvalId).set({ holder: null }).where('holder', '=', keyText(holder)).execute();
      }),
    releaseAll: (holder) =>
      inDatabase('give the approvals back', async () => {
        await database
          .updateTable(CLOSINGS)
          .set({ holder: null })
          // Worded like the partial index, so that it is used.
          .where((is) => is.not(is.ref('finished')))
          .where('holder', '=', keyText(holder))
          .execute();
      }),
    mark: (tenantId, approvalId, done) =>
      inDatabase('note the end of the approval', async () => {
        await one(tenantId, approvalId)
          .set({ [done]: true })
          .execute();
      }),
  };
}

function notices(database: Kysely<Tables>): Pick<ApprovalStore, 'claimNotice' | 'noticeDelivered' | 'invocationOf'> {
  return {
    claimNotice: ({ tenantId, approvalId, invocationId, level }, leaseMs) =>
      inDatabase('take the notice', async () => {
        const { rows } = await sql`
insert into sallyport.approval_notices as held (tenant_id, approval_id, level, invocation_id, claimed_at)
values (${keyText(tenantId)}, ${keyText(approvalId)}, ${level}, ${keyText(invocationId)}, now())
on conflict (tenant_id, approval_id, level) do update set claimed_at = now()
where not held.notified and held.claimed_at <= now() - make_interval(secs => ${leaseMs}::double precision / 1000)
returning level`.execute(database);
        if (rows.length === 1) return 'taken';
        const standing = database
          .selectFrom(NOTICES)
          .select('notified')
          .where('tenant_id', '=', keyText(tenantId))
          .where('approval_id', '=', keyText(approvalId))
          .where('level', '=', level);
        return (await standing.executeTakeFirst())?.notified === true ? 'notified' : 'busy';
      }),
    noticeDelivered: (tenantId, approvalId, level) =>
      inDatabase('note the notice', async () => {
        await database
          .updateTable(NOTICES)
          .set({ notified: true })
          .where('tenant_id', '=', keyText(tenantId))
          .where('approval_id', '=', keyText(approvalId))
          .where('level', '=', level)
          .execute();
      }),
    invocationOf: (tenantId, approvalId) =>
      inDatabase('find the call of the approval', async () => {
        const row = await database
          .selectFrom(NOTICES)
          .select('invocation_id')
          .where('tenant_id', '=', keyText(tenantId))
          .where('approval_id', '=', keyText(approvalId))
          .executeTakeFirst();
        // Not decoded: an invocation id contains nothing that a column cannot hold.
        return row?.invocation_id;
      }),
  };
}
