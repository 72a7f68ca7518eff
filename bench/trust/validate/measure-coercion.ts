import { existsSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { createSchemaValidator } from '../../../packages/sallyport/src/validation/schema-validator.ts';
import { type Figure, figureOf } from '../../report/figure.ts';

const CORPUS = new URL('../../../../shared/corpora/coercion/ajv_coercion.jsonl', import.meta.url);

interface Row {
  readonly target: string;
  readonly from: unknown;
  readonly accepted: boolean;
  readonly to: unknown;
}

/** Where we convert as Ajv does, and where we refuse what it takes; each refusal says what would be lost. */
export function measureCoercion(report: (line: string) => void): readonly Figure[] {
  if (!existsSync(CORPUS)) {
    report('no coercion rows beside the repository: their figures are left out');
    return [];
  }
  const rows = readFileSync(CORPUS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const validator = createSchemaValidator();
  const counts = { same: 0, refused: 0, other: 0 };
  for (const { target, from, accepted, to } of rows) {
    const compiled = validator.compile({ type: target });
    if (isFailure(compiled)) throw new Error(compiled.message);
    const { value, faults } = compiled.check(from, { coerce: true });
    const takes = faults.length === 0;
    if (takes === accepted && (!takes || Object.is(value, to))) counts.same += 1;
    else if (!takes) {
      counts.refused += 1;
      report(
        `${JSON.stringify(from)} to ${target}: Ajv makes ${JSON.stringify(to)}, we refuse: ${reason(from, target)}`,
      );
    } else counts.other += 1;
  }
  return [
    figureOf(`coercion, of ${rows.length} rows as Ajv`, 'rows', counts.same),
    figureOf('taken by Ajv, refused by us', 'rows', counts.refused),
    figureOf('converted to something else than by Ajv, or refused by it', 'rows', counts.other, { atMost: 0 }),
  ];
}

function reason(from: unknown, target: string): string {
  if (from === null) return 'nothing is not a value';
  if (target === 'null') return 'a value is not nothing';
  if (typeof from === 'boolean') return 'a yes or no is neither a number nor a text';
  return target === 'boolean'
    ? 'a number is not a yes or no'
    : 'a number that is written with exponent has no one text';
}
