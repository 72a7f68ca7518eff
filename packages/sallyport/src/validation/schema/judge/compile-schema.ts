// The resulting functions run once or twice per call.
import type { Ajv, CodeKeywordDefinition, ErrorObject, Options, ValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { compileLinearPattern } from '../../../domain/shape/patterns/linear-pattern.ts';
import { createAjv } from '../dialect.ts';
import type { OwnNode, OwnSchema } from '../own/own-node.ts';
import { type Budget, newBudget, refill, spend, stepsKeyword, TOO_MANY_ERRORS } from './budget.ts';
import { FORMATS } from './formats.ts';
import { type IsValid, unevaluatedKeywords } from './unevaluated.ts';
import { valueKeywords } from './value-keywords.ts';

/** Ajv's errors for a value; empty when it is valid. */
export type Errors = readonly ErrorObject[] & { readonly more?: boolean };

/** The generated code of one schema. */
export interface Judges {
  /** Starts a check: everything until the next start shares one budget of work. */
  begin(): void;
  /**
   * All errors of a value; with `more` when there were too many to collect.
   * @throws RangeError when validation exceeds the remaining budget, or overflows the stack
   */
  errors(value: unknown): Errors;
  /**
   * True when a value is valid by a node of the schema, whose code is generated on first use.
   * @throws RangeError as above
   */
  readonly isValid: IsValid;
}

type RegExpLike = { test(text: string): boolean; toString(): string };

/**
 * Compiles a schema. The code is generated once, in a few milliseconds.
 * @throws Error when Ajv refuses the schema in spite of all earlier checks
 */
export function compileSchema(own: OwnSchema): Judges {
  const budget = newBudget();
  const branches = new Map<OwnNode, (value: unknown) => boolean>();
  let first: Ajv | undefined;
  const firstOnly = (): Ajv => (first ??= ajvFor(own, budget, isValid, false));
  const isValid: IsValid = (node, value) => {
    if (typeof node === 'boolean') return node;
    const judge = branches.get(node) ?? (firstOnly().compile(node) as (value: unknown) => boolean);
    branches.set(node, judge);
    return judge(value);
  };
  const whole = ajvFor(own, budget, isValid, true).compile(own.root);
  return {
    begin: () => refill(budget),
    isValid,
    errors(value) {
      try {
        return whole(value) === true ? NONE : (whole.errors ?? NONE);
      } catch (error) {
        if (error !== TOO_MANY_ERRORS) throw error;
        const judge = firstOnly().compile(own.root);
        judge(value);
        return Object.assign([...(judge.errors ?? [])], { more: true });
      }
    },
  };
}

const NONE: readonly ErrorObject[] = [];

function ajvFor(own: OwnSchema, budget: Budget, isValid: IsValid, allErrors: boolean): Ajv {
  const ajv = createAjv(own.dialect, {
    strict: false,
    allErrors,
    verbose: true,
    meta: false,
    validateSchema: false,
    logger: false,
    formats: FORMATS,
    ownProperties: own.ownPropertiesOnly,
    // Optimising takes longer than it saves.
    code: { regExp: patternEngine(budget), optimize: false },
  });
  // Kept by unevaluatedKeywords instead, so that no code is generated for it.
  ajv.opts.unevaluated = false;
  ajv.addKeyword(stepsKeyword(budget));
  for (const definition of [...valueKeywords(budget), ...unevaluatedKeywords({ own, budget, isValid })]) {
    ajv.removeKeyword(String(definition.keyword));
    ajv.addKeyword(definition);
  }
  ajv.removeKeyword('$ref');
  ajv.addKeyword(referenceKeyword(own, ajv));
  return ajv;
}

/** A definition is compiled when a value first reaches it, so that long chains of references need no deep stack. */
function referenceKeyword({ definitions }: OwnSchema, ajv: Ajv): CodeKeywordDefinition {
  const functions = new Map<string, LazyFunction>();
  const functionOf = (name: string): LazyFunction => {
    const made = functions.get(name) ?? lazyFunction(() => ajv.compile({ allOf: [definitions[name]] }));
    functions.set(name, made);
    return made;
  };
  return {
    keyword: '$ref',
    schemaType: 'string',
    code: (cxt) => callRef(cxt, cxt.gen.scopeValue('func', { ref: functionOf(cxt.schema as string) })),
  };
}

/** The form of a compiled schema that generated code expects: a result, with its errors as a property. */
type LazyFunction = ((value: unknown, context: DataValidationCxt) => unknown) & { errors?: ErrorObject[] | null };

function lazyFunction(compile: () => ValidateFunction): LazyFunction {
  let compiled: ValidateFunction | undefined;
  const lazy: LazyFunction = (value, context) => {
    compiled ??= compile();
    const valid = compiled(value, context);
    lazy.errors = compiled.errors ?? null;
    return valid;
  };
  return lazy;
}

function patternEngine(budget: Budget): NonNullable<NonNullable<Options['code']>['regExp']> {
  const engine = (source: string): RegExpLike => {
    const pattern = compileLinearPattern(source);
    return {
      test(text) {
        spend(budget, text.length * pattern.stepsPerCharacter);
        return pattern.test(text);
      },
      // Ajv identifies patterns by this.
      toString: () => source,
    };
  };
  return Object.assign(engine, { code: 'compileLinearPattern' });
}
