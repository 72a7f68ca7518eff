import { MiB } from '@sallyport/std/bytes';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Settings } from '../../settings.ts';
import type { Conversion, Converted } from './source-key.ts';

type Key = keyof Settings;

/** The value is taken as it is. @param remark what differs all the same */
export const same = (setting: Key, remark = ''): Conversion => ({
  settings: [setting],
  means: remark,
  convert: (value) => set(setting, value),
});

/** The value is taken as it is, for several settings. */
export const sameForAll = (settings: readonly Key[]): Conversion => ({
  settings,
  means: '',
  convert: (value) => Object.fromEntries(settings.map((setting) => [setting, value])) as Partial<Settings>,
});

/** The value is taken as it is, and chooses another setting with it. */
export const sameWith = (setting: Key, also: Partial<Settings>): Conversion => ({
  settings: [setting, ...(Object.keys(also) as Key[])],
  means: `sets ${written(also)} too`,
  convert: (value) => (typeof value === 'string' ? { ...set(setting, value), ...also } : 'must be a text'),
});

/** A time in ms becomes one in seconds. */
export const msToSeconds = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'ms to seconds',
  convert: (value) => fromNumber(value, (ms) => set(setting, ms / 1000)),
});

/** A time in years becomes one in days, leap days included. */
export const yearsToDays = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'years to days',
  convert: (value) => fromNumber(value, (years) => set(setting, Math.ceil(years * 365.25))),
});

/** A size in bytes becomes whole MB of 1 048 576 bytes, at least 1; the rest is cut off, so that no limit grows. */
export const bytesToMb = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'bytes to MB, rounded down, at least 1',
  convert: (value) =>
    fromNumber(value, (bytes) =>
      bytes > 0 ? set(setting, Math.max(1, Math.floor(bytes / MiB))) : 'must be more than 0',
    ),
});

/** A number of retries becomes one of attempts of all tools, which counts the first one too. */
export const retriesToAttempts = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'retries to attempts: one more; for all tools',
  convert: (value) => fromNumber(value, (retries) => set(setting, retries + 1)),
});

/** A number of which 0 means none in the source, but any number here. */
export const numberAboveZero = (setting: Key): Conversion => ({
  settings: [setting],
  means: '0 is refused: it would be any number here',
  convert: (value) => fromNumber(value, (count) => (count === 0 ? ZERO : set(setting, count))),
});

const ZERO =
  'must be 1 or more: 0 allows nothing in the specification and any number here; leave it out for any number';

/** A list of numbers becomes one of texts. */
export const numbersToTexts = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'each number as a text',
  convert: (value) =>
    Array.isArray(value) && value.every((entry) => Number.isInteger(entry))
      ? set(setting, value.map(String))
      : 'must be a list of whole numbers',
});

/** One text becomes a list that holds it. */
export const textToList = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'a list with this one entry',
  convert: (value) => (typeof value === 'string' ? set(setting, [value]) : 'must be a text'),
});

/** One of some words, each of which stands for settings. */
export const words = (meaning: Readonly<Record<string, Partial<Settings>>>): Conversion => ({
  settings: keysIn(meaning),
  means: Object.entries(meaning)
    .map(([word, settings]) => `${word}: ${written(settings)}`)
    .join('; '),
  convert: (value) => {
    const settings = typeof value === 'string' && Object.hasOwn(meaning, value) ? meaning[value] : undefined;
    return settings ?? `must be one of ${Object.keys(meaning).join(', ')}`;
  },
});

/** True or false, of which false stands for settings and wins, and true for what the layer does anyway. */
export const whenFalse = (settings: Partial<Settings>): Conversion => ({
  settings: Object.keys(settings) as Key[],
  means: `false: ${written(settings)}; true: as by default`,
  wins: true,
  convert: (value) => (typeof value === 'boolean' ? (value ? {} : settings) : 'must be true or false'),
});

/** Tables of threat, pattern and action become lines of these three words. */
export const patternLines = (setting: Key): Conversion => ({
  settings: [setting],
  means: 'each table as THREAT ACTION PATTERN, in the syntax of RE2; looked for beside the rules of the layer',
  convert: (value) => {
    const lines = Array.isArray(value) ? value.map(patternLine) : [undefined];
    return lines.includes(undefined)
      ? 'must be a list of tables with the texts threat_type, regex_pattern and action'
      : set(setting, lines);
  },
});

function patternLine(entry: unknown): string | undefined {
  if (!isObject(entry)) return undefined;
  const parts = [entry['threat_type'], entry['action'], entry['regex_pattern']];
  return parts.every((part) => typeof part === 'string') ? parts.join(' ') : undefined;
}

/** Types of values are checked afterwards, by the row of the setting. */
const set = (setting: Key, value: unknown): Partial<Settings> => ({ [setting]: value });

const fromNumber = (value: unknown, convert: (number: number) => Converted): Converted =>
  Number.isFinite(value) ? convert(Number(value)) : 'must be a number';

const written = (settings: Partial<Settings>): string =>
  Object.entries(settings)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ');

const keysIn = (meaning: Readonly<Record<string, Partial<Settings>>>): readonly Key[] => [
  ...new Set(Object.values(meaning).flatMap((settings) => Object.keys(settings) as Key[])),
];
