import { expect, test } from 'vitest';
import { judgedArguments } from './call-environment.ts';

test('EXE-10 DOC-05 ORC-03 whoever judges a call sees its variables and documents beside its arguments, which stay as they are', () => {
  const parameters = { environment: 'an argument', n: 1 };
  expect(judgedArguments(parameters, {})).toBe(parameters);
  expect(judgedArguments(parameters, { execution_options: { environment: { PROJECT: 'a' } } })).toEqual({
    ...parameters,
    'execution_options.environment': { PROJECT: 'a' },
  });
  const document_context = { document_refs: ['plan'] };
  expect(judgedArguments({ ...parameters, document_context: 'forged' }, { document_context })).toEqual({
    ...parameters,
    document_context,
  });
});
