import { type Kysely, sql } from 'kysely';
import type { ApprovalStore } from '../../../orchestration/approval-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';

const DELEGATIONS = 'sallyport.approval_delegations';
const RULES = 'sallyport.approval_rules';
const REVISION = 'sallyport.approval_rules_revision';
const LINKS = 'sallyport.approval_links';
/** Most delegations that one query returns. */
const DELEGATIONS_MAX = 1000;

type Delegations = Pick<ApprovalStore, 'addDelegation' | 'endDelegation' | 'delegations'>;
type Rules = Pick<ApprovalStore, 'addRule' | 'revokeRule' | 'changedRules'>;
type Links = Pick<ApprovalStore, 'addLink' | 'link' | 'useLink' | 'freeLink'>;

/** Delegations, standing rules and links in PostgreSQL. */
export const approvalRights = (database: Kysely<Tables>): Delegations & Rules & Links => ({
  ...delegations(database),
  ...rules(database),
  ...links(database),
});

function delegations(database: Kysely<Tables>): Delegations {
  return {
    addDelegation: (delegation, events) =>
      inDatabase('keep the delegation', () =>
        database.transaction().execute(async (transaction) => {
          const row = {
            tenant_id: keyText(delegation.tenantId),
            delegation_id: delegation.id,
            made_at: new Date(delegation.madeAt),
            until: new Date(delegation.until),
            delegation: JSON.stringify(delegation),
          };
          await transaction.insertInto(DELEGATIONS).values(row).execute();
          await keepEvents(transaction, events?.(delegation));
        }),
      ),
    endDelegation: (tenantId, id, events) =>
      inDatabase('end the delegation', () =>
        database.transaction().execute(async (transaction) => {
          const found = await transaction
            .selectFrom(DELEGATIONS)
            .select(['delegation', 'ended'])
            .where('tenant_id', '=', keyText(tenantId))
            .where('delegation_id', '=', keyText(id))
            .forUpdate()
            .executeTakeFirst();
          if (found === undefined || found.ended) return found !== undefined;
          await transaction
            .updateTable(DELEGATIONS)
            .set({ ended: true })
            .where('tenant_id', '=', keyText(tenantId))
            .where('delegation_id', '=', keyText(id))
            .execute();
          await keepEvents(transaction, events?.(found.delegation));
          return true;
        }),
      ),
    delegations: (tenantId, nowMs) =>
      inDatabase('list the delegations', async () => {
        const rows = await database
          .selectFrom(DELEGATIONS)
          .select('delegation')
          .where('tenant_id', '=', keyText(tenantId))
          .where('until', '>', new Date(nowMs))
          .where('ended', '=', false)
          .orderBy('made_at', 'desc')
          .orderBy('delegation_id')
          .limit(DELEGATIONS_MAX)
          .execute();
        return rows.map(({ delegation }) => delegation);
      }),
  };
}

/** Increments the revision. The row lock, held until the transaction ends, orders the changes of all instances. */
async function nextRevision(transaction: Kysely<Tables>): Promise<number> {
  const changed = transaction.updateTable(REVISION).set({ revision: sql`revision + 1` });
  return Number((await changed.returning('revision').executeTakeFirstOrThrow()).revision);
}

function rules(database: Kysely<Tables>): Rules {
  return {
    addRule: (rule, events) =>
      inDatabase('keep the rule', () =>
        database.transaction().execute(async (transaction) => {
          const row = {
            tenant_id: keyText(rule.tenantId),
            rule_id: rule.id,
            expires_at: new Date(rule.expiresAt),
            revision: await nextRevision(transaction),
            rule: JSON.stringify(rule),
          };
          await transaction.insertInto(RULES).values(row).execute();
          await keepEvents(transaction, events?.(rule));
        }),
      ),
    revokeRule: (tenantId, id, events) =>
      inDatabase('revoke the rule', () =>
        database.transaction().execute(async (transaction) => {
          const revision = await nextRevision(transaction);
          const row = await transaction
            .updateTable(RULES)
            .set({ revoked: true, revision })
            .where('tenant_id', '=', keyText(tenantId))
            .where('rule_id', '=', keyText(id))
            .where('revoked', '=', false)
            .returning('rule')
            .executeTakeFirst();
          if (row === undefined) return undefined;
          const revoked = { ...row.rule, revoked: true as const };
          await keepEvents(transaction, events?.(revoked));
          return revoked;
        }),
      ),
    changedRules: (since) =>
      inDatabase('ask for rules', async () => {
        // Reads the revision first: rows that are written meanwhile may be included already, and are then read once
        // more.
        const latest = Number(
          (await database.selectFrom(REVISION).select('revision').executeTakeFirstOrThrow()).revision,
        );
        if (latest === since) return { revision: latest, rules: [] };
        const changed = database.selectFrom(RULES).select(['rule', 'revoked']).where('revision', '>', String(since));
        const found = await changed.execute();
        return {
          revision: latest,
          rules: found.map(({ rule, revoked }) => (revoked ? { ...rule, revoked: true as const } : rule)),
        };
      }),
  };
}

function links(database: Kysely<Tables>): Links {
  const setUsed = async (hash: string, used: boolean): Promise<boolean> => {
    const changed = database.updateTable(LINKS).set({ used }).where('link_hash', '=', hash).where('used', '=', !used);
    return (await changed.executeTakeFirstOrThrow()).numUpdatedRows === 1n;
  };
  return {
    addLink: (link) =>
      inDatabase('keep the link', async () => {
        const row = { link_hash: link.hash, expires_at: new Date(link.expiresAt), link: JSON.stringify(link) };
        await database.insertInto(LINKS).values(row).execute();
      }),
    link: (hash) =>
      inDatabase('read the link', async () => {
        const row = await database.selectFrom(LINKS).select('link').where('link_hash', '=', hash).executeTakeFirst();
        return row?.link;
      }),
    useLink: (hash) => inDatabase('use the link', () => setUsed(hash, true)),
    freeLink: (hash) => inDatabase('free the link', async () => void (await setUsed(hash, false))),
  };
}
