/** What a rule is about. */
export type RuleKind = 'availability' | 'activation' | 'view';

/** One rule on who sees what, as JSON that only the visibility component reads. */
export interface StoredRule {
  readonly tenantId: string;
  readonly kind: RuleKind;
  /** Unique within tenant and kind; any text of up to 2 000 characters. */
  readonly key: string;
  readonly rule: object;
}

/** Where rules are kept for good. Every method is safe to call at the same time from several instances. */
export interface VisibilityStore {
  /** Grows with each change of any tenant's rules, by exactly one. */
  revision(): Promise<number>;
  /** Adds or replaces by tenant, kind and key. Answers with the revision after it. */
  put(rule: StoredRule): Promise<number>;
  /** Answers with the revision after it; undefined, and nothing changes, when there was no such rule. */
  remove(tenantId: string, kind: RuleKind, key: string): Promise<number | undefined>;
  /** Every rule of every tenant, in no order; all changes up to `revision` are in it. */
  loadAll(): Promise<{ readonly revision: number; readonly rules: readonly StoredRule[] }>;
}
