import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shapeOf } from '../../../domain/shape/shape.ts';
import { createAjv, type Dialect } from '../dialect.ts';
import { joinedMetaSchema } from './joined-meta-schema.ts';
import { META_DOCUMENTS } from './meta-documents.ts';
import { metaValidatorOf } from './meta-validator.ts';

const DIALECTS: readonly Dialect[] = ['draft-07', '2019-09', '2020-12'];
/** Values of which each keyword accepts some, and all keywords but `const`, `default` and the like refuse some. */
const VALUES: readonly unknown[] = [
  ...[true, false, null, 0, 1, -1, 1.5, 'a', '', '^a', '[', '#/a', 'a b', 'string', [], ['a'], ['a', 'a'], [1, 1]],
  ...[['string', 'null'], ['strin'], {}, { a: true }, { a: 1 }, { a: ['b'] }, { a: ['b', 'b'] }, { a: { type: 'x' } }],
  ...[[{}], [true], [{ type: 5 }], [[]], { type: 'string' }, { type: 'x' }, { $ref: 5 }, { properties: [] }],
  ...[{ '[': {} }, { 'https://a.example/': true }, { items: [{}] }, { not: { maxLength: -1 } }, { minItems: 1.0 }],
];

function officialOf(dialect: Dialect) {
  const address = String(META_DOCUMENTS[dialect][0]?.['$id']);
  const ajv = createAjv(dialect, { strict: false, allErrors: true, validateFormats: false, logger: false });
  return ajv.getSchema(address) ?? expect.fail(`no ${address}`);
}

const keywordsOf = (dialect: Dialect): string[] => Object.keys(joinedMetaSchema(dialect)['properties'] as object);
describe.each(DIALECTS)('the joined meta-schema of %s', (dialect) => {
  const quick = shapeOf(joinedMetaSchema(dialect));
  const official = officialOf(dialect);

  test('REG-12 agrees with the official one on every keyword with good and bad values, at any depth', () => {
    const keywords = keywordsOf(dialect);
    expect(keywords).toEqual(expect.arrayContaining(['$ref', 'type', 'properties', 'items', 'minLength', 'if']));
    const verdicts = { good: 0, bad: 0 };
    for (const keyword of keywords)
      for (const value of VALUES)
        for (const schema of [{ [keyword]: value }, { properties: { p: { allOf: [{ [keyword]: value }] } } }]) {
          const isGood = official(schema) === true;
          verdicts[isGood ? 'good' : 'bad'] += 1;
          expect(quick(schema), JSON.stringify(schema)).toBe(isGood);
        }
    expect(verdicts.good).toBeGreaterThan(500);
    expect(verdicts.bad).toBeGreaterThan(500);
  });

  test('REG-12 agrees with the official one on whatever is put together', () => {
    const node = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(...VALUES),
        fc.dictionary(fc.constantFrom(...keywordsOf(dialect)), tie('value'), {
          maxKeys: 4,
          // Objects without a prototype do not occur in JSON, and Ajv does not compare them.
          noNullPrototype: true,
        }),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(node, (schema) => {
        expect(quick(schema)).toBe(official(schema));
      }),
      { numRuns: 3000 },
    );
  });

  test('REG-12 names the faults of the official one', () => {
    const validate = metaValidatorOf(dialect);
    expect(validate({ type: 'string', properties: { a: { minLength: 2 } } })).toEqual([]);
    expect(validate({ properties: { a: { minLength: -1 } }, required: 'a' })).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ instancePath: '/properties/a/minLength', keyword: 'minimum' }),
        expect.objectContaining({ instancePath: '/required', keyword: 'type' }),
      ]),
    );
    expect(validate({ pattern: '[' })).toEqual([]);
    expect(validate({ pattern: '[', minLength: -1 })).toMatchObject([{ instancePath: '/minLength' }]);
  });
});

test.each(DIALECTS)('the joined meta-schema of %s refers to nothing but itself', (dialect) => {
  const joined = JSON.stringify(joinedMetaSchema(dialect));
  const references = [...joined.matchAll(/"(\$\w*[rR]ef)":"([^"]*)"/g)].map(([, keyword, to = '']) => [
    keyword,
    to.split('/')[0],
  ]);
  expect(references.length).toBeGreaterThan(20);
  for (const reference of references) expect(reference).toEqual(['$ref', '#']);
});
