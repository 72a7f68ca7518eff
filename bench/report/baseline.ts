import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure, Report } from './figure.ts';

const FOLDER = join(import.meta.dirname, '..', 'baselines');

/** Keeps a report as what later runs are shown beside; returns its file. */
export function saveBaseline(report: Report): string {
  mkdirSync(FOLDER, { recursive: true });
  const file = fileOf(report.bench);
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  return file;
}

/** The kept report; undefined when there is none. */
export function readBaseline(bench: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(bench), 'utf8')) as Report;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What a figure was in the baseline. */
export function baselineValue(baseline: Report | undefined, { figure }: Figure): number | undefined {
  return baseline?.figures.find((earlier) => earlier.figure === figure)?.value ?? undefined;
}

function fileOf(bench: string): string {
  return join(FOLDER, `${bench}.json`);
}
