import { expect, test } from 'vitest';
import { besidePeer, figureOf } from './figure.ts';
import { reportTable } from './table.ts';

test('a figure holds up to its bound and no further', () => {
  expect(figureOf('f', 'ms', 1, { atMost: 1 })).toEqual({
    figure: 'f',
    value: 1,
    unit: 'ms',
    target: '<= 1',
    holds: true,
  });
  expect(figureOf('f', 'ms', 1.001, { atMost: 1 }).holds).toBe(false);
  expect(figureOf('f', 'calls/s', 4000, { atLeast: 4000 }).holds).toBe(true);
  expect(figureOf('f', 'calls/s', 3999, { atLeast: 4000 }).holds).toBe(false);
});

test('what was not measured neither holds nor fails', () => {
  expect(figureOf('f', 'ms', undefined, { atMost: 1 })).toMatchObject({ value: null, target: '<= 1', holds: null });
});

test('a value has three digits, or all that stand before the point', () => {
  expect(figureOf('f', 'ms', 0.123456).value).toBe(0.123);
  expect(figureOf('f', 'calls/s', 12_345.6).value).toBe(12_346);
});

test('the table names a figure once and shows its peers below', () => {
  const figure = figureOf('speed', 'ms', 1, { atMost: 2 });
  const figures = [figure, besidePeer(figureOf('speed', 'ms', 1), 'other', 3)];
  const table = reportTable({ bench: 'b', node: 'v1', load: { average_1m: 0.5, cpus: 2 }, figures });
  expect(table.match(/speed/g)).toHaveLength(1);
  expect(table).toContain('load before the run 0.5');
  expect(table).toMatch(/yes\n +other +3$/);
});
