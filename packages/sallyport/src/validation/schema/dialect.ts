import type { Options } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Fault } from '../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { faultAt } from './faults/fault.ts';
import { addressOf, type KnownDocuments } from './known-documents.ts';
import { keywordsLeftOut } from './vocabulary.ts';

/** The supported dialects (REG-12). */
export type Dialect = 'draft-07' | '2019-09' | '2020-12';

const AJV: Readonly<Record<Dialect, (options: Options) => Ajv>> = {
  'draft-07': (options) => new Ajv(options),
  '2019-09': (options) => new Ajv2019(options) as unknown as Ajv,
  '2020-12': (options) => new Ajv2020(options) as unknown as Ajv,
};

/** `$schema` without scheme and empty fragment. draft-06 is treated as draft-07, which only adds to it. */
const BY_URI: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft-06/schema', 'draft-07'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/** Dialect and keywords of a schema. */
export interface Declared {
  readonly dialect: Dialect;
  /** Keywords that a known meta-schema leaves out of its vocabularies. */
  readonly without: ReadonlySet<string>;
}

/**
 * The dialect that a schema declares, default 2020-12; a fault for any other. draft-04 is refused: its boolean
 * `exclusiveMinimum` and its `id` have another meaning today, so validation would be wrong.
 * @param known documents searched for a custom meta-schema
 */
export function dialectOf(schema: JsonSchemaObject, known?: KnownDocuments): Declared | Fault {
  const declared = schema['$schema'];
  if (declared === undefined) return { dialect: '2020-12', without: NONE };
  const dialect = typeof declared === 'string' ? byUri(declared) : undefined;
  if (dialect !== undefined) return { dialect, without: NONE };
  const own = typeof declared === 'string' ? known?.get(addressOf(declared)) : undefined;
  return (own === undefined ? undefined : declaredBy(own)) ?? unsupported();
}

const NONE: ReadonlySet<string> = new Set();
const byUri = (uri: string): Dialect | undefined => BY_URI.get(uri.replace(/^https?:\/\//, '').replace(/#$/, ''));

/** Declaration by the `$vocabulary` of a custom meta-schema; undefined when it requires an unknown one. */
function declaredBy(metaSchema: JsonSchemaObject): Declared | undefined {
  const dialect = byUri(String(metaSchema['$schema']));
  const without = keywordsLeftOut(metaSchema['$vocabulary']);
  return dialect === undefined || without === undefined ? undefined : { dialect, without };
}

const unsupported = (): Fault =>
  faultAt(
    '/$schema',
    'E3008',
    '$schema',
    'The schema declares a dialect that is not supported.',
    'Use draft-07, 2019-09 or 2020-12, for example "https://json-schema.org/draft/2020-12/schema", or leave $schema out.',
  );

/** A fresh Ajv of a dialect. Each schema gets its own, since an Ajv never frees what it compiled. */
export function createAjv(dialect: Dialect, options: Options): Ajv {
  return AJV[dialect](options);
}
