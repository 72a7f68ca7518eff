import { InvalidArgumentError } from 'commander';

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90`, `90s`, `15m`, `1h`, `7d`, `500ms` in seconds; a bare number is seconds, a minus sign means the past. */
export function seconds(text: string): number {
  const match = /^(-?[0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Write a duration such as 30s, 15m or 1h.');
  return Number(match[1]) * (UNIT_SECONDS[match[2] ?? 's'] ?? 1);
}

/** A port, 0 for any free one. */
export function port(text: string): number {
  const value = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return value;
}

/** A whole number above zero. */
export function count(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('Write a whole number above zero.');
  return Number(text);
}

/** A number within bounds. */
export function numberIn(minimum: number, maximum?: number): (text: string) => number {
  const bounds = maximum === undefined ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`;
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= minimum && value <= (maximum ?? value)))
      throw new InvalidArgumentError(`Write a number ${bounds}.`);
    return value;
  };
}

/** Collects the values of an option that may be repeated. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Collects repeated `KEY=VALUE` options; the value may contain further equals signs. */
export function collectPairs(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write it as NAME=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** One of a few words. */
export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((each) => each === text);
    if (word === undefined) throw new InvalidArgumentError(`Write one of: ${words.join(', ')}.`);
    return word;
  };
}
