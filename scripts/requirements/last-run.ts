// Names of the tests that ran, and of those that skipped themselves, in the last whole test run on this machine.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../project-files.ts';
import type { TestNames } from '../test-run/test-counts.ts';

/** What a whole test run leaves. */
export interface LastRun extends TestNames {
  /** When it ended, in ISO 8601. */
  readonly at: string;
}

const FILE = join(ROOT, 'node_modules', '.cache', 'sallyport', 'last-test-run.json');

/** Keeps the names of a whole run for `npm run requirements`. */
export function keepLastRun(names: TestNames): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify({ at: new Date().toISOString(), ...names } satisfies LastRun));
}

/** Undefined when no whole run ended on this machine since its dependencies were installed. */
export function readLastRun(): LastRun | undefined {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Says of a test of the sources whether every run of it skipped itself. Names are compared without what a conformance suite
 * adds in parentheses; each `…`, an expression of a template literal, stands for any text.
 */
export function skippedIn({ ran, skipped }: TestNames): (test: { readonly name: string }) => boolean {
  const ranNames = new Set(ran.map(withoutAdapter));
  const skippedNames = new Set(skipped.map(withoutAdapter));
  return ({ name }) => {
    const isNamed =
      name.includes('…') || /[%$]/.test(name)
        ? some(patternOf(name))
        : (names: Set<string>) => names.has(withoutAdapter(name));
    return isNamed(skippedNames) && !isNamed(ranNames);
  };
}

const withoutAdapter = (name: string): string => name.replace(/ \([^()]*\)$/, '');

const patternOf = (name: string): RegExp =>
  new RegExp(
    `^${withoutAdapter(name)
      .split(/…|%\w|\$\w+/)
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}`,
  );

const some =
  (pattern: RegExp) =>
  (names: Set<string>): boolean =>
    names.values().some((name) => pattern.test(name));
