import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchemaObject } from '../../../packages/sallyport/api/schemas/identifiers.ts';
import {
  createSchemaValidator,
  type SchemaValidatorOptions,
} from '../../../packages/sallyport/src/validation/schema-validator.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';

const CORPUS = new URL('../../../../shared/corpora/json-schema/', import.meta.url);
const CASES = new URL('tests/draft2020-12/', CORPUS);
/** Required cases that have to be right, of 1 299. */
const RIGHT_MIN = 1290;
/** Where the suite expects its further documents. */
const REMOTE = 'http://localhost:1234/';

type Schema = JsonSchemaObject | boolean;
type Documents = Readonly<Record<string, JsonSchemaObject>>;
interface Group {
  readonly description: string;
  readonly schema: Schema;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}
/** Judges values by a schema; throws or is undefined when the schema is not taken. */
type Judge = (schema: Schema) => ((value: unknown) => boolean) | undefined;

/** Required cases of the JSON Schema Test Suite, draft 2020-12, with each failure on a line. */
export function measureSuite(report: (line: string) => void): readonly Figure[] {
  if (!existsSync(CASES)) {
    report('no JSON Schema Test Suite beside the repository: its figures are left out');
    return [];
  }
  const groups = readdirSync(CASES)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(new URL(name, CASES), 'utf8')) as Group[]);
  const documents = remotes();
  const wrong: string[] = [];
  const ours = rightOf(groups, ourJudge({ formats: 'annotate', known: documents }), wrong);
  for (const name of wrong) report(`wrong: ${name}`);
  const peer = rightOf(groups, ajvJudge(documents), []);
  const total = groups.reduce((sum, { tests }) => sum + tests.length, 0);
  const bound = { atLeast: RIGHT_MIN };
  return [
    besidePeer(figureOf(`JSON Schema suite, right of ${total}`, 'cases', ours, bound), 'Ajv', peer),
    figureOf('the same as tools are judged: formats assert, nothing remote', 'cases', rightOf(groups, ourJudge(), [])),
  ];
}

function remotes(): Documents {
  const folder = new URL('remotes/', CORPUS);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    names.map((name) => [REMOTE + name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as JsonSchemaObject]),
  );
}

function rightOf(groups: readonly Group[], judgeOf: Judge, wrong: string[]): number {
  let right = 0;
  for (const { description, schema, tests } of groups) {
    const judge = attempt(() => judgeOf(schema));
    for (const one of tests) {
      if (attempt(() => judge?.(one.data)) === one.valid) right += 1;
      else wrong.push(`${description}: ${one.description}`);
    }
  }
  return right;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function ourJudge(options: SchemaValidatorOptions = {}): Judge {
  const validator = createSchemaValidator(options);
  return (schema) => {
    const compiled = validator.compile(typeof schema === 'boolean' ? { allOf: [schema] } : schema);
    if (isFailure(compiled)) return undefined;
    return (value) => compiled.check(value, { coerce: false }).faults.length === 0;
  };
}

function ajvJudge(documents: Documents): Judge {
  const own = Object.entries(documents).filter(([address]) => address.startsWith(`${REMOTE}draft2020-12/`));
  return (schema) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    for (const [address, document] of own) attempt(() => ajv.addSchema(document, address));
    const validate = ajv.compile(schema);
    return (value) => validate(value) === true;
  };
}
