import { MiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { createTextLog } from './text-log.ts';

test('texts come back whole, short ones, long ones and those of many bytes', () => {
  const log = createTextLog();
  const texts = [
    '',
    'a',
    'é🙂\0',
    'x'.repeat(MiB),
    '🙂'.repeat(MiB),
    'after',
    ...Array.from({ length: 5_000 }, (_, at) => `${at}`.repeat(200)),
  ];
  const places = texts.map((text) => log.add(text));
  expect(places.every((place, at) => log.at(place) === texts[at])).toBe(true);
  expect(new Set(places).size).toBe(texts.length);
  expect(log.at(log.add('first ', 'second'))).toBe('first second');
});
