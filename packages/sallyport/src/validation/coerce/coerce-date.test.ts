import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateFrom, dateTimeFrom, dateTimeFromEpoch } from './coerce-date.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
/** From the tenth of December 2026 on. */
const DAYS = 'Thursday Friday Saturday Sunday Monday Tuesday Wednesday'.split(' ');

describe('VAL-02 a day', () => {
  test.each([
    ['2026-01-05', '2026-01-05'],
    ['2026-1-5', '2026-01-05'],
    ['2026/01/05', '2026-01-05'],
    ['2026.1.05', '2026-01-05'],
    ['20260105', '2026-01-05'],
    ['5 Jan 2026', '2026-01-05'],
    ['5-Jan-2026', '2026-01-05'],
    ['Mon, 05 January 2026', '2026-01-05'],
    ['January 5, 2026', '2026-01-05'],
    ['Monday, Jan 5 2026', '2026-01-05'],
    ['2024-02-29', '2024-02-29'],
    ['0099-12-31', '0099-12-31'],
    ['9999.12.31', '9999-12-31'],
    ['2026-1-31', '2026-01-31'],
    ['mon, 5 jan 2026', '2026-01-05'],
    ['MONDAY 05 JANUARY 2026', '2026-01-05'],
    ['Mon Jan 5 2026', '2026-01-05'],
    ['sunday, december 27, 2026', '2026-12-27'],
    ...MONTHS.flatMap((name, at): [string, string][] => {
      const day = `2026-${String(at + 1).padStart(2, '0')}-01`;
      return [
        [`1 ${name.slice(0, 3)} 2026`, day],
        [`${name} 1, 2026`, day],
      ];
    }),
    ...DAYS.flatMap((name, at): [string, string][] => [
      [`${name}, 1${at} Dec 2026`, `2026-12-1${at}`],
      [`${name.slice(0, 3)}, 1${at} Dec 2026`, `2026-12-1${at}`],
    ]),
  ])('%s is %s', (text, day) => {
    expect(dateFrom(text)).toBe(day);
  });

  test.each([
    ['two readings', '05/01/2026'],
    ['two readings', '05-01-2026'],
    ['two separators', '2026-01/05'],
    ['seven digits', '2026105'],
    ['a month of three digits', '2026-001-05'],
    ['no month', '2026-00-05'],
    ['no day', '0 Jan 2026'],
    ['a day that there is not', '31 Apr 2026'],
    ['a month of five letters', '5 Janua 2026'],
    ['half a weekday', 'Mond, 5 Jan 2026'],
    ['a weekday that does not fit', 'Sunday, Jan 5 2026'],
    ['something before it', 'x2026-01-05'],
    ['something after it', '5 Jan 2026 x'],
    ['a year of two digits', '26-01-05'],
    ['a day that there is not', '2026-02-30'],
    ['a day that there is not', '2023-02-29'],
    ['a month that there is not', '2026-13-01'],
    ['no day', '2026-01-00'],
    ['a weekday that does not fit', 'Tue, 05 Jan 2026'],
    ['a word that is no month', '5 Foo 2026'],
    ['a time that would be lost', '2026-01-05T00:00:00Z'],
    ['white space', ' 2026-01-05'],
    ['nothing', ''],
    ['a number', '1767607200'],
    ['a word', 'tomorrow'],
    ['digits of another script', '٢٠٢٦-٠١-٠٥'],
    ['a long text', `5 Jan 2026${' '.repeat(100)}`],
  ])('%s: %s is refused', (_why, text) => {
    expect(dateFrom(text)).toBeUndefined();
  });
});

