import { describe, expect, test } from 'vitest';
import {
  bytesToMb,
  msToSeconds,
  numberAboveZero,
  numbersToTexts,
  patternLines,
  retriesToAttempts,
  same,
  sameForAll,
  sameWith,
  textToList,
  whenFalse,
  words,
  yearsToDays,
} from './conversions.ts';
import { migrateSettings } from './migrate-settings.ts';
import { settingsText } from './settings-text.ts';
import { allLeft, keysOf, left, taken } from './source-key.ts';

const NUMBER = 'must be a number';
const TEXT = 'must be a text';

describe('a conversion says which settings it sets, what differs, and what is wrong with a value', () => {
  test.each([
    [same('calls.max', 'a remark'), ['calls.max'], 'a remark', [[7, { 'calls.max': 7 }]]],
    [same('calls.max'), ['calls.max'], '', [['x', { 'calls.max': 'x' }]]],
    [sameForAll(['calls.max', 'log.level']), ['calls.max', 'log.level'], '', [[7, { 'calls.max': 7, 'log.level': 7 }]]],
    [
      sameWith('data_folder', { 'log.level': 'warn', 'calls.max': 2 }),
      ['data_folder', 'log.level', 'calls.max'],
      'sets log.level = "warn", calls.max = 2 too',
      [
        ['/x', { data_folder: '/x', 'log.level': 'warn', 'calls.max': 2 }],
        [7, TEXT],
      ],
    ],
    [
      msToSeconds('calls.timeout_seconds'),
      ['calls.timeout_seconds'],
      'ms to seconds',
      [
        [1_500, { 'calls.timeout_seconds': 1.5 }],
        ['1', NUMBER],
        [Number.NaN, NUMBER],
        [Number.POSITIVE_INFINITY, NUMBER],
      ],
    ],
    [
      yearsToDays('checkpoints.archive_days'),
      ['checkpoints.archive_days'],
      'years to days',
      [
        [7, { 'checkpoints.archive_days': 2557 }],
        [null, NUMBER],
      ],
    ],
    [
      bytesToMb('calls.memory_mb'),
      ['calls.memory_mb'],
      'bytes to MB, rounded down, at least 1',
      [
        [3 * 2 ** 20 - 1, { 'calls.memory_mb': 2 }],
        [1, { 'calls.memory_mb': 1 }],
        [0, 'must be more than 0'],
        [-1, 'must be more than 0'],
        ['1', NUMBER],
      ],
    ],
    [
      retriesToAttempts('calls.max'),
      ['calls.max'],
      'retries to attempts: one more; for all tools',
      [
        [3, { 'calls.max': 4 }],
        [true, NUMBER],
      ],
    ],
    [
      numberAboveZero('calls.max'),
      ['calls.max'],
      '0 is refused: it would be any number here',
      [
        [1, { 'calls.max': 1 }],
        [0, expect.stringContaining('must be 1 or more')],
        ['1', NUMBER],
      ],
    ],
    [
      numbersToTexts('shell.auto_rollback_exit_codes'),
      ['shell.auto_rollback_exit_codes'],
      'each number as a text',
      [
        [[1, 2], { 'shell.auto_rollback_exit_codes': ['1', '2'] }],
        [[], { 'shell.auto_rollback_exit_codes': [] }],
        [[1, 1.5], 'must be a list of whole numbers'],
        [1, 'must be a list of whole numbers'],
      ],
    ],
    [
      textToList('tokens.algorithms'),
      ['tokens.algorithms'],
      'a list with this one entry',
      [
        ['RS256', { 'tokens.algorithms': ['RS256'] }],
        [['RS256'], TEXT],
      ],
    ],
    [
      words({ on: { 'log.level': 'warn' }, off: { 'log.level': 'error', 'calls.max': 1 } }),
      ['log.level', 'calls.max'],
      'on: log.level = "warn"; off: log.level = "error", calls.max = 1',
      [
        ['off', { 'log.level': 'error', 'calls.max': 1 }],
        ['toString', 'must be one of on, off'],
        [1, 'must be one of on, off'],
      ],
    ],
    [
      whenFalse({ 'calls.max': 1 }),
      ['calls.max'],
      'false: calls.max = 1; true: as by default',
      [
        [false, { 'calls.max': 1 }],
        [true, {}],
        ['false', 'must be true or false'],
      ],
    ],
    [
      patternLines('sanitise.patterns'),
      ['sanitise.patterns'],
      expect.stringContaining('each table as THREAT ACTION PATTERN'),
      [
        [[{ threat_type: 'xss', action: 'reject', regex_pattern: 'a b' }], { 'sanitise.patterns': ['xss reject a b'] }],
        ...[
          [{ threat_type: 'xss' }],
          ['xss'],
          [null],
          'xss',
          [{ threat_type: 1, action: 'a', regex_pattern: 'b' }],
        ].map((wrong) => [wrong, expect.stringContaining('must be a list of tables')]),
      ],
    ],
  ])('OPS-06.1 %#', (conversion, settings, means, cases) => {
    expect([conversion.settings, conversion.means]).toEqual([settings, means]);
    expect(conversion.wins).toBe(String(means).startsWith('false: ') ? true : undefined);
    for (const [value, converted] of cases) expect(conversion.convert(value)).toEqual(converted);
  });

  test('OPS-06.1 a row of the table has its place, its reason or its conversion, and a default where the source states one', () => {
    const conversion = same('calls.max');
    expect(keysOf('000', '3.3', 'a.', [taken('b', conversion, 7), left('c', 'no such thing')])).toEqual([
      { key: 'a.b', source: '000', section: '3.3', became: conversion, default: 7 },
      { key: 'a.c', source: '000', section: '3.3', became: { left: 'no such thing' } },
    ]);
    expect([taken('b', conversion), left('c', 'why', false)]).toStrictEqual([
      { key: 'b', became: conversion },
      { key: 'c', became: { left: 'why' }, default: false },
    ]);
    expect(allLeft('why', { a: 1, b: undefined })).toStrictEqual([
      { key: 'a', became: { left: 'why' }, default: 1 },
      { key: 'b', became: { left: 'why' } },
    ]);
  });
});

