import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { plainJson } from '../../../validation/plain-json.ts';
import type { SchemaValidator } from '../../../validation/schema-validator.ts';
import type { ValueRules } from './value-rules.ts';

/** A result that passed. */
export interface Fitting {
  readonly result: unknown;
}

/**
 * Returns a result as plain JSON that matches its tool's schema, converted where nothing is lost (VAL-03). In strict
 * mode a result that does not fit fails with E3501, E3506, E3507 or E3508; otherwise it passes unchanged, with a
 * warning.
 */
export function fitResult(
  schemas: SchemaValidator,
  rules: ValueRules,
  { result_schema }: Pick<ToolManifest, 'result_schema'>,
  given: unknown,
  warnings: Warning[],
): Fitting | Failure {
  const { value, faults: lost } = plainJson(given);
  if (lost.length > 0) return unfit(rules, lost, value, warnings);
  if (result_schema === undefined)
    return rules.resultSchemaRequired ? undescribed(rules, value, warnings) : { result: value };
  const schema = schemas.compile(result_schema);
  if (isFailure(schema)) return schema;
  const { value: result, faults } = schema.check(value, { coerce: rules.coerceResults });
  return faults.length === 0 ? { result } : unfit(rules, faults, value, warnings);
}

function undescribed({ strict }: ValueRules, result: unknown, warnings: Warning[]): Fitting | Failure {
  const message = 'The tool has no result schema, so its result cannot be checked.';
  if (strict)
    return failure('E3508', `${message} Its owner gives it one, or validation.result_schema_required is unset.`);
  warnings.push({ code: 'result_schema_missing', message });
  return { result };
}

function unfit(
  { strict }: ValueRules,
  given: readonly Fault[],
  result: unknown,
  warnings: Warning[],
): Fitting | Failure {
  // Reported as a wrong type, whether or not a conversion was tried.
  const faults = given.map((one): Fault => (one.code === 'E3502' ? { ...one, code: 'E3507' } : one));
  const places = faults
    .slice(0, NAMED_MAX)
    .map(({ path, message }) => `${path === '' ? 'the result' : path} ${message}`)
    .join('; ');
  if (!strict) {
    warnings.push({
      code: 'result_mismatch',
      message: `The result is not as the tool promises: ${places}`,
      details: { faults: faults.slice(0, FAULTS_LISTED_MAX) },
    });
    return { result };
  }
  const code = faults.length === 1 ? (faults[0]?.code as ErrorCode) : 'E3501';
  return failure(code, `The tool answered, but not as it promises: ${places} Tell the owner of the tool.`, {
    details: { faults },
  });
}

/** Faults that a message names, and faults that a warning lists. */
const NAMED_MAX = 3;
const FAULTS_LISTED_MAX = 20;
