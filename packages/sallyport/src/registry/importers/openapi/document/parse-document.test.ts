import { describe, expect, test } from 'vitest';
import { parseDocument } from './parse-document.ts';

const refused = (text: string): { code: string; message: string; faults: readonly { message: string }[] } => {
  try {
    parseDocument(text);
  } catch (thrown) {
    const { code, message, failure } = thrown as {
      code: string;
      message: string;
      failure: { details: { faults: never } };
    };
    return { code, message, faults: failure.details.faults };
  }
  return expect.unreachable('the document must be refused');
};

test.each([
  ['{"openapi":"3.0.3","paths":{}}', '3.0'],
  ['\uFEFF  {"openapi":"3.1.0"}', '3.1'],
  ['openapi: 3.0.1\npaths: {}\n', '3.0'],
  ['openapi: 3.0\n', '3.0'],
  ['openapi: 3.1\n', '3.1'],
  ['swagger: "2.0"\n', '3.0'],
])('REG-02.3 %j is read as %s', (text, dialect) => expect(parseDocument(text).dialect).toBe(dialect));

describe('what cannot be read says why', () => {
  test.each([
    ['', /must be an object/],
    ['just words', /must be an object/],
    ['[1]', /must be an object/],
    ['{"openapi":', /no valid JSON/],
    ['a: b: c', /no valid YAML.*line 1/s],
    ['a: 1\na: 2', /Map keys must be unique/],
    ['{}', /says no version/],
    ['openapi: 4.0.0', /says "4.0.0"/],
    ['swagger: "1.2"', /says "1.2"/],
    ['{"openapi":"3.0.0","paths":[]}', /\/paths: must be an object/],
    ['<html>', /must be an object/],
  ])('%j', (text, message) => {
    const { code, message: told, faults } = refused(text);
    expect(code).toBe('E3008');
    expect(told).toMatch(message);
    expect(faults.length).toBeGreaterThan(0);
  });

  test('an alias bomb', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(10)}]`,
    );
    expect(refused(`openapi: 3.0.0\na0: &a0 [x]\n${levels.join('\n')}`).message).toMatch(/alias/i);
  });

  test('nesting that exhausts the stack', () => {
    expect(refused(`a: ${'['.repeat(100_000)}`).code).toBe('E3008');
  });

  test('more text than is read', () => {
    expect(refused(`openapi: 3.0.0\nx: ${'y'.repeat(5_000_000)}`).message).toMatch(/more than/);
  });
});

test('a member named like a prototype changes no prototype', () => {
  parseDocument('{"openapi":"3.0.0","__proto__":{"polluted":1}}');
  parseDocument('openapi: 3.0.0\n__proto__:\n  polluted: 1\n');
  expect({}).not.toHaveProperty('polluted');
});
