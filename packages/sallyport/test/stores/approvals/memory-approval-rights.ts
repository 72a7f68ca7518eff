import type { EventsOf } from '../../../src/domain/event/events-of.ts';
import type {
  ApprovalStore,
  StoredDelegation,
  StoredLink,
  StoredRule,
} from '../../../src/orchestration/approval-store.port.ts';

/** The largest number of delegations in one answer. */
const DELEGATIONS_MAX = 1000;

type Rights = Pick<
  ApprovalStore,
  | 'addDelegation'
  | 'endDelegation'
  | 'delegations'
  | 'addRule'
  | 'revokeRule'
  | 'changedRules'
  | 'addLink'
  | 'link'
  | 'useLink'
  | 'freeLink'
>;

/** Delegations, standing rules and links in memory. */
export function memoryApprovalRights(): Rights & { prune(beforeMs: number): number } {
  const delegations = memoryDelegations();
  const rules = memoryRules();
  const links = memoryLinks();
  return {
    ...delegations,
    ...rules,
    ...links,
    prune: (beforeMs) => delegations.prune(beforeMs) + rules.prune(beforeMs) + links.prune(beforeMs),
  };
}

function memoryDelegations() {
  const held = new Map<string, StoredDelegation>();
  const ended = new Set<string>();
  return {
    async addDelegation(delegation: StoredDelegation, events?: EventsOf<StoredDelegation>): Promise<void> {
      events?.(delegation);
      held.set(delegation.id, { ...delegation });
    },
    async endDelegation(tenantId: string, id: string, events?: EventsOf<StoredDelegation>): Promise<boolean> {
      const found = held.get(id);
      if (found?.tenantId !== tenantId) return false;
      if (!ended.has(id)) events?.(found);
      ended.add(id);
      return true;
    },
    async delegations(tenantId: string, nowMs: number): Promise<readonly StoredDelegation[]> {
      return [...held.values()]
        .filter((each) => each.tenantId === tenantId && each.until > nowMs && !ended.has(each.id))
        .sort((one, other) => other.madeAt - one.madeAt || (one.id < other.id ? -1 : 1))
        .slice(0, DELEGATIONS_MAX);
    },
    prune(beforeMs: number): number {
      let removed = 0;
      for (const [id, { until }] of held) {
        if (until >= beforeMs) continue;
        held.delete(id);
        ended.delete(id);
        removed += 1;
      }
      return removed;
    },
  };
}

function memoryRules() {
  const held = new Map<string, { readonly rule: StoredRule; readonly revision: number }>();
  let revision = 0;
  const keep = (rule: StoredRule): void => {
    revision += 1;
    held.set(rule.id, { rule, revision });
  };
  return {
    async addRule(rule: StoredRule, events?: EventsOf<StoredRule>): Promise<void> {
      events?.(rule);
      keep(rule);
    },
    async revokeRule(tenantId: string, id: string, events?: EventsOf<StoredRule>): Promise<StoredRule | undefined> {
      const found = held.get(id)?.rule;
      if (found === undefined || found.tenantId !== tenantId || found.revoked === true) return undefined;
      const revoked = { ...found, revoked: true as const };
      events?.(revoked);
      keep(revoked);
      return revoked;
    },
    async changedRules(since: number) {
      const changed = [...held.values()].filter((each) => each.revision > since);
      return { revision, rules: changed.map(({ rule }) => rule) };
    },
    prune(beforeMs: number): number {
      let removed = 0;
      for (const [id, { rule }] of held) if (rule.expiresAt < beforeMs && held.delete(id)) removed += 1;
      return removed;
    },
  };
}

function memoryLinks() {
  const held = new Map<string, StoredLink>();
  const used = new Set<string>();
  return {
    async addLink(link: StoredLink): Promise<void> {
      held.set(link.hash, link);
    },
    async link(hash: string): Promise<StoredLink | undefined> {
      return held.get(hash);
    },
    async useLink(hash: string): Promise<boolean> {
      if (!held.has(hash) || used.has(hash)) return false;
      used.add(hash);
      return true;
    },
    async freeLink(hash: string): Promise<void> {
      used.delete(hash);
    },
    prune(beforeMs: number): number {
      let removed = 0;
      for (const [hash, { expiresAt }] of held) {
        if (expiresAt >= beforeMs) continue;
        held.delete(hash);
        used.delete(hash);
        removed += 1;
      }
      return removed;
    },
  };
}
