import type { ErrorObject, Options } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Fault } from '../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { faultAt } from './fault.ts';

/** The dialects by which a schema can be judged (REG-12). */
export type Dialect = 'draft-07' | '2019-09' | '2020-12';

interface DialectEntry {
  readonly metaSchema: string;
  readonly create: (options: Options) => Ajv;
}

const DIALECTS: Readonly<Record<Dialect, DialectEntry>> = {
  'draft-07': { metaSchema: 'http://json-schema.org/draft-07/schema', create: (options) => new Ajv(options) },
  '2019-09': {
    metaSchema: 'https://json-schema.org/draft/2019-09/schema',
    create: (options) => new Ajv2019({ ...options, dynamicRef: false }) as unknown as Ajv,
  },
  '2020-12': {
    metaSchema: 'https://json-schema.org/draft/2020-12/schema',
    create: (options) => new Ajv2020({ ...options, dynamicRef: false }) as unknown as Ajv,
  },
};

/** `$schema` without scheme and empty fragment. draft-06 is judged as draft-07, which only adds to it. */
const BY_URI: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft-06/schema', 'draft-07'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/**
 * The dialect that a schema declares, 2020-12 when silent; a fault for any other. draft-04 is refused: its boolean
 * `exclusiveMinimum` and its `id` mean something else today, so leniency would judge wrongly.
 */
export function dialectOf(schema: JsonSchemaObject): Dialect | Fault {
  const declared = Object.hasOwn(schema, '$schema') ? schema['$schema'] : undefined;
  if (declared === undefined) return '2020-12';
  const known =
    typeof declared === 'string' ? BY_URI.get(declared.replace(/^https?:\/\//, '').replace(/#$/, '')) : undefined;
  return (
    known ??
    faultAt(
      '/$schema',
      'E3008',
      '$schema',
      'The schema declares a dialect that is not supported.',
      'Use draft-07, 2019-09 or 2020-12, for example "https://json-schema.org/draft/2020-12/schema", or leave $schema out.',
    )
  );
}

/** A fresh Ajv of a dialect. Each schema gets its own, since an Ajv never lets go of what it compiled. */
export function createAjv(dialect: Dialect, options: Options): Ajv {
  return DIALECTS[dialect].create(options);
}

type MetaValidator = (schema: unknown) => readonly ErrorObject[];
const metaValidators = new Map<Dialect, MetaValidator>();

/** Checks a schema against its dialect's meta-schema. At most three are kept, one a dialect. */
export function metaValidatorOf(dialect: Dialect): MetaValidator {
  const known = metaValidators.get(dialect);
  if (known !== undefined) return known;
  const { metaSchema, create } = DIALECTS[dialect];
  const ajv = create({
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    code: { optimize: false },
  });
  const validate = ajv.getSchema(metaSchema);
  if (validate === undefined) throw new TypeError(`Ajv has no meta-schema ${metaSchema}`);
  const made: MetaValidator = (schema) => (validate(schema) === true ? [] : (validate.errors ?? []));
  metaValidators.set(dialect, made);
  return made;
}