test('OPS-06.2 a settings file has each table once, each setting with the key that it comes from, and no line of a key', () => {
  const origins = new Map([['calls.max', 'config.max (000 3.3)']]);
  const notes = [{ key: 'a\nb', why: 'is no key' }];
  expect(settingsText({ 'calls.max': 3, 'calls.per_agent_max': 2, 'log.level': 'warn' }, origins, notes)).toBe(
    [
      '# a b: is no key',
      '',
      '[log]',
      '# from the specification',
      'level = "warn"',
      '',
      '[calls]',
      '# from the specification',
      'per_agent_max = 2',
      '# from config.max (000 3.3)',
      'max = 3',
      '',
    ].join('\n'),
  );
});

describe('names of keys in notes', () => {
  const notes = (file: object) => migrateSettings(JSON.stringify(file), 'file.json').notes;

  test('OPS-06.2 are written as their source would, and cut where nobody reads them', () => {
    expect(notes({ 'no such': { key: 1 } })).toEqual([{ key: '"no such"', why: 'is no key of the specifications' }]);
    expect(notes({ toolbox: { 'x y': 1 } })[0]?.key).toBe('toolbox."x y"');
    const [long, most] = ['x'.repeat(201), 'x'.repeat(200)];
    expect(notes({ [long]: 1 })[0]?.key).toBe(`${most}…`);
    expect(notes({ [most]: 1 })[0]?.key).toBe(most);
    expect(notes({ toolbox: { default_timeout: null } })).toEqual([]);
  });

  test('OPS-06.2 all faults are in the details, and faults of a start only where there is no other', () => {
    const faulty = { toolbox: { default_timeout: 'x' }, permission_checker: { jwt_algorithm: 'none' }, executor: 1 };
    const thrown = (file: object) => {
      try {
        notes(file);
        return [];
      } catch (cause) {
        return (cause as { failure: { details: { faults: string[] } } }).failure.details.faults;
      }
    };
    expect(thrown(faulty)).toEqual([
      'executor must be a table of keys',
      'toolbox.default_timeout must be a number (calls.timeout_seconds, in seconds)',
    ]);
    expect(thrown({ permission_checker: { jwt_algorithm: 'none' } })).toEqual([
      expect.stringMatching(/^permission_checker\.jwt_algorithm \(.*\): tokens\.algorithms must name.*EdDSA$/),
    ]);
  });
});
