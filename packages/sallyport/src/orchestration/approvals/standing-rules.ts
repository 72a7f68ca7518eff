import type { Clock } from '@sallyport/std/clock';
import { isOwner } from '../../domain/invocation/call-owner.ts';
import type { ApprovalQuestion } from '../../pipeline/approval-questions.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ApprovalStore, StoredRule } from '../approval-store.port.ts';

/** Rules of one tenant that stand at once. */
export const RULES_MAX = 10_000;

/** The standing rules of all tenants, in memory, in step with the store. */
export interface StandingRules extends AsyncDisposable {
  /** Reads everything, and follows what other instances change, until it is disposed. */
  start(): Promise<void>;
  /**
   * The rule that says yes to a call; a few look-ups in memory.
   * @param mayCount asked of each rule that fits the call; a rule that may not count is passed over
   */
  match(
    question: Pick<ApprovalQuestion, 'reason' | 'binding'>,
    mayCount: (rule: StoredRule) => boolean,
  ): StoredRule | undefined;
  /** Takes over what this instance wrote to the store. */
  take(rule: StoredRule): void;
  /** Those of a tenant that stand, the latest first. */
  list(tenantId: string): readonly StoredRule[];
  /** Why the store cannot be followed at the moment; undefined when it can. */
  problem(): string | undefined;
}

/** What the rules stand on. */
export interface StandingRuleParts {
  readonly store: Pick<ApprovalStore, 'changedRules'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly followMs: number;
}

/** Knows nothing until `start`. */
export function createStandingRules({ store, clock, log, followMs }: StandingRuleParts): StandingRules {
  /** By tenant and tool, then by id. */
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
      const reason = cause instanceof Error ? cause.message : String(cause);
      // Said once for each outage.
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

/** A rule says yes to calls of its agent for its user alone, of the very definition that was looked at. */
function says(rule: StoredRule, binding: ApprovalQuestion['binding']): boolean {
  return (
    rule.contentHash === binding.contentHash &&
    isOfOwner(rule, binding) &&
    (rule.inputHash === undefined || rule.inputHash === binding.inputHash) &&
    (rule.policyVersion === undefined || rule.policyVersion === binding.policyVersion)
  );
}

/** Without an agent a rule is for everybody. */
const isOfOwner = ({ tenantId, agentDid, userDid }: StoredRule, binding: ApprovalQuestion['binding']): boolean =>
  agentDid === undefined || isOwner({ tenantId, agentDid, userDid }, binding);

/** What an executor asks about one call is no matter of the tool: a rule that was made for other arguments is silent. */
function answers({ reason, inputHash }: StoredRule, { question }: ApprovalQuestion['binding']): boolean {
  return question === undefined || (reason === 'executor' && inputHash !== undefined);
}

const toolKey = (tenantId: string, toolId: string): string => `${tenantId.length} ${tenantId}${toolId}`;
