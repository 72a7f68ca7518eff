import { uniqueNames } from '@sallyport/std/text/unique-names';
import { patternJudge, SCHEMA_STEPS_MAX } from '../../../../domain/shape/patterns/pattern-judge.ts';
import { NotImportable } from '../document/not-importable.ts';
import type { OpenApiDocument } from '../document/parse-document.ts';
import { atPointer, localPointer } from '../document/reference.ts';
import { type Circles, findCircles } from './circles.ts';
import { type Conversion, convertSchema, type Judged, type Schema } from './convert-schema.ts';

/** Turns schemas of one document into self-contained schemas, with their references under `$defs`. */
export interface SchemaConverter {
  /**
   * The schema without definitions, and the pointers that it needs.
   * @throws NotImportable for references that cannot be followed
   */
  convert(schema: unknown, direction: Conversion['direction']): ConvertedSchema;
  /**
   * Definitions for these pointers and, transitively, all that they need; undefined when there are none.
   * @throws NotImportable for references that cannot be followed, and for more definitions than a schema may have
   */
  definitions(pointers: Iterable<string>, direction: Conversion['direction']): Schema | undefined;
}

/** A converted schema and the definitions that it refers to. */
export interface ConvertedSchema {
  readonly schema: Schema | boolean;
  readonly pointers: ReadonlySet<string>;
}

/** Most definitions of one schema: as many short ones have more characters than an operation may. */
const DEFINITIONS_MAX = 8_192;
/** The patterns of one document may cost as much as those of so many large schemas; further ones become words. */
const DOCUMENT_SCHEMAS = 4;

/** Makes the converter of one document. Each definition is converted once, for all operations. */
export function schemaConverter({ root, dialect }: OpenApiDocument): SchemaConverter {
  const circles = findCircles(root);
  const names = definitionNames();
  const judgePattern = patternJudge(DOCUMENT_SCHEMAS * SCHEMA_STEPS_MAX);
  const there = new Set<string>();
  const known = { request: new Map<string, ConvertedSchema>(), response: new Map<string, ConvertedSchema>() };

  const convert = (schema: unknown, direction: Conversion['direction'], at?: string): ConvertedSchema => {
    const pointers = new Set<string>();
    const refer = (reference: string, judges: Judged): string | undefined => {
      const target = localPointer(reference);
      if (at !== undefined && isCut(circles, at, target, judges)) return undefined;
      if (!there.has(target)) atPointer(root, target);
      there.add(target);
      pointers.add(target);
      return `#/$defs/${names(target)}`;
    };
    return { schema: convertSchema(schema, { dialect, direction, judgePattern, refer }), pointers };
  };

  const definition = (pointer: string, direction: Conversion['direction']): ConvertedSchema => {
    let converted = known[direction].get(pointer);
    if (converted === undefined) {
      converted = convert(atPointer(root, pointer), direction, pointer);
      known[direction].set(pointer, converted);
    }
    return converted;
  };

  return {
    convert,
    definitions(pointers, direction) {
      const needed = new Set(pointers);
      const definitions: Schema = {};
      // A Set also iterates over members that are added during the iteration.
      for (const pointer of needed) {
        const { schema, pointers: more } = definition(pointer, direction);
        definitions[names(pointer)] = schema;
        for (const next of more) needed.add(next);
        if (needed.size > DEFINITIONS_MAX)
          throw new NotImportable(`its schema needs more than ${DEFINITIONS_MAX} definitions`);
      }
      return needed.size === 0 ? undefined : definitions;
    },
  };
}

const isCut = (circles: Circles, from: string, to: string, judges: Judged): boolean =>
  judges !== 'part' && circles.isCut(from, to, judges);

/** Names for definitions: the last segment of the pointer, made unique by a number. */
function definitionNames(): (pointer: string) => string {
  const byPointer = new Map<string, string>();
  const unique = uniqueNames((name, number) => `${name}_${number}`);
  return (pointer) => {
    const known = byPointer.get(pointer);
    if (known !== undefined) return known;
    const last =
      pointer
        .split('/')
        .at(-1)
        ?.replaceAll(/[^A-Za-z0-9._-]/g, '_')
        .slice(0, 100) || 'document';
    const name = unique(last === '__proto__' ? 'proto' : last);
    byPointer.set(pointer, name);
    return name;
  };
}
