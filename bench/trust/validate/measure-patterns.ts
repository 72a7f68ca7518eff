import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { createSchemaValidator } from '../../../packages/sallyport/src/validation/schema-validator.ts';
import { type Figure, figureOf } from '../../report/figure.ts';

const CORPUS = new URL('../../../../shared/corpora/redos/', import.meta.url);
/** What judging one text by one pattern may take, in milliseconds. */
const MS_MAX = 50;
/** Length to which an attack is drawn out. */
const LONG = 10_000;
/** Attacks on patterns that come with none. */
const ATTACKS = [`${'a'.repeat(30)}!`, `${'1'.repeat(30)}x`, `${' '.repeat(30)}x`, `${'a@'.repeat(15)}!`];

interface Row {
  readonly pattern: string;
  readonly attack_input?: string;
}

/** The slowest pattern of the collection, from the schema to the answer; those that are refused are counted. */
export function measurePatterns(report: (line: string) => void): readonly Figure[] {
  if (!existsSync(CORPUS)) {
    report('no regular expressions beside the repository: their figures are left out');
    return [];
  }
  const rows = readdirSync(CORPUS).flatMap(
    (name) => (JSON.parse(readFileSync(new URL(name, CORPUS), 'utf8')) as { patterns: Row[] }).patterns,
  );
  // The first of all pays for the engine's own start.
  checkOf('(a|b)*c', () => undefined)?.('ab');
  const worst = { compiling: 0, given: 0, long: 0 };
  let refused = 0;
  for (const { pattern, attack_input: attack } of rows) {
    const check = checkOf(pattern, (ms) => {
      worst.compiling = Math.max(worst.compiling, ms);
    });
    if (check === undefined) {
      refused += 1;
      report(`refused: ${pattern}`);
      continue;
    }
    for (const text of attack === undefined ? ATTACKS : [attack]) {
      worst.given = Math.max(
        worst.given,
        timed(() => check(text)),
      );
      worst.long = Math.max(
        worst.long,
        timed(() => check(drawnOut(text))),
      );
    }
  }
  return [
    figureOf(`slowest of ${rows.length} patterns, the attack as it is given`, 'ms', worst.given, { atMost: MS_MAX }),
    figureOf(`the same, drawn out to ${LONG} characters`, 'ms', worst.long, { atMost: MS_MAX }),
    figureOf('slowest pattern to compile, to the first answer', 'ms', worst.compiling, { atMost: MS_MAX }),
    figureOf('patterns that are refused at registration', 'patterns', refused),
  ];
}

function checkOf(pattern: string, took: (ms: number) => void): ((text: string) => void) | undefined {
  const validator = createSchemaValidator();
  const compiled = validator.compile({ type: 'string', pattern });
  if (isFailure(compiled)) return undefined;
  took(timed(() => compiled.check('', { coerce: false })));
  return (text) => void compiled.check(text, { coerce: false });
}

const drawnOut = (text: string): string =>
  text
    .slice(0, -1)
    .repeat(Math.ceil(LONG / text.length))
    .slice(0, LONG) + text.slice(-1);

/** CPU time in ms: what else the machine does is not the pattern's fault. */
function timed(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
