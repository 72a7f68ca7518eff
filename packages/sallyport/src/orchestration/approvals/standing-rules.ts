import type { Clock } from '@sallyport/std/clock';
import { messageOf } from '@sallyport/std/error/message-of';
import { isOwner } from '../../domain/invocation/call-owner.ts';
import type { ApprovalQuestion } from '../../pipeline/approval-questions.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ApprovalStore, StoredRule } from '../approval-store.port.ts';

/** Rules of one tenant in force at once. */
export const RULES_MAX = 10_000;

/** The standing rules of all tenants, in memory, in step with the store. */
export interface StandingRules extends AsyncDisposable {
  /** Reads all rules, and polls for changes of other instances until disposed. */
  start(): Promise<void>;
  /**
   * The rule that approves a call; costs a few look-ups in memory.
   * @param mayCount called for each rule that fits the call; false skips the rule
   */
  match(
    question: Pick<ApprovalQuestion, 'reason' | 'binding'>,
    mayCount: (rule: StoredRule) => boolean,
  ): StoredRule | undefined;
  /** Adds a rule that this instance wrote to the store. */
  take(rule: StoredRule): void;
  /** A tenant's rules in force, latest first. */
  list(tenantId: string): readonly StoredRule[];
  /** Why the store cannot be polled at the moment; undefined when it can. */
  problem(): string | undefined;
}

/** Dependencies of the standing rules. */
export interface StandingRuleParts {
  readonly store: Pick<ApprovalStore, 'changedRules'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly followMs: number;
}

/** Holds no rules until `start`. */
export function createStandingRules({ store, clock, log, followMs }: StandingRuleParts): StandingRules {
  /** Rules by tenant and tool, then by id. */
  const byTool = new Map<string, Map<string, StoredRule>>();
  const byTenant = new Map<string, Map<string, StoredRule>>();
  let revision = 0;
  let problem: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let closed = false;

  const take = (rule: StoredRule): void => {
    const over = rule.revoked === true || rule.expiresAt <= clock.now();
    for (const [map, key] of [
      [byTool, toolKey(rule.tenantId, rule.toolId)],
      [byTenant, rule.tenantId],
    ] as const) {
      const known = map.get(key);
      if (!over) map.set(key, (known ?? new Map<string, StoredRule>()).set(rule.id, rule));
      else if (known?.delete(rule.id) === true && known.size === 0) map.delete(key);
    }
  };
  const look = async (): Promise<void> => {
    const changed = await store.changedRules(revision);
    changed.rules.forEach(take);
    revision = changed.revision;
    problem = undefined;
  };
  const turn = async (): Promise<void> => {
    looking = look().catch((cause: unknown) => {
      const reason = messageOf(cause);
      // Logged once for each outage.
      if (problem === undefined && !closed) log.error('approval-rules-not-followed', { reason });
      problem = reason;
    });
    await looking;
    plan();
  };
  const plan = (): void => {
    if (!closed) timer = setTimeout(() => void turn(), followMs).unref();
  };
  return {
    async start() {
      await look();
      if (timer === undefined) plan();
    },
    match({ reason, binding }, mayCount) {
      const rules = byTool.get(toolKey(binding.tenantId, binding.toolId));
      if (rules === undefined) return undefined;
      const now = clock.now();
      for (const rule of rules.values()) {
        const fits = rule.expiresAt > now && rule.reason === reason && says(rule, binding) && answers(rule, binding);
        if (fits && mayCount(rule)) return rule;
      }
      return undefined;
    },
    take,
    list(tenantId) {
      const now = clock.now();
      const standing = [...(byTenant.get(tenantId)?.values() ?? [])].filter(({ expiresAt }) => expiresAt > now);
      return standing.sort((one, other) => other.madeAt - one.madeAt || (one.id < other.id ? -1 : 1));
    },
    problem: () => problem,
    async [Symbol.asyncDispose]() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/**
 * True when a rule approves a call. It covers only calls of its agent for its user, of exactly the definition that was
 * approved.
 */
function says(rule: StoredRule, binding: ApprovalQuestion['binding']): boolean {
  return (
    rule.contentHash === binding.contentHash &&
    isOfOwner(rule, binding) &&
    (rule.inputHash === undefined || rule.inputHash === binding.inputHash) &&
    (rule.policyVersion === undefined || rule.policyVersion === binding.policyVersion)
  );
}

/** A rule without an agent is for all. */
const isOfOwner = ({ tenantId, agentDid, userDid }: StoredRule, binding: ApprovalQuestion['binding']): boolean =>
  agentDid === undefined || isOwner({ tenantId, agentDid, userDid }, binding);

/** An executor's question is about one call, not about the tool: a rule made for other arguments does not answer it. */
function answers({ reason, inputHash }: StoredRule, { question }: ApprovalQuestion['binding']): boolean {
  return question === undefined || (reason === 'executor' && inputHash !== undefined);
}

const toolKey = (tenantId: string, toolId: string): string => `${tenantId.length} ${tenantId}${toolId}`;
