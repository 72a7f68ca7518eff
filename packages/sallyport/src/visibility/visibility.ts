import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolActivation, ToolAvailability, ToolView } from '../../api/schemas/visibility.ts';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { Log } from '../telemetry/log.ts';
import { type Listeners, listeners } from './rules/listeners.ts';
import {
  activationFor,
  bindAgents,
  type ChangingRules,
  put,
  remove,
  rulesOfKind,
  type StoredView,
  type TenantRules,
  tenantRules,
  viewOf,
} from './rules/tenant-rules.ts';
import type { RuleKind, StoredRule, VisibilityStore } from './visibility-store.port.ts';

export { activationFor, type StoredView, type TenantRules, viewOf };

/** How often an instance polls for rule changes of others, in ms. */
const REFRESH_MS = 2_000;
/** Most views of one tenant; more are refused with E3810. */
export const VIEWS_MAX = 1_000;
/** Most activations of one tenant, and most availability rules; more are refused with E3810. */
export const RULES_MAX = 100_000;

/** Dependencies of the visibility component. */
export interface VisibilityParts {
  readonly store: VisibilityStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 2 000. */
  readonly refreshMs?: number;
}

/** The subject of an activation. */
export type ActivationOf = Pick<ToolActivation, 'agent_did' | 'tool_id' | 'user_did'>;

/** Each tenant's visibility rules (VIS-01, REG-13). Changes are stored durably before they apply in memory. */
export interface Visibility {
  /** Reads everything from the store, and polls it every few seconds for changes of other instances, until `close`. */
  start(): Promise<void>;
  /** The live rules of a tenant; undefined without rules, so that a call then costs one lookup. */
  rulesOf(tenantId: string): TenantRules | undefined;
  /** @throws ToolLayerError E3810 beyond {@link RULES_MAX} */
  setAvailability(
    tenantId: string,
    said: Omit<ToolAvailability, 'changed_at'>,
    events?: EventsOf<void>,
  ): Promise<ToolAvailability>;
  /** @throws ToolLayerError E3810 beyond {@link RULES_MAX} */
  setActivation(
    tenantId: string,
    activation: Omit<ToolActivation, 'changed_at'>,
    events?: EventsOf<void>,
  ): Promise<ToolActivation>;
  /** False when there was none. */
  removeActivation(tenantId: string, of: ActivationOf, events?: EventsOf<void>): Promise<boolean>;
  /**
   * Stores a view that was validated before: see view-faults.ts. @throws ToolLayerError E3810 beyond {@link VIEWS_MAX}
   */
  putView(tenantId: string, view: ToolView, events?: EventsOf<void>): Promise<StoredView>;
  /** False when there was none. */
  removeView(tenantId: string, name: string, events?: EventsOf<void>): Promise<boolean>;
  /**
   * Notifies of each change after it took effect, those of other instances included. A listener that throws is logged.
   */
  onChanged(listener: () => void): Disposable;
  /** Stops polling. Idempotent. */
  close(): Promise<void>;
}

interface State extends VisibilityParts {
  readonly listeners: Listeners;
  /** Replaced as a whole by each load. */
  tenants: Map<string, ChangingRules>;
  revision: number;
  /** Changes and loads run in sequence, so that a load never undoes a change that it had not read. */
  queue: Promise<unknown>;
  timer: NodeJS.Timeout | undefined;
  refreshing: boolean;
}

/** Makes the component, without rules until `start`. */
export function createVisibility(parts: VisibilityParts): Visibility {
  const state: State = {
    ...parts,
    listeners: listeners(parts.log),
    tenants: new Map(),
    revision: -1,
    queue: Promise.resolve(),
    timer: undefined,
    refreshing: false,
  };
  const now = (): string => new Date(parts.clock.now()).toISOString();
  return {
    start: async () => {
      await inTurn(state, () => load(state));
      state.timer ??= setInterval(() => refresh(state), parts.refreshMs ?? REFRESH_MS).unref();
    },
    rulesOf: (tenantId) => state.tenants.get(tenantId),
    setAvailability: (tenantId, said, events) =>
      write(state, { tenantId, kind: 'availability', key: said.tool_id, rule: { ...said, changed_at: now() } }, events),
    setActivation(tenantId, said, events) {
      const rule = { ...said, changed_at: now() };
      return write(state, { tenantId, kind: 'activation', key: activationKey(said), rule }, events);
    },
    removeActivation: (tenantId, of, events) => erase(state, tenantId, 'activation', activationKey(of), events),
    putView: (tenantId, view, events) =>
      write(state, { tenantId, kind: 'view', key: view.name, rule: { view, changed_at: now() } }, events),
    removeView: (tenantId, name, events) => erase(state, tenantId, 'view', name, events),
    onChanged: state.listeners.add,
    async close() {
      clearInterval(state.timer);
      await state.queue;
    },
  };
}

