import type { Pause } from '../../text-pieces.ts';
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
  /** The original value when nothing was found or something is rejected; otherwise a changed copy. */
  readonly value: unknown;
  /** At most 256, in the order of the value. */
  readonly findings: readonly ValueFinding[];
  /** First finding whose action is `reject`; then `value` must not be used. */
  readonly rejected?: ValueFinding;
}

/** Exceptions for one call. */
export interface CheckOptions {
  /**
   * The action for a threat in the text at a JSON Pointer, where it differs from the sanitiser's; `ignore` where it is
   * no threat, for example SQL where a statement is expected. An own pattern with an action keeps it, unless the threat
   * is ignored. Called only for findings.
   */
  readonly actionAt?: (path: string, threat: Threat) => SanitiseAction | 'ignore' | undefined;
}

/** Sanitises values. */
export interface Sanitiser {
  /**
   * Walks texts and names of members; other values are unchanged.
   * @throws E3810 when the value is nested more than 256 levels deep
   */
  check(value: unknown, options?: CheckOptions): Sanitised;
  /**
   * Only looks, for large values beside other work; never throws. The action of every finding is `mark`.
   * @param pause called and awaited after each piece of text
   */
  find(value: unknown, pause: Pause): Promise<FoundInValue>;
}

/** Findings in a value that is not changed. */
export interface FoundInValue {
  /** At most 256, in the order of the value. */
  readonly findings: readonly ValueFinding[];
  /** False when there was too much text to read all of it. */
  readonly complete: boolean;
}
