import { expect, test } from 'vitest';
import { pointerTo } from './json-pointer.ts';

test('segments are appended, indices too', () => {
  expect(pointerTo('', 'a')).toBe('/a');
  expect(pointerTo('/a', 0)).toBe('/a/0');
  expect(pointerTo('/a', '')).toBe('/a/');
});

test('tilde and slash are escaped, in the order that RFC 6901 §3 needs', () => {
  expect(pointerTo('', 'a/b')).toBe('/a~1b');
  expect(pointerTo('', 'm~n')).toBe('/m~0n');
  expect(pointerTo('', '~1')).toBe('/~01');
});
