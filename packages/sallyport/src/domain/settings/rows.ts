import { TIMER_MS_MAX } from '@sallyport/std/timer-max';
import type { Setting } from './setting.ts';

/** Description that every setting has. */
interface Said<Value> {
  readonly default: Value;
  /** Its meaning, for the operator. */
  readonly sentence: string;
}

/** Description of a number. */
interface SaidOfNumber extends Said<number> {
  readonly unit?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Description of a time: the name of the function gives the unit. */
interface SaidOfTime extends Said<number> {
  readonly minimum?: number;
  readonly maximum?: number;
  /** True when only whole numbers of the unit are accepted. */
  readonly whole?: true;
  /** True when a timer counts it, so that it may be no longer than that can count. */
  readonly timed?: true;
}

/** The longest time of a setting: the ends that are computed from it are dates to every part. */
const CENTURY_MS = 36_525 * 86_400_000;

const MS_OF = { seconds: 1000, minutes: 60_000, days: 86_400_000 } as const;

/** A setting that is a whole number. */
export const integer = <const Key extends string>(key: Key, said: SaidOfNumber): Setting<Key, number> => ({
  key,
  type: 'integer',
  ...longest(said.unit),
  ...said,
});

/** A setting that is any number. */
export const number = <const Key extends string>(key: Key, said: SaidOfNumber): Setting<Key, number> => ({
  key,
  type: 'number',
  ...longest(said.unit),
  ...said,
});

/** A setting in seconds that its component gets in ms. */
export const seconds = <const Key extends string>(key: Key, said: SaidOfTime): Setting<Key, number> =>
  time(key, 'seconds', said);

/** A setting in minutes that its component gets in ms. */
export const minutes = <const Key extends string>(key: Key, said: SaidOfTime): Setting<Key, number> =>
  time(key, 'minutes', said);

/** A setting in days that its component gets in ms. */
export const days = <const Key extends string>(key: Key, said: SaidOfTime): Setting<Key, number> =>
  time(key, 'days', said);

/** A setting that is true or false. */
export const boolean = <const Key extends string>(key: Key, said: Said<boolean>): Setting<Key, boolean> => ({
  key,
  type: 'boolean',
  ...said,
});

/** A setting that is any text; an empty one often means none. */
export const text = <const Key extends string>(key: Key, said: Said<string>): Setting<Key, string> => ({
  key,
  type: 'string',
  ...said,
});

/** A setting that is one of some words. */
export const oneOf = <const Key extends string, const Word extends string>(
  key: Key,
  words: readonly Word[],
  said: Said<NoInfer<Word>>,
): Setting<Key, Word> => ({ key, type: 'string', oneOf: words, ...said });

/** A setting that is a list of texts, written with commas in a variable. */
export const list = <const Key extends string>(
  key: Key,
  said: Said<readonly string[]>,
): Setting<Key, readonly string[]> => ({ key, type: 'list', ...said });

/** A setting that is a list of some words. */
export const someOf = <const Key extends string, const Word extends string>(
  key: Key,
  words: readonly Word[],
  said: Said<readonly NoInfer<Word>[]>,
): Setting<Key, readonly Word[]> => ({ key, type: 'list', oneOf: words, ...said });

function time<const Key extends string>(
  key: Key,
  unit: keyof typeof MS_OF,
  { whole, timed, ...said }: SaidOfTime,
): Setting<Key, number> {
  const range = longest(unit, timed === true ? TIMER_MS_MAX : CENTURY_MS);
  return { key, type: whole === true ? 'integer' : 'number', unit, scale: MS_OF[unit], ...range, ...said };
}

/** The maximum of a time in a unit; nothing for what is no time. */
function longest(unit: string | undefined, ms = CENTURY_MS): { readonly maximum?: number } {
  return isTimeUnit(unit) ? { maximum: Math.floor(ms / MS_OF[unit]) } : {};
}

const isTimeUnit = (unit: string | undefined): unit is keyof typeof MS_OF => unit !== undefined && unit in MS_OF;
