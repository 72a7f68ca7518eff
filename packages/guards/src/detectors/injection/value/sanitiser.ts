import type { InjectionFinding, SanitiseAction, SanitiseProfile, Threat } from '../finding.ts';
import type { OwnPattern } from './own-patterns.ts';

/** How values are sanitised (VAL-04). */
export interface SanitiseOptions {
  /** Default `default`. */
  readonly profile?: SanitiseProfile;
  /** By threat; default: SQL and commands are rejected, XSS is escaped. */
  readonly actions?: Partial<Readonly<Record<Threat, SanitiseAction>>>;
  /** An operator's own, at most 64 of at most 1 024 characters, in the syntax of RE2, which takes linear time. */
  readonly patterns?: readonly OwnPattern[];
}

/** A finding within a value. */
export interface ValueFinding extends InjectionFinding {
  /** JSON Pointer to the text, or to the member whose name it is. */
  readonly path: string;
  readonly action: SanitiseAction;
}

/** A value after it was sanitised. */
export interface Sanitised {
  /** The very value that was given when nothing was found or something is rejected; otherwise a changed copy. */
  readonly value: unknown;
  /** At most 256, in the order of the value. */
  readonly findings: readonly ValueFinding[];
  /** First finding whose action is `reject`; then `value` is not to be used. */
  readonly rejected?: ValueFinding;
}

/** Exceptions of one call. */
export interface CheckOptions {
  /**
   * What becomes of a threat in the text at a JSON Pointer, where that differs from the sanitiser's action; `ignore` where
   * it is none, for example SQL where a statement belongs. An own pattern that names an action keeps it, unless the
   * threat is ignored. Asked only for findings.
   */
  readonly actionAt?: (path: string, threat: Threat) => SanitiseAction | 'ignore' | undefined;
}

/** Sanitises values, one after the other. */
export interface Sanitiser {
  /**
   * Walks texts and names of members; other values are left as they are.
   * @throws E3810 when the value is nested more than 256 levels deep
   */
  check(value: unknown, options?: CheckOptions): Sanitised;
}
