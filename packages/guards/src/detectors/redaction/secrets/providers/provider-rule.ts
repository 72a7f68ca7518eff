import type { RedactionKind } from '../../kinds.ts';

/** A secret with a form defined by its provider. */
export interface ProviderRule {
  readonly rule: string;
  readonly kind: RedactionKind;
  /** Possible prefixes. */
  readonly begins: readonly string[];
  /** Source of a regular expression for the rest. Repetitions are limited: time stays linear. */
  readonly rest: string;
}

/**
 * The rule of a key.
 * @param begins prefixes, separated by blanks
 */
export const key = (rule: string, begins: string, rest: string): ProviderRule => ruleOf('api_key', rule, begins, rest);
/** As above, of a token. */
export const token = (rule: string, begins: string, rest: string): ProviderRule => ruleOf('token', rule, begins, rest);

const ruleOf = (kind: RedactionKind, rule: string, begins: string, rest: string): ProviderRule => ({
  rule,
  kind,
  begins: begins.split(' '),
  rest,
});

/** Source of an expression for a UUID in small letters. */
export const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
