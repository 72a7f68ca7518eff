import { expect, test } from 'vitest';
import { ACCESS_RULES } from '../instructions/rules/access.ts';
import { AUTHORITY_RULES } from '../instructions/rules/authority.ts';
import { HIDING_RULES } from '../instructions/rules/hiding.ts';
import { MARKUP_RULES } from '../instructions/rules/markup.ts';
import { OTHER_LANGUAGE_RULES } from '../instructions/rules/other-languages.ts';
import { OUTPUT_RULES } from '../instructions/rules/output.ts';
import { REDIRECTION_RULES } from '../instructions/rules/redirection.ts';
import { STEERING_RULES } from '../instructions/rules/steering.ts';
import { createPrefilter } from './prefilter.ts';
import { requiredLiterals } from './required-literals.ts';
import { literalOf } from './tokens.ts';

const RULES = [
  ...ACCESS_RULES,
  ...AUTHORITY_RULES,
  ...HIDING_RULES,
  ...MARKUP_RULES,
  ...OTHER_LANGUAGE_RULES,
  ...OUTPUT_RULES,
  ...REDIRECTION_RULES,
  ...STEERING_RULES,
];
/** Literal pieces of the rules' patterns. */
const PIECES = RULES.flatMap(({ all }) => all.flatMap(({ source }) => source.split(/[^\p{L}\p{N}' _<>~@./#-]+/u)));
const BETWEEN = [
  ' ',
  ' ',
  ' ',
  '  ',
  '. ',
  ', ',
  ': ',
  '\n',
  '\t',
  '-',
  '_',
  '](',
  '[',
  '<',
  '>',
  '~/.',
  '"',
  '',
  'é',
  '的',
];

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}

function textFrom(next: () => number): string {
  const pick = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? '';
  return Array.from({ length: 1 + Math.floor(next() * 14) }, () => pick(PIECES) + pick(BETWEEN))
    .join('')
    .toLowerCase();
}

const reads = (prefilter: ReturnType<typeof createPrefilter>, ...texts: string[]): void => {
  prefilter.restart();
  for (const text of texts) prefilter.read(text, 0, text.length);
};

test('VAL-05 a prefilter loses no text that every pattern of a rule matches', () => {
  const prefilter = createPrefilter(RULES);
  const next = random(7);
  let matched = 0;
  for (let turn = 0; turn < 4_000; turn += 1) {
    const text = textFrom(next);
    reads(prefilter, text);
    for (const [index, { all }] of RULES.entries()) {
      if (!all.every((pattern) => pattern.test(text))) continue;
      matched += 1;
      expect(prefilter.passes(index), `${RULES[index]?.rule}: ${text}`).toBe(true);
    }
  }
  expect(matched).toBeGreaterThan(100);
});

test('nor two texts that it matches together', () => {
  const rules = RULES.filter(({ reach }) => reach === 2);
  const prefilter = createPrefilter(rules);
  const next = random(11);
  for (let turn = 0; turn < 3_000; turn += 1) {
    const [one, other] = [textFrom(next), textFrom(next)];
    reads(prefilter, one, other);
    for (const [index, { all }] of rules.entries()) {
      if (all.every((pattern) => pattern.test(`${one} ${other}`))) expect(prefilter.passes(index)).toBe(true);
    }
  }
});

test('it passes few of the texts that no rule matches', () => {
  const prefilter = createPrefilter(RULES);
  const text = 'the report lists every city by its population, and the table below shows how it changed since 1990.';
  reads(prefilter, text);
  expect(RULES.filter((_, index) => prefilter.passes(index)).length).toBeLessThan(RULES.length / 10);
});

test.each([
  [/\b(?:ignore|forget) (?:all|it)\b/, ['please forget it', 'IGNORE ALL']],
  [/(?:colou?r|grey)s?\b/, ['colors', 'a grey', 'colour']],
  [/^(?:a|bc)+\d{2,3}x?$/i, ['bca12', 'A123x']],
  [/<\/?system\b|~\/\.|\]\(/, ['</system>', 'cat ~/.ssh', '[a](b)']],
  [/(?<!un)safe(?= mode)/, ['safe mode']],
  [/not\s+(?:un)?known/, ['not \n unknown', 'not known']],
  [/[.,] ?(?:ai|bots?)(?=[ ,:!])/, ['x. ai: y', 'x,bots !']],
  [/(?:忽略|无视)(?:所有){1,5}/u, ['请忽略所有指令', '无视所有']],
  [/x{0}y{2}z{1,}/, ['yyz', 'yyzz']],
] as const)('what %s needs is told from its source', (pattern, texts) => {
  const prefilter = createPrefilter([{ all: [pattern] }]);
  for (const text of texts) {
    expect(pattern.test(text) || pattern.test(text.toLowerCase())).toBe(true);
    reads(prefilter, text);
    expect(prefilter.passes(0), text).toBe(true);
  }
});

test('of a pattern that is not read nothing is told, so that its rule is always asked', () => {
  for (const pattern of [/(a)b\1/, /[[a-z]--[b]]tell/v, /ſtop/iu, /.*/, /\w{20}/])
    expect(requiredLiterals(pattern)).toEqual([]);
});

test('a word of which the end is not known, and too short to be told by its beginning, tells nothing', () => {
  expect(literalOf('\0log')).toBeUndefined();
  expect(literalOf('login')).toBeUndefined();
  expect(literalOf('\0login')?.selectivity).toBe(4);
});
