import { _, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv';
import { STEPS_KEYWORD } from '../own/own-node.ts';

/**
 * Most work of one check, in schema values visited; texts and lists add to it by their length. Recursive schemas with
 * several alternatives grow exponentially with the depth of a value; this limit ends them (VAL-05).
 */
const STEPS_MAX = 2_000_000;
/** Most errors that one schema collects before it ends; collecting takes time quadratic in their number. */
const ERRORS_MAX = 1000;

/** The remaining work of a check. */
export interface Budget {
  left: number;
}

/** Thrown when a check has used up its budget. */
export const SPENT = new RangeError('judging the value takes more steps than allowed');
/** Thrown when a value has more faults than are gathered. */
export const TOO_MANY_ERRORS = new RangeError('the value has more faults than are gathered');

/** Makes a budget; all checks use the same one, in sequence. */
export const newBudget = (): Budget => ({ left: STEPS_MAX });

/** Gives a check its full budget. */
export function refill(budget: Budget): void {
  budget.left = STEPS_MAX;
}

/**
 * Takes from the budget.
 * @throws SPENT when nothing is left
 */
export function spend(budget: Budget, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw SPENT;
}

/** The keyword that charges the work of a schema at each application, and ends it when errors pile up. */
export function stepsKeyword(budget: Budget): CodeKeywordDefinition {
  return {
    keyword: STEPS_KEYWORD,
    schemaType: 'number',
    code: ({ gen, schema }: KeywordCxt) => {
      const counter = gen.scopeValue('obj', { ref: budget });
      const spent = gen.scopeValue('obj', { ref: SPENT });
      const tooMany = gen.scopeValue('obj', { ref: TOO_MANY_ERRORS });
      gen.code(_`${counter}.left -= ${schema as number}`);
      gen.if(_`${counter}.left < 0`, () => gen.throw(spent));
      gen.if(_`${ERRORS} > ${ERRORS_MAX}`, () => gen.throw(tooMany));
    },
  };
}

/** Ajv's own variable in which every compiled schema counts its errors. */
const ERRORS = new Name('errors');
