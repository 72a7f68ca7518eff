import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { type Dialect, dialectOf } from '../dialect.ts';
import { faultAt } from '../faults/fault.ts';
import type { KnownDocuments } from '../known-documents.ts';
import { metaValidatorOf } from '../meta/meta-validator.ts';
import { isSchemaObject, resolveReferences } from '../references.ts';
import { boundsFault } from '../schema-bounds.ts';
import { copySchema } from './copy-schema.ts';
import type { OwnSchema } from './own-node.ts';

/** Meta-schema faults beyond this many are not listed. */
const META_FAULTS_MAX = 20;

/** What a schema is read by. */
export interface ReadOptions {
  /** Documents that a reference or `$schema` may name, beside the official meta-schemas. */
  readonly known?: KnownDocuments;
  /** Whether `format` judges. */
  readonly assertFormats: boolean;
}

/** The schema in our own form, or every fault that keeps it from being one. Faults carry E3008 and a pointer into the schema. */
export function ownSchema(
  schema: JsonSchemaObject,
  { known, assertFormats }: ReadOptions,
): OwnSchema | readonly Fault[] {
  if (!isSchemaObject(schema)) return [faultAt('', 'E3008', 'type', 'The schema is not a JSON object.')];
  const beyond = boundsFault(schema);
  if (beyond !== undefined) return [beyond];
  const declared = dialectOf(schema, known);
  if (!('dialect' in declared)) return [declared];
  const badShape = metaFaults(schema, declared.dialect);
  if (badShape.length > 0) return badShape;
  const references = resolveReferences(schema, declared.dialect, known);
  const own = copySchema(schema, references, { ...declared, assertFormats });
  const faults = [...references.faults, ...(isFaults(own) ? own : [])];
  return faults.length > 0 ? faults : own;
}

/** Whether reading a schema ended with faults. */
export const isFaults = (own: OwnSchema | readonly Fault[]): own is readonly Fault[] => Array.isArray(own);

function metaFaults(schema: JsonSchemaObject, dialect: Dialect): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const { instancePath, keyword, message = '', params } of metaValidatorOf(dialect)(schema)) {
    if (seen.has(instancePath) || faults.length === META_FAULTS_MAX) continue;
    seen.add(instancePath);
    const allowed = Array.isArray(params['allowedValues']) ? `: ${params['allowedValues'].join(', ')}` : '';
    const hint =
      instancePath.endsWith('/items') && dialect === '2020-12'
        ? 'In 2020-12 a list of schemas stands under prefixItems; or declare draft-07 in $schema.'
        : `Correct it as ${dialect} asks.`;
    faults.push(
      faultAt(instancePath, 'E3008', keyword, `The schema is not valid ${dialect}: ${message}${allowed}.`, hint),
    );
  }
  return faults;
}
