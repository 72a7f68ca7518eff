import { isFailure } from '@sallyport/std/error/failure';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { JsonSchemaObject } from '../../../packages/sallyport/api/schemas/identifiers.ts';
import { createSchemaValidator } from '../../../packages/sallyport/src/validation/schema-validator.ts';
import { ROUNDS } from '../../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';
import { median } from '../../report/statistics.ts';
import { SUBJECTS, type Subject } from './subjects.ts';

/** What one check of a ten-field object may cost, in microseconds. */
const CHECK_US_MAX = 2;
const AJV = 'Ajv, all errors';
/** Calls between two looks at the clock. */
const BATCH = 500;

type Check = (value: unknown) => boolean;

/** CPU of checks and of compiling, ours and the peer's in turns. */
export function measureChecks(seconds: number): readonly Figure[] {
  return [...SUBJECTS.map((subject) => checkFigure(subject, seconds)), compileFigure(seconds)];
}

function checkFigure({ name, schema, value, valid }: Subject, seconds: number): Figure {
  const [ours, peer] = inTurns([ourCheck(schema), peerCheck(schema)], seconds, (check) => {
    if (check(value) !== valid) throw new Error(`${name} is judged wrongly`);
  });
  const bound = name.startsWith('ten fields, valid') ? { atMost: CHECK_US_MAX } : undefined;
  return besidePeer(figureOf(`check ${name}`, 'us', ours, bound), AJV, peer);
}

function compileFigure(seconds: number): Figure {
  let count = 0;
  const { schema, value } = SUBJECTS[0] as Subject;
  const makers = [ourCheck, peerCheck] as const;
  const [ours, peer] = inTurns(makers, seconds, (make) => {
    count += 1;
    make({ ...schema, title: `number ${count}` })(value);
  });
  return besidePeer(figureOf('compile ten fields, to the first answer', 'us', ours), AJV, peer);
}

/** Median CPU of each subject over the rounds, in microseconds a call. */
function inTurns<S>(subjects: readonly S[], seconds: number, call: (subject: S) => void): (number | undefined)[] {
  const times = subjects.map((): number[] => []);
  const ms = (seconds * 1000) / ROUNDS / subjects.length;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [at, subject] of subjects.entries()) times[at]?.push(cpuUs(() => call(subject), ms));
  return times.map(median);
}

function cpuUs(call: () => void, ms: number): number {
  const end = performance.now() + ms;
  let calls = 0;
  let batch = 1;
  const before = process.cpuUsage();
  while (performance.now() < end) {
    for (let at = 0; at < batch; at += 1) call();
    calls += batch;
    // What is slow is not called a whole batch at a time.
    batch = calls > BATCH ? BATCH : 1;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

function ourCheck(schema: JsonSchemaObject): Check {
  const compiled = createSchemaValidator().compile(schema);
  if (isFailure(compiled)) throw new Error(compiled.message);
  return (value) => compiled.check(value, { coerce: false }).faults.length === 0;
}

function peerCheck(schema: JsonSchemaObject): Check {
  const validate = new Ajv2020({ allErrors: true, strict: false, formats: fullFormats }).compile(schema);
  return (value) => validate(value) === true;
}
