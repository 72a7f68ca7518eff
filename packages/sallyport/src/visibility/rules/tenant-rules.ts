import type { ToolActivation, ToolAvailability, ToolView } from '../../../api/schemas/visibility.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { RuleKind } from '../visibility-store.port.ts';

/** A view and when it was last put. */
export interface StoredView {
  readonly view: ToolView;
  /** ISO 8601. */
  readonly changed_at: string;
}

/** The rules of one tenant. Only their owner changes them. */
export interface TenantRules {
  /** Grows with each change of availability or views: cached results of an older revision are stale. */
  readonly revision: number;
  /** By tool id. */
  readonly availability: ReadonlyMap<string, ToolAvailability>;
  /** By their key in the store. */
  readonly activations: ReadonlyMap<string, ToolActivation>;
  /** By agent, then by tool and user: see {@link activationFor}. */
  readonly byAgent: ReadonlyMap<string, ReadonlyMap<string, ToolActivation>>;
  /** By name. */
  readonly views: ReadonlyMap<string, StoredView>;
  /** The view that an agent is bound to; `*` for agents without one of their own. */
  readonly viewByAgent: ReadonlyMap<string, StoredView>;
}

/** The rules, writable for their owner. */
export interface ChangingRules extends TenantRules {
  revision: number;
  readonly availability: Map<string, ToolAvailability>;
  readonly activations: Map<string, ToolActivation>;
  readonly byAgent: Map<string, Map<string, ToolActivation>>;
  readonly views: Map<string, StoredView>;
  readonly viewByAgent: Map<string, StoredView>;
}

/** A tenant without rules. */
export function tenantRules(): ChangingRules {
  return {
    revision: 0,
    availability: new Map(),
    activations: new Map(),
    byAgent: new Map(),
    views: new Map(),
    viewByAgent: new Map(),
  };
}

/** The rules of one kind by their key. */
export function rulesOfKind(rules: TenantRules, kind: RuleKind): ReadonlyMap<string, object> {
  if (kind === 'availability') return rules.availability;
  return kind === 'activation' ? rules.activations : rules.views;
}

/**
 * Adds or replaces a rule; call `bindAgents` after a view. Stored rules were validated before, so their shape is known.
 */
export function put(rules: ChangingRules, kind: RuleKind, key: string, rule: object): void {
  if (kind !== 'activation') rules.revision += 1;
  if (kind === 'availability') rules.availability.set(key, rule as ToolAvailability);
  else if (kind === 'view') rules.views.set(key, rule as StoredView);
  else {
    const activation = rule as ToolActivation;
    rules.activations.set(key, activation);
    const ofAgent = rules.byAgent.get(activation.agent_did);
    const name = nameOf(activation.tool_id, activation.user_did);
    if (ofAgent === undefined) rules.byAgent.set(activation.agent_did, new Map([[name, activation]]));
    else ofAgent.set(name, activation);
  }
}

/** Removes a rule; call `bindAgents` after a view. */
export function remove(rules: ChangingRules, kind: RuleKind, key: string): void {
  if (kind !== 'activation') rules.revision += 1;
  if (kind === 'availability') rules.availability.delete(key);
  else if (kind === 'view') rules.views.delete(key);
  else {
    const activation = rules.activations.get(key);
    if (activation === undefined) return;
    rules.activations.delete(key);
    const ofAgent = rules.byAgent.get(activation.agent_did);
    ofAgent?.delete(nameOf(activation.tool_id, activation.user_did));
    if (ofAgent?.size === 0) rules.byAgent.delete(activation.agent_did);
  }
}

/** Tool ids contain no line break. */
const nameOf = (toolId: string, user: string | undefined): string =>
  user === undefined ? toolId : `${toolId}\n${user}`;

/** The activation for a caller: the one for its user, before the one for all users of its agent. */
export function activationFor(
  { byAgent }: TenantRules,
  { agentDid, userDid }: Omit<CallOwner, 'tenantId'>,
  toolId: string,
): ToolActivation | undefined {
  const ofAgent = byAgent.get(agentDid);
  const own = userDid === undefined ? undefined : ofAgent?.get(nameOf(toolId, userDid));
  return own ?? ofAgent?.get(toolId);
}

/** When two views name one agent (put at the same time by two instances), the first by name wins, everywhere. */
export function bindAgents({ views, viewByAgent }: ChangingRules): void {
  viewByAgent.clear();
  const byName = [...views.values()].sort((a, b) => (a.view.name < b.view.name ? -1 : 1));
  for (const stored of byName) {
    for (const agent of stored.view.agents) if (!viewByAgent.has(agent)) viewByAgent.set(agent, stored);
  }
}

/** An agent's view: one that names it, before one for every agent. */
export function viewOf(rules: TenantRules, agentDid: string): StoredView | undefined {
  return rules.viewByAgent.get(agentDid) ?? rules.viewByAgent.get('*');
}
