import { expect, test } from 'vitest';
import { readSettings } from '../../read-settings.ts';
import { keptResultsOf } from './kept-results.ts';

const settings = (given: Record<string, number>) => readSettings({ given, environment: {} });

test('PIPE-07 results are kept for 90 days where nobody says, or for good', () => {
  expect(keptResultsOf(settings({}))).toEqual({ keepResultsMs: 90 * 86_400_000 });
  expect(keptResultsOf(settings({ 'calls.result_retention_days': 0 }))).toEqual({});
});

test('PIPE-09 results are kept as long as duplicates are answered with them', () => {
  const day = { 'calls.result_retention_days': 1 };
  expect(keptResultsOf(settings({ ...day, 'idempotency.ttl_seconds': 86_400 }))).toEqual({ keepResultsMs: 86_400_000 });
  expect(() => keptResultsOf(settings({ ...day, 'idempotency.ttl_seconds': 86_401 }))).toThrow(
    expect.objectContaining({ code: 'E3801', message: expect.stringContaining('at least as long') }),
  );
});
