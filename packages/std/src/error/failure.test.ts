import { describe, expect, test } from 'vitest';
import { errorBody, failure, isFailure } from './failure.ts';
import { messageOf } from './message-of.ts';
import { failureOf, ToolLayerError } from './tool-layer-error.ts';

test('a failure is told from other values', () => {
  expect(isFailure(failure('E3001', 'No such tool.'))).toBe(true);
  for (const other of [undefined, null, 'failed', 0, {}, { failed: 'true' }, { failed: false }, new Error('x')]) {
    expect(isFailure(other)).toBe(false);
  }
});

test('of whatever was thrown there is a text', () => {
  expect([new TypeError('odd'), 'text', undefined, { x: 1 }].map(messageOf)).toEqual([
    ...['odd', 'text', 'undefined', '[object Object]'],
  ]);
});

describe('PIPE-04 an error on its way out', () => {
  test('carries the row of the catalogue, the message and the details', () => {
    const failed = failure('E3509', 'Two arguments have faults.', { details: { faults: [] } });
    expect(errorBody(failed)).toEqual({
      code: 'invalid_parameters',
      e_code: 'E3509',
      category: 'InvalidParameters',
      message: 'Two arguments have faults.',
      retryable: false,
      details: { faults: [] },
    });
  });

  test('PIPE-04.7 never carries the cause or a stack', () => {
    const cause = new Error('password=hunter2');
    const text = JSON.stringify(errorBody(failure('E3304', 'The service failed.', { cause })));
    expect(text).not.toMatch(/hunter2|cause|stack/);
  });

  test('says in whole ms when to try again, never too early', () => {
    expect(errorBody(failure('E3303', 'Wait.', { retryAfterMs: 12.001 }))).toMatchObject({ retry_after_ms: 13 });
    expect(errorBody(failure('E3303', 'Wait.', { retryAfterMs: 0 }))).toMatchObject({ retry_after_ms: 0 });
    expect(errorBody(failure('E3303', 'Wait.'))).not.toHaveProperty('retry_after_ms');
  });

  test('PIPE-04.5 what is thrown by accident becomes an internal error that keeps its cause for the operator', () => {
    const cause = new TypeError('x is not a function');
    const failed = failureOf(cause);
    expect(failed).toMatchObject({ failed: true, code: 'E3900', cause });
    expect(failed.message).not.toContain('x is not');
    expect(failureOf('a text').cause).toBe('a text');
    expect(failureOf(undefined).code).toBe('E3900');
  });

  test('an error of the layer keeps its failure whole', () => {
    const cause = new Error('inner');
    const failed = failure('E3304', 'The service failed.', { cause, retryAfterMs: 5, details: { status: 503 } });
    const error = ToolLayerError.of(failed);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'ToolLayerError', code: 'E3304', message: 'The service failed.', cause });
    expect(failureOf(error)).toEqual(failed);
  });

  test('an error without a cause has none', () => {
    expect(new ToolLayerError('E3001', 'No such tool.').cause).toBeUndefined();
  });
});
