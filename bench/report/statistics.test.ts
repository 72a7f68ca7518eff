import { expect, test } from 'vitest';
import { median, percentile, timeSeries } from './statistics.ts';

test('the median is the value in the middle, or the mean of the two there', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeUndefined();
});

test('a percentile is one of the values', () => {
  const values = Float64Array.from({ length: 100 }, (_, index) => index + 1);
  expect(percentile(values, 0.5)).toBe(50);
  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile(values, 1)).toBe(100);
  expect(percentile(Float64Array.of(7), 0.99)).toBe(7);
});

test('a series keeps all times, beyond its first capacity too', () => {
  const series = timeSeries();
  for (let time = 70_000; time > 0; time -= 1) series.add(time);
  expect(series.count()).toBe(70_000);
  expect(series.sorted()[0]).toBe(1);
  expect(series.sorted().at(-1)).toBe(70_000);
});
