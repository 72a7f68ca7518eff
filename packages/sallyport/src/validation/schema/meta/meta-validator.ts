import type { ErrorObject, ValidateFunction } from 'ajv';
import { type Shape, shapeOf } from '../../../domain/shape/shape.ts';
import { createAjv, type Dialect } from '../dialect.ts';
import { joinedMetaSchema } from './joined-meta-schema.ts';
import { META_DOCUMENTS } from './meta-documents.ts';

/** What keeps a value from being a schema of a dialect; empty when it is one. */
type MetaValidator = (schema: unknown) => readonly ErrorObject[];

const validators = new Map<Dialect, MetaValidator>();

/** Checks schemas against their dialect's meta-schema. At most three are kept, one a dialect. */
export function metaValidatorOf(dialect: Dialect): MetaValidator {
  const known = validators.get(dialect) ?? metaValidator(dialect);
  validators.set(dialect, known);
  return known;
}

/** The official meta-schema takes Ajv a tenth of a start to compile, so it is compiled for the first schema with a fault. */
function metaValidator(dialect: Dialect): MetaValidator {
  let fits: Shape | undefined;
  let validate: ValidateFunction | undefined;
  return (schema) => {
    fits ??= shapeOf(joinedMetaSchema(dialect));
    if (fits(schema)) return [];
    validate ??= official(dialect);
    return validate(schema) === true ? [] : (validate.errors ?? []);
  };
}

function official(dialect: Dialect): ValidateFunction {
  const address = String(META_DOCUMENTS[dialect][0]?.['$id']);
  const validate = createAjv(dialect, {
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    code: { optimize: false },
  }).getSchema(address);
  if (validate === undefined) throw new TypeError(`Ajv has no meta-schema ${address}`);
  return validate;
}
