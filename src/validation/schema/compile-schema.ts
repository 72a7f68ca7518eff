// Hot path: the function that comes out runs once or twice a call.
import type { ErrorObject, KeywordCxt, Options } from 'ajv';
import { _ } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { canonicalJson } from '../../std/canonical-json.ts';
import { createAjv } from './dialect.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { type OwnNode, type OwnSchema, STEPS_KEYWORD } from './own-schema.ts';

/**
 * Work that one judging may take, in schema values visited; patterns add to it by the length of the text. Recursive
 * schemas with several alternatives grow exponentially with the depth of a value; this ends them (VAL-05).
 */
const STEPS_MAX = 2_000_000;

/** Ajv's errors for a value; empty when it is valid; `too-complex` when judging it takes more than the bound. */
export type Judge = (value: unknown) => readonly ErrorObject[] | 'too-complex';

type RegExpLike = { test(text: string): boolean; toString(): string };

interface Budget {
  left: number;
}
const SPENT = new RangeError('judging the value takes more steps than allowed');

/**
 * Compiles a node of a schema (the root when absent). The code is generated once; the cost is about a millisecond.
 * @throws Error when Ajv refuses the schema in spite of all checks before
 */
export function compileSchema(own: OwnSchema, node: OwnNode = own.root): Judge {
  const budget: Budget = { left: 0 };
  const ajv = createAjv(own.dialect, optionsFor(own, budget));
  ajv.addKeyword({ keyword: STEPS_KEYWORD, schemaType: 'number', code: (cxt) => countSteps(cxt, budget) });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (items: readonly unknown[]) => !wanted || areUnique(items),
    error: { message: 'must NOT have duplicate items' },
  });
  const schema = typeof node === 'boolean' ? { allOf: [node] } : node;
  const validate = ajv.compile({ ...schema, $defs: own.definitions });
  return (value) => {
    budget.left = STEPS_MAX;
    try {
      return validate(value) === true ? NONE : (validate.errors ?? NONE);
    } catch (error) {
      // Besides our own: a schema that refers to itself in place overflows the stack.
      if (error instanceof RangeError) return 'too-complex';
      throw error;
    }
  };
}

const NONE: readonly ErrorObject[] = [];

/** Ajv's own pattern for `url` takes seconds on twenty thousand colons. */
const FORMATS: NonNullable<Options['formats']> = {
  ...fullFormats,
  url: (text: string) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text),
};

function optionsFor(own: OwnSchema, budget: Budget): Options {
  const engine = (pattern: string): RegExpLike => counted(pattern, budget);
  return {
    strict: false,
    allErrors: true,
    verbose: true,
    meta: false,
    validateSchema: false,
    logger: false,
    formats: FORMATS,
    ownProperties: own.ownPropertiesOnly,
    code: { regExp: Object.assign(engine, { code: 'compileLinearPattern' }) },
  };
}

function counted(source: string, budget: Budget): RegExpLike {
  const pattern = compileLinearPattern(source);
  return {
    test(text) {
      budget.left -= text.length * pattern.stepsPerCharacter;
      if (budget.left < 0) throw SPENT;
      return pattern.test(text);
    },
    // Ajv tells patterns apart by this.
    toString: () => source,
  };
}

function countSteps({ gen, schema }: KeywordCxt, budget: Budget): void {
  const counter = gen.scopeValue('obj', { ref: budget });
  const spent = gen.scopeValue('obj', { ref: SPENT });
  gen.code(_`${counter}.left -= ${schema as number}`);
  gen.if(_`${counter}.left < 0`, () => gen.throw(spent));
}

/** In linear time, where Ajv compares each with each. */
function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonicalJson(item);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}
