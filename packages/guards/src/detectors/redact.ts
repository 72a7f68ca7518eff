import { FAMILIES } from './redaction/families.ts';
import { DEFAULT_REDACTION_KINDS, type RedactionKind } from './redaction/kinds.ts';
import { plainName, secretKindOf } from './redaction/secrets/field-names.ts';
import { replaceSpans, spansOf } from './redaction/spans.ts';
import { walkValue } from './redaction/walk.ts';

/** Closed list of findings: see {@link REDACTION_KINDS}. `field` is a value that only its field's name identifies. */
export type { RedactionKind } from './redaction/kinds.ts';
/** All kinds; the default kinds; and the kinds of each of the six groups (MOD-06). */
export { DEFAULT_REDACTION_KINDS, KINDS_BY_CATEGORY, REDACTION_KINDS } from './redaction/kinds.ts';

/** A sensitive part and its position. The text itself is not included: a finding may be logged. */
export interface RedactionFinding {
  readonly kind: RedactionKind;
  /** The rule that matched, for example `github-token` or `assigned-password`. */
  readonly rule: string;
  /** JSON pointer (RFC 6901) of the text in the value; empty for a text by itself. Names in it are redacted too. */
  readonly path: string;
  /** Start and end (exclusive) in UTF-16 units of the unchanged text. */
  readonly start: number;
  readonly end: number;
}

/** What to look for, and the replacement. */
export interface RedactionOptions {
  /** Default: all but `path`. */
  readonly kinds?: readonly RedactionKind[];
  /** Names of additional fields whose values are replaced, in any case and spelling; default none. */
  readonly fields?: readonly string[];
  /** Replacement of a finding; default `[REDACTED:kind]`. */
  readonly replacement?: (kind: RedactionKind) => string;
}

/** A value without its sensitive parts. */
export interface Redacted {
  /** The same object when nothing was found, else a copy that shares unchanged parts. */
  readonly value: unknown;
  /** In the order of the value. */
  readonly findings: readonly RedactionFinding[];
}

/** Removes sensitive parts of texts and JSON values, deterministically and without state between calls. */
export interface Redactor {
  text(text: string): { readonly text: string; readonly findings: readonly RedactionFinding[] };
  /** Redacts texts and names at every depth, and whole values of secret fields. */
  value(value: unknown): Redacted;
}

const NO_FINDINGS: readonly RedactionFinding[] = [];
const standsFor = (kind: RedactionKind): string => `[REDACTED:${kind}]`;

/** Sensitive parts of a text in order, without overlaps. Time is linear in any text. */
export function findSensitive(text: string, options?: RedactionOptions): readonly RedactionFinding[] {
  return redactorOf(options).text(text).findings;
}

/** Removes the sensitive parts of a value, and reports them (AUD-04). */
export function redact(value: unknown, options?: RedactionOptions): Redacted {
  return redactorOf(options).value(value);
}

const redactorOf = (options: RedactionOptions | undefined): Redactor =>
  options === undefined ? standardRedactor : createRedactor(options);

/** Makes a redactor; one for many values is cheaper than {@link redact} for each. */
export function createRedactor(options: RedactionOptions = {}): Redactor {
  const { kinds = DEFAULT_REDACTION_KINDS, replacement = standsFor } = options;
  const wanted: ReadonlySet<RedactionKind> = new Set(kinds);
  const families = FAMILIES.filter((family) => family.kinds.some((kind) => wanted.has(kind)));
  const fields: ReadonlySet<string> = new Set((options.fields ?? []).map(plainName));
  const change = (text: string, name: string, path: string, findings: RedactionFinding[]): string => {
    const spans = spansOf(text, families, wanted, name);
    if (spans.length === 0) return text;
    for (const span of spans) findings.push({ ...span, path });
    return replaceSpans(text, spans, replacement);
  };
  return {
    text(text) {
      const findings: RedactionFinding[] = [];
      const changed = change(text, '', '', findings);
      return { text: changed, findings: findings.length === 0 ? NO_FINDINGS : findings };
    },
    value(value) {
      const findings: RedactionFinding[] = [];
      const hide = (kind: RedactionKind, rule: string, path: string, length: number): string => {
        findings.push({ kind, rule, path, start: 0, end: length });
        return replacement(kind);
      };
      const changed = walkValue(value, {
        text: (text, name, path) => change(text, name, path, findings),
        secret: (text, kind, path) =>
          text === '' || text === replacement(kind) ? text : hide(kind, 'field-name', path, text.length),
        kindOf: (name) => {
          const kind = secretKindOf(name, fields);
          return kind === 'field' || (kind !== undefined && wanted.has(kind)) ? kind : undefined;
        },
        tooDeep: (path) => hide('field', 'too-deep', path, 0),
      });
      return { value: changed, findings };
    },
  };
}

const standardRedactor = createRedactor();
