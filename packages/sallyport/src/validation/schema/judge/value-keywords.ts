import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { type Budget, spend } from './budget.ts';
import { isMultipleOf } from './multiple-of.ts';

/** Most members of an `enum` compared one by one. */
const COMPARED_MAX = 8;
/** Work of writing a list or an object as canonical JSON, and of so many of its characters. */
const STEPS_PER_TEXT = 10;
const CHARACTERS_PER_STEP = 16;

/** Keywords that Ajv checks in quadratic time or with rounding, checked here in linear time and exactly. */
export function valueKeywords(budget: Budget): readonly CodeKeywordDefinition[] {
  return [
    {
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must not have duplicate items' },
      code: (cxt) => {
        if (cxt.schema === true) judge(cxt, (items: readonly unknown[]) => areUnique(items, budget));
      },
    },
    {
      keyword: 'enum',
      schemaType: 'array',
      error: {
        message: 'must be equal to one of the allowed values',
        params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
      },
      code: (cxt) => judgeEnum(cxt, budget),
    },
    {
      keyword: 'multipleOf',
      type: 'number',
      schemaType: 'number',
      error: { message: 'must be a multiple', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
      code: (cxt) => judge(cxt, (number: number) => isMultipleOf(number, cxt.schema as number)),
    },
  ];
}

function judge<Value>(cxt: KeywordCxt, isValid: (value: Value) => boolean): void {
  cxt.pass(_`${cxt.gen.scopeValue('func', { ref: isValid })}(${cxt.data})`);
}

function judgeEnum(cxt: KeywordCxt, budget: Budget): void {
  const allowed = cxt.schema as readonly unknown[];
  const [first, ...others] = allowed;
  const simple = allowed.every((value) => value === null || typeof value !== 'object');
  if (!simple || allowed.length > COMPARED_MAX) {
    judge(cxt, memberOf(allowed, budget));
    return;
  }
  const comparison = others.reduce<ReturnType<typeof _>>(
    (code, value) => _`${code} || ${cxt.data} === ${value as string}`,
    _`${cxt.data} === ${first as string}`,
  );
  cxt.pass(comparison);
}

function memberOf(allowed: readonly unknown[], budget: Budget): (value: unknown) => boolean {
  const scalars = new Set(allowed.filter((value) => value === null || typeof value !== 'object'));
  const composed = new Set(allowed.filter((value) => !scalars.has(value)).map(canonicalJson));
  return (value) => {
    if (value === null || typeof value !== 'object') return scalars.has(value);
    return composed.size > 0 && composed.has(canonical(value, budget));
  };
}

/** In linear time, where Ajv compares each with each. */
function areUnique(items: readonly unknown[], budget: Budget): boolean {
  const seen = new Set<unknown>();
  for (const item of items) {
    const text = item === null || typeof item !== 'object' ? item : `\0${canonical(item, budget)}`;
    if (seen.has(text)) return false;
    seen.add(text);
  }
  spend(budget, items.length);
  return true;
}

function canonical(value: object, budget: Budget): string {
  const text = canonicalJson(value);
  spend(budget, STEPS_PER_TEXT + text.length / CHARACTERS_PER_STEP);
  return text;
}
