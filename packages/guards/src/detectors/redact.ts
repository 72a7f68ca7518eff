import { FAMILIES } from './redaction/families.ts';
import { DEFAULT_REDACTION_KINDS, type RedactionKind } from './redaction/kinds.ts';
import { plainName, secretKindOf } from './redaction/secrets/field-names.ts';
import { replaceSpans, spansOf } from './redaction/spans.ts';
import { walkValue } from './redaction/walk.ts';

/** What is found, as a closed list: see {@link REDACTION_KINDS}. `field` is a value that only its field's name gives away. */
export type { RedactionKind } from './redaction/kinds.ts';
/** All kinds; those that are looked for by default; and the kinds of each of the six groups (MOD-06). */
export { DEFAULT_REDACTION_KINDS, KINDS_BY_CATEGORY, REDACTION_KINDS } from './redaction/kinds.ts';

/** Something sensitive, and where it stands. What it is stays out: a finding may be logged. */
export interface RedactionFinding {
  readonly kind: RedactionKind;
  /** What told, for example `github-token` or `assigned-password`. */
  readonly rule: string;
  /** JSON pointer (RFC 6901) of the text in the value; empty for a text by itself. Names in it are redacted too. */
  readonly path: string;
  /** First place of the text, and the first behind, in UTF-16 units of the text before it was changed. */
  readonly start: number;
  readonly end: number;
}

/** What to look for, and what to write instead. */
export interface RedactionOptions {
  /** Default: all but `path`. */
  readonly kinds?: readonly RedactionKind[];
  /** Names of further fields whose values are replaced, in any case and spelling; default none. */
  readonly fields?: readonly string[];
  /** What stands for what was taken out; default `[REDACTED:kind]`. */
  readonly replacement?: (kind: RedactionKind) => string;
}

/** A value without what is sensitive. */
export interface Redacted {
  /** The very same value when nothing was found, else a copy of what changed; the rest is shared. */
  readonly value: unknown;
  /** In the order of the value. */
  readonly findings: readonly RedactionFinding[];
}

/** Takes sensitive things out of texts and JSON values, always in the same way. Keeps nothing between two calls. */
export interface Redactor {
  text(text: string): { readonly text: string; readonly findings: readonly RedactionFinding[] };
  /** Texts and names at every depth; the values of secret fields as a whole. */
  value(value: unknown): Redacted;
}

const NO_FINDINGS: readonly RedactionFinding[] = [];
const standsFor = (kind: RedactionKind): string => `[REDACTED:${kind}]`;

/** Sensitive places of a text in order, none overlapping another. Time is linear in the text, whatever it holds. */
export function findSensitive(text: string, options?: RedactionOptions): readonly RedactionFinding[] {
  return redactorOf(options).text(text).findings;
}

/** The value without what is sensitive, and what was found where (AUD-04). */
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
