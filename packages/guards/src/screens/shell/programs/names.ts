import type { Field } from '../field.ts';
import { globMatcher } from '../words/glob.ts';

/** Letters of other scripts that look like Latin ones. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    у: 'y',
    х: 'x',
    ѕ: 's',
    і: 'i',
    ј: 'j',
    ԁ: 'd',
    һ: 'h',
    ӏ: 'l',
    м: 'm',
    к: 'k',
  },
  ...{
    т: 't',
    в: 'b',
    н: 'h',
    г: 'r',
    ո: 'n',
    ս: 'u',
    ց: 'g',
    ԛ: 'q',
    ԝ: 'w',
    ᴍ: 'm',
    ʀ: 'r',
    ᴅ: 'd',
    ѵ: 'v',
    ɡ: 'g',
    ı: 'i',
  },
  ...{ α: 'a', ο: 'o', ρ: 'p', ν: 'v', υ: 'u', κ: 'k', ι: 'i', τ: 't', ε: 'e', γ: 'y', χ: 'x' },
};
const NOT_ASCII = /[^\0-\x7f]/;
const INVISIBLE = /[\p{Cf}\p{Mn}\u3164\uffa0]/gu;

/** The name of the program that a word runs: without folders, `.exe` and the `=` of zsh. */
export function programName(text: string): string {
  const base = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  const plain = base.startsWith('=') && base.length > 1 ? base.slice(1) : base;
  return /\.(?:exe|cmd|bat|com)$/i.test(plain) ? plain.replace(/\.[a-z]+$/i, '').toLowerCase() : plain;
}

const INSTALLED = /^(?:\/usr(?:\/local)?)?\/s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$|^[A-Za-z]:\\Windows\\/i;

/** True when a name is looked up, or lies where programs are installed: elsewhere `ls` may be anything. */
export function isInstalled(text: string): boolean {
  return !/[/\\]/.test(text) || INSTALLED.test(text);
}

/** The Latin name that a name with foreign or invisible characters resembles; undefined when it is plain. */
export function plainLook(name: string): string | undefined {
  if (!NOT_ASCII.test(name)) return undefined;
  const composed = name.normalize('NFKD').replace(INVISIBLE, '');
  return Array.from(composed, (letter) => LOOK_ALIKES[letter] ?? letter).join('');
}

/** Programs that a pattern may stand for, of those that can do harm. */
export function programsLike(pattern: string, names: Iterable<string>): string[] {
  const matches = globMatcher(programName(pattern));
  const found: string[] = [];
  for (const name of names) if (matches(name)) found.push(name);
  return found.slice(0, 40);
}

/** True when a pattern may match an unknown name. */
export function isPattern({ glob, text }: Field): boolean {
  return glob && /[*?[@!+(]/.test(text);
}
