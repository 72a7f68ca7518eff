import { expect, test } from 'vitest';
import { quantityOf } from './quantity.ts';

test.each<[string | number | undefined, number | undefined]>([
  ['500m', 0.5],
  ['2', 2],
  [2, 2],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['128Mi', 134_217_728],
  ['1.5Gi', 1_610_612_736],
  ['1e3', 1000],
  ['1E3', 1000],
  ['100k', 100_000],
  ['1M', 1_000_000],
  ['', undefined],
  [undefined, undefined],
  ['-1', undefined],
  ['1K', undefined],
  ['Mi', undefined],
  ['1 Gi', undefined],
  ['1.2.3', undefined],
])('%j is %j', (text, number) => {
  expect(quantityOf(text)).toBe(number);
});
