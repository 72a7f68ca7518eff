import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family } from '../scan.ts';

/** Length in characters by country (SWIFT IBAN registry, release 99). */
const LENGTHS: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BI: 27,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DJ: 27,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FK: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HN: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IQ: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LC: 32,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  LY: 25,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MN: 20,
  MR: 27,
  MT: 31,
  MU: 30,
  NI: 28,
  NL: 18,
  NO: 15,
  OM: 23,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  RU: 33,
  SA: 24,
  SC: 31,
  SD: 18,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  SO: 23,
  ST: 25,
  SV: 28,
  TL: 23,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  VG: 24,
  XK: 20,
  YE: 30,
  // Not in the registry, and used all the same.
  DZ: 26,
  IR: 26,
  MZ: 25,
  MA: 28,
  AO: 25,
  BF: 28,
  BJ: 28,
  CF: 27,
  CG: 27,
  CI: 28,
  CM: 27,
  CV: 25,
  GA: 27,
  GQ: 27,
  GW: 25,
  KM: 27,
  MG: 27,
  ML: 28,
  NE: 28,
  SN: 28,
  TD: 27,
  TG: 28,
};
const START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ -]?[A-Za-z0-9])/g;

/** International bank account numbers: a country's own length, and the check digits of ISO 13616. */
export const ibanFamily: Family = {
  kinds: ['iban'],
  signs: [SIGN.digits7],
  find({ text, add }) {
    eachMatch(START, text, ({ index }) => {
      const length = LENGTHS[text.slice(index, index + 2).toUpperCase()];
      if (length === undefined) return;
      const taken = take(text, index, length);
      if (taken !== undefined && remainder(taken.characters) === 1) add('iban', 'iban', index, taken.end);
    });
  },
};

/** As many letters and digits as the country's length, with at most one blank or dash between two. */
function take(text: string, start: number, length: number): { characters: string; end: number } | undefined {
  let characters = '';
  let at = start;
  for (; characters.length < length && at < text.length; at += 1) {
    const character = text[at] as string;
    if (/[A-Za-z0-9]/.test(character)) characters += character;
    else if (!/[ -]/.test(character) || /[ -]/.test(text[at - 1] as string)) return undefined;
  }
  if (characters.length < length || /[A-Za-z0-9]/.test(text[at] ?? '')) return undefined;
  return { characters: characters.toUpperCase(), end: at };
}

/** ISO 7064 MOD 97-10 over the rearranged number; 1 when it is right. */
function remainder(characters: string): number {
  let rest = 0;
  for (const character of characters.slice(4) + characters.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
