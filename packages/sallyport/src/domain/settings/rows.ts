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
  /** True when only whole numbers of the unit are accepted. */
  readonly whole?: true;
}

const MS_OF = { seconds: 1000, minutes: 60_000, days: 86_400_000 } as const;

/** A setting that is a whole number. */
export const integer = <const Key extends string>(key: Key, said: SaidOfNumber): Setting<Key, number> => ({
  key,
  type: 'integer',
  ...said,
});

/** A setting that is any number. */
export const number = <const Key extends string>(key: Key, said: SaidOfNumber): Setting<Key, number> => ({
  key,
  type: 'number',
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
  { whole, ...said }: SaidOfTime,
): Setting<Key, number> {
  return { key, type: whole === true ? 'integer' : 'number', unit, scale: MS_OF[unit], ...said };
}
