import { expect, test } from 'vitest';
import { createSchemaValidator } from '../../validation/schema-validator.ts';
import { readCases } from './read-cases.ts';

const schemas = createSchemaValidator();
const read = (text: string, name = 'a.test.toml') => readCases([{ name, text }], schemas);
const CASE = { name: 'x', tool: { tool_id: 'a' }, expect: 'deny' };

test('tests are read from TOML and JSON', () => {
  const toml = '[[cases]]\nname = "x"\nexpect = "deny"\ntool.tool_id = "a"\n';
  expect(read(toml)).toEqual({ cases: [{ file: 'a.test.toml', wanted: CASE }], faults: [] });
  for (const whole of [[CASE], { cases: [CASE] }])
    expect(read(JSON.stringify(whole), 'b.test.json').cases).toEqual([{ file: 'b.test.json', wanted: CASE }]);
});

test.each([
  ['not TOML at all', 'a.test.toml: '],
  ['', 'it holds no list of cases'],
  ['[[case]]\nname = "x"', 'there is no key case'],
  ['[[cases]]\nname = "x"\nexpect = "perhaps"\ntool.tool_id = "a"', 'case 1: /expect'],
  ['[[cases]]\nname = "x"\nexpect = "allow"\ntool.tool_id = "a"\ntool.sideeffect = "pure"', 'case 1: /tool'],
])('%s is a fault with its place', (text, said) => {
  const { cases, faults } = read(text);
  expect(cases).toEqual([]);
  expect(faults[0]?.message).toContain(said);
});