const activationKey = ({ agent_did, tool_id, user_did }: ActivationOf): string =>
  JSON.stringify(user_did === undefined ? [agent_did, tool_id] : [agent_did, tool_id, user_did]);

function inTurn<T>(state: State, run: () => Promise<T>): Promise<T> {
  const turn = state.queue.then(run);
  state.queue = turn.catch(() => undefined);
  return turn;
}

async function load(state: State): Promise<void> {
  const { revision, rules } = await state.store.loadAll();
  const tenants = new Map<string, ChangingRules>();
  for (const { tenantId, kind, key, rule } of rules) put(rulesIn(tenants, tenantId), kind, key, rule);
  for (const each of tenants.values()) bindAgents(each);
  state.tenants = tenants;
  state.revision = revision;
}

function rulesIn(tenants: Map<string, ChangingRules>, tenantId: string): ChangingRules {
  const known = tenants.get(tenantId);
  if (known !== undefined) return known;
  const rules = tenantRules();
  tenants.set(tenantId, rules);
  return rules;
}

/** A database that does not answer is polled again next time; the known rules stay until then. */
async function refresh(state: State): Promise<void> {
  if (state.refreshing) return;
  state.refreshing = true;
  try {
    await inTurn(state, () => reloadIfChanged(state));
  } catch (cause) {
    state.log.warn('visibility-not-refreshed', { reason: String(cause) });
  } finally {
    state.refreshing = false;
  }
}

async function reloadIfChanged(state: State): Promise<void> {
  if ((await state.store.revision()) === state.revision) return;
  await load(state);
  state.listeners.notify();
}

function write<Rule extends object>(
  state: State,
  stored: StoredRule & { readonly rule: Rule },
  events: EventsOf<void> | undefined,
): Promise<Rule> {
  const { tenantId, kind, key, rule } = stored;
  return inTurn(state, async () => {
    refuseTooMany(state.tenants.get(tenantId), kind, key);
    const revision = await state.store.put(stored, events);
    const rules = rulesIn(state.tenants, tenantId);
    put(rules, kind, key, rule);
    tookEffect(state, revision, rules, kind);
    return rule;
  });
}

function erase(
  state: State,
  tenantId: string,
  kind: RuleKind,
  key: string,
  events: EventsOf<void> | undefined,
): Promise<boolean> {
  return inTurn(state, async () => {
    const revision = await state.store.remove(tenantId, kind, key, events);
    if (revision === undefined) return false;
    const rules = rulesIn(state.tenants, tenantId);
    remove(rules, kind, key);
    tookEffect(state, revision, rules, kind);
    return true;
  });
}

/**
 * When another instance changed something in between, the revision stays old, and the next poll reads everything
 * again.
 */
function tookEffect(state: State, revision: number, rules: ChangingRules, kind: RuleKind): void {
  if (kind === 'view') bindAgents(rules);
  if (revision === state.revision + 1) state.revision = revision;
  state.listeners.notify();
}

function refuseTooMany(rules: TenantRules | undefined, kind: RuleKind, key: string): void {
  if (rules === undefined) return;
  const known = rulesOfKind(rules, kind);
  const max = kind === 'view' ? VIEWS_MAX : RULES_MAX;
  if (known.size < max || known.has(key)) return;
  const what = { view: 'views', activation: 'activations', availability: 'statements on availability' }[kind];
  throw new ToolLayerError('E3810', `The tenant has ${max} ${what}, which is the most. Remove some first.`);
}
