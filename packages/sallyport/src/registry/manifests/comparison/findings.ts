import type { ManifestChange } from '../../../../api/schemas/registry/tool-comparison.ts';

/** Changes that one comparison names. */
const CHANGES_MAX = 500;

/** Collects changes. */
export interface Findings {
  /** False once something was left out. */
  complete: boolean;
  readonly changes: readonly ManifestChange[];
  add(change: ManifestChange): void;
}

/** Makes the collection, empty. */
export function createFindings(): Findings {
  const changes: ManifestChange[] = [];
  const findings: Findings = {
    complete: true,
    changes,
    add(change) {
      if (changes.length < CHANGES_MAX) changes.push(change);
      else findings.complete = false;
    },
  };
  return findings;
}

/** A value in the form for messages. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}

const SHOWN_CHARS_MAX = 60;

/** The last segment of a pointer, in readable form. */
export function nameOf(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}
