import type { EventsOf } from '../domain/event/events-of.ts';

/** Kind of a rule. */
export type RuleKind = 'availability' | 'activation' | 'view';

/** One visibility rule, as JSON that only the visibility component reads. */
export interface StoredRule {
  readonly tenantId: string;
  readonly kind: RuleKind;
  /** Unique within tenant and kind; any text of up to 2 000 characters. */
  readonly key: string;
  readonly rule: object;
}

/** Durable store of rules. Every method is safe for concurrent use by several instances. */
export interface VisibilityStore {
  /** Grows with each change of any tenant's rules, by exactly one. */
  revision(): Promise<number>;
  /** Adds or replaces by tenant, kind and key. Returns the new revision. */
  put(rule: StoredRule, events?: EventsOf<void>): Promise<number>;
  /** Returns the new revision; undefined, with no change, when there was no such rule. */
  remove(tenantId: string, kind: RuleKind, key: string, events?: EventsOf<void>): Promise<number | undefined>;
  /** Every rule of every tenant, in no order, including all changes up to `revision`. */
  loadAll(): Promise<{ readonly revision: number; readonly rules: readonly StoredRule[] }>;
}
