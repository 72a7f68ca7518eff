import { expect, test } from 'vitest';
import { judgedArguments } from './call-environment.ts';

test('EXE-10 whoever judges a call sees its variables beside its arguments, which stay as they are', () => {
  const parameters = { environment: 'an argument', n: 1 };
  expect(judgedArguments(parameters, undefined)).toBe(parameters);
  expect(judgedArguments(parameters, { PROJECT: 'a' })).toEqual({
    ...parameters,
    'execution_options.environment': { PROJECT: 'a' },
  });
});
