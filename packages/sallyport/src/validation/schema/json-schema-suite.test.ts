import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { createSchemaValidator } from '../schema-validator.ts';

const corpus = new URL('../../../../../../shared/corpora/json-schema/', import.meta.url);
const suite = new URL('tests/draft2020-12/', corpus);
const isThere = existsSync(suite);

interface Group {
  readonly description: string;
  readonly schema: JsonSchemaObject | boolean;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

const files = isThere ? readdirSync(suite).filter((name) => name.endsWith('.json')) : [];
const groupsOf = (file: string): Group[] => JSON.parse(readFileSync(new URL(file, suite), 'utf8'));

/** The documents that the suite expects at http://localhost:1234/. */
function remotes(): Record<string, JsonSchemaObject> {
  const folder = new URL('remotes/', corpus);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    names.map((name) => [`http://localhost:1234/${name}`, JSON.parse(readFileSync(new URL(name, folder), 'utf8'))]),
  );
}

function wrongIn(validator: ReturnType<typeof createSchemaValidator>, file: string): string[] {
  return groupsOf(file).flatMap(({ schema, description, tests }) => {
    const made = validator.compile(typeof schema === 'boolean' ? { allOf: [schema] } : schema);
    if (isFailure(made)) return tests.map((one) => `${description}: ${one.description} (${made.message})`);
    return tests
      .filter((one) => (made.check(one.data, { coerce: false }).faults.length === 0) !== one.valid)
      .map((one) => `${description}: ${one.description}`);
  });
}

describe.skipIf(!isThere)('JSON Schema Test Suite, 2020-12, formats as annotations', () => {
  const validator = createSchemaValidator({ formats: 'annotate', ...(isThere ? { known: remotes() } : {}) });

  test.each(files)('REG-12.1 every required case of %s', (file) => {
    expect(wrongIn(validator, file)).toEqual([]);
  });
});

describe.skipIf(!isThere)('JSON Schema Test Suite, 2020-12, as the layer judges', () => {
  const validator = createSchemaValidator();

  test('VAL-05 what stands elsewhere is refused, formats judge, and nothing else differs', () => {
    const differing = files.filter((file) => wrongIn(validator, file).length > 0);
    expect(differing).toEqual(['dynamicRef.json', 'format.json', 'refRemote.json', 'vocabulary.json']);
    expect(wrongIn(validator, 'refRemote.json').every((name) => name.includes('cannot be used'))).toBe(true);
  });
});