describe('VAL-02 an instant', () => {
  test.each([
    ['2026-01-05T10:00Z', '2026-01-05T10:00:00Z'],
    ['2026-01-05 10:00:00+02', '2026-01-05T10:00:00+02:00'],
    ['2026-01-05t10:00:00.5-0530', '2026-01-05T10:00:00.5-05:30'],
    ['2026-01-05T10:00:00,25Z', '2026-01-05T10:00:00.25Z'],
    ['20260105T100000Z', '2026-01-05T10:00:00Z'],
    ['2026/1/5 10:00 UTC', '2026-01-05T10:00:00Z'],
    ['Mon, 05 Jan 2026 10:00:00 GMT', '2026-01-05T10:00:00Z'],
    ['5 January 2026 10:00 +0100', '2026-01-05T10:00:00+01:00'],
    ['2026-01-05T23:59:59.123456789-23:59', '2026-01-05T23:59:59.123456789-23:59'],
    ['2026-01-05T00:00:00+00:00', '2026-01-05T00:00:00+00:00'],
    ['2026-01-05T1059Z', '2026-01-05T10:59:00Z'],
    ['2026-01-05T105958.5z', '2026-01-05T10:59:58.5Z'],
    ['2026-01-05 10:00:00utc', '2026-01-05T10:00:00Z'],
    ['January 5, 2026 10:00Z', '2026-01-05T10:00:00Z'],
  ])('%s is %s', (text, instant) => {
    expect(dateTimeFrom(text)).toBe(instant);
  });

  test.each([
    ['no offset', '2026-01-05T10:00:00'],
    ['no time', '2026-01-05'],
    ['no day', '10:00:00Z'],
    ['a name of a zone', '2026-01-05T10:00:00 CET'],
    ['an hour that there is not', '2026-01-05T24:00:00Z'],
    ['a minute that there is not', '2026-01-05T10:60Z'],
    ['an offset that there is not', '2026-01-05T10:00:00+24:00'],
    ['an offset that there is not', '2026-01-05T10:00:00+23:60'],
    ['no minutes', '2026-01-05T10Z'],
    ['a leap second', '2026-12-31T23:59:60Z'],
    ['a second that there is not', '2026-12-31T23:59:61Z'],
    ['a fraction of ten digits', '2026-01-05T10:00:00.1234567890Z'],
    ['two blanks', '2026-01-05  10:00Z'],
    ['a day that there is not', '2026-02-30T10:00Z'],
    ['a long text', `2026-01-05T10:00Z${' '.repeat(60)}`],
    ['two readings', '05/01/2026 10:00Z'],
    ['am and pm', '2026-01-05 10:00 pm'],
    ['a number', '1767607200'],
    ['many blanks', '2 '.repeat(40)],
  ])('%s: %s is refused', (_why, text) => {
    expect(dateTimeFrom(text)).toBeUndefined();
  });

  test('whatever comes out is the instant that went in', () => {
    const instants = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(instants, (date) => {
        for (const text of [date.toISOString().replace('T', ' '), date.toISOString().toLowerCase()])
          expect(Date.parse(dateTimeFrom(text) ?? '')).toBe(date.getTime());
        const seconds = Math.floor(date.getTime() / 1000) * 1000;
        expect(Date.parse(dateTimeFrom(date.toUTCString()) ?? '')).toBe(seconds);
      }),
    );
  });
});

describe('VAL-02 a number as an instant', () => {
  test.each([
    [1_767_607_200, '2026-01-05T10:00:00Z'],
    [1_767_607_200_000, '2026-01-05T10:00:00.000Z'],
    [1_000_000_000, '2001-09-09T01:46:40Z'],
    [4_102_444_799, '2099-12-31T23:59:59Z'],
    [4_102_444_800, undefined],
    [999_999_999, undefined],
    [1_000_000_000_000, '2001-09-09T01:46:40.000Z'],
    [999_999_999_999, undefined],
    [4_102_444_799_999, '2099-12-31T23:59:59.999Z'],
    [4_102_444_800_000, undefined],
    [0, undefined],
    [1_767_607, undefined],
    [1_767_607_200.5, undefined],
    [1_767_607_200_000_000, undefined],
    [-1_767_607_200, undefined],
  ])('%d is %s', (number, instant) => {
    expect(dateTimeFromEpoch(number)).toBe(instant);
  });
});
