import { inspect } from 'node:util';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { fileFault, parseToml, parseTomlAs } from './toml-file.ts';

const fault = fileFault('file of webhooks', 'hooks.toml');
const Hooks = Type.Object({ secret: Type.String(), at: Type.Optional(Type.String()) }, { additionalProperties: false });

/** Everything that a program prints of an error which nobody catches. */
const printed = (run: () => unknown): string => {
  try {
    return `no error: ${JSON.stringify(run())}`;
  } catch (thrown) {
    return inspect(thrown, { depth: Number.POSITIVE_INFINITY });
  }
};

describe('OPS-01 a file in TOML', () => {
  test('gives the values of its schema, with dates as texts', () => {
    const values = parseTomlAs('secret = "s"\nat = 2026-01-02T03:04:05Z', Hooks, fault);
    expect(values).toEqual({ secret: 's', at: '2026-01-02T03:04:05.000Z' });
  });

  test('that is no TOML is refused with line, column and reason', () => {
    expect(() => parseToml('a = 1\nb = "open\n', fault)).toThrow(
      expect.objectContaining({
        code: 'E3801',
        message:
          'The file of webhooks hooks.toml is not TOML in line 2, column 10: control characters are not allowed in strings.',
      }),
    );
  });

  test('names the place of five faults at the most', () => {
    const many = Array.from({ length: 9 }, (_, n) => `k${n} = 1`).join('\n');
    const text = printed(() => parseTomlAs(many, Type.Record(Type.String(), Type.String()), fault));
    expect(text).toContain('has faults: /k0 must be string; /k1');
    expect(text).toContain('/k4 ');
    expect(text).not.toContain('/k5 ');
  });

  test.each([
    'secret = "planted-secret\n',
    'secret = planted-secret',
    'secret = "planted-secret"\nsecret = "planted-secret"',
    'secret = ["planted-secret"]',
  ])('shows none of its values in an error, nor in what caused it: %j', (text) => {
    const shown = printed(() => parseTomlAs(text, Hooks, fault));
    expect(shown).toContain('E3801');
    expect(shown).not.toContain('planted-secret');
  });
});
