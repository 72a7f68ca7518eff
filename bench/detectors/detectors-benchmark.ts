import { existsSync } from 'node:fs';
import type { BenchmarkRun } from '../report/benchmark.ts';
import type { Figure } from '../report/figure.ts';

/** One file for each kind of detector; it exports one function whose name begins with `measure`. */
const PARTS: readonly string[] = ['injection', 'redaction', 'commands', 'addresses', 'instructions'];

type Measure = (seconds: number) => Promise<readonly Figure[]>;

/** What the detectors catch, what they leave alone, and what they cost. */
export async function runDetectors({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const part of PARTS) {
    const place = new URL(`./${part}.ts`, import.meta.url);
    if (!existsSync(place)) {
      report(`skipped, for it is not measured yet: ${part}`);
      continue;
    }
    report(part);
    figures.push(...(await measureOf(part, (await import(place.href)) as Readonly<Record<string, unknown>>)(seconds)));
  }
  return figures;
}

function measureOf(part: string, exported: Readonly<Record<string, unknown>>): Measure {
  const name = Object.keys(exported).find((each) => each.startsWith('measure'));
  if (name === undefined) throw new Error(`bench/detectors/${part}.ts exports no function that measures.`);
  return exported[name] as Measure;
}
