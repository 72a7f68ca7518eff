import { encodedTexts } from './encoded-texts.ts';
import { hiddenCharacters, speltInHiding } from './hidden-characters.ts';
import { readingOf } from './reading.ts';
import { ACCESS_RULES } from './rules/access.ts';
import { AUTHORITY_RULES } from './rules/authority.ts';
import { HIDING_RULES } from './rules/hiding.ts';
import type { InstructionRule } from './rules/instruction-rule.ts';
import { MARKUP_RULES } from './rules/markup.ts';
import { OTHER_LANGUAGE_RULES } from './rules/other-languages.ts';
import { OUTPUT_RULES } from './rules/output.ts';
import { REDIRECTION_RULES } from './rules/redirection.ts';
import { STEERING_RULES } from './rules/steering.ts';
import { ORDER_WORDS } from './rules/words.ts';
import { type Sentence, sentencesOf } from './sentences.ts';

/** What kind of text is judged: what a tool says of itself, or what it returns. */
export type TextKind = 'description' | 'output';

/** One thing that was found in one text. */
export interface Evidence {
  readonly rule: string;
  readonly why: string;
  /** Place in the text, in UTF-16 units; the sentence around it where it was found in one. */
  readonly start: number;
  readonly end: number;
  /** How much it says by itself, 0 to 1. */
  readonly weight: number;
}

/** Enough for a verdict by itself. */
export const ENOUGH = 0.5;
/** Nothing shorter holds an encoded demand. */
const ENCODED_CHARS_MIN = 24;
/** Nothing shorter asks for anything. */
const TEXT_CHARS_MIN = 8;
/** Findings in one text that are told. */
const FINDINGS_MAX = 50;

const SENTENCE_RULES = [
  ...HIDING_RULES,
  ...AUTHORITY_RULES,
  ...ACCESS_RULES,
  ...REDIRECTION_RULES,
  ...STEERING_RULES,
  ...OUTPUT_RULES,
  ...OTHER_LANGUAGE_RULES,
];
const forKind = (rules: readonly InstructionRule[], kind: TextKind): readonly InstructionRule[] =>
  rules.filter(({ only }) => only === undefined || only === kind);
const BY_SENTENCE = {
  description: forKind(SENTENCE_RULES, 'description'),
  output: forKind(SENTENCE_RULES, 'output'),
};
const BY_TEXT = { description: forKind(MARKUP_RULES, 'description'), output: forKind(MARKUP_RULES, 'output') };

/**
 * Everything in a text that speaks to the model behind the user's back, or may. Linear in the text.
 * @param text the caller bounds its length
 */
export function judgeText(text: string, kind: TextKind): readonly Evidence[] {
  const found = judgeWords(text, kind);
  const hidden = hiddenEvidence(text, kind);
  if (hidden !== undefined) found.unshift(hidden);
  if (text.length >= ENCODED_CHARS_MIN) found.push(...encodedEvidence(text, kind));
  return found.slice(0, FINDINGS_MAX);
}

/** What stands encoded is judged as it reads decoded. */
function* encodedEvidence(text: string, kind: TextKind): Generator<Evidence> {
  const rule = 'encoded-order';
  for (const { decoded, start, end, evasive } of encodedTexts(text)) {
    const inside = judgeWords(decoded, kind);
    if (scoreOf(inside) >= ENOUGH) {
      yield { rule, why: `An encoded text holds this: ${inside[0]?.why}`, start, end, weight: 0.95 };
    } else if (evasive) {
      yield {
        rule,
        why: 'The letters of its words stand apart, so that no search finds them.',
        start,
        end,
        weight: 0.6,
      };
    }
  }
}

/** How much all evidence says together, 0 to 1; several finds of one rule count once. */
export function scoreOf(evidence: readonly Evidence[]): number {
  const strongest = new Map<string, number>();
  for (const { rule, weight } of evidence) strongest.set(rule, Math.max(weight, strongest.get(rule) ?? 0));
  let innocence = 1;
  for (const weight of strongest.values()) innocence *= 1 - weight;
  return 1 - innocence;
}

function judgeWords(text: string, kind: TextKind): Evidence[] {
  if (isMute(text)) return [];
  const { text: read, original } = readingOf(text);
  const found: Evidence[] = [];
  const report = ({ rule, why, weight }: InstructionRule, start: number, end: number): void => {
    if (found.length < FINDINGS_MAX) found.push({ rule, why, weight, start: original(start), end: original(end) });
  };
  for (const rule of BY_TEXT[kind]) {
    const at = rule.all.every((pattern) => pattern.test(read)) ? rule.all[0]?.exec(read) : undefined;
    if (at && isClear(rule, read)) report(rule, at.index, at.index + at[0].length);
  }
  let before: Sentence | undefined;
  for (const sentence of sentencesOf(read)) {
    if (kind === 'output' && !ORDER_WORDS.test(sentence.text)) {
      before = sentence;
      continue;
    }
    const both = before === undefined ? sentence.text : `${before.text} ${sentence.text}`;
    for (const rule of BY_SENTENCE[kind]) {
      const place = rule.reach === 2 ? both : sentence.text;
      if (!fits(rule, place)) continue;
      report(rule, rule.reach === 2 ? (before ?? sentence).start : sentence.start, sentence.end);
    }
    before = sentence;
  }
  return found;
}

/** Most texts of a schema are single words, which ask for nothing. */
const isMute = (text: string): boolean => text.length < TEXT_CHARS_MIN || (!/\s/.test(text) && /^[\w.-]*$/.test(text));

function fits(rule: InstructionRule, text: string): boolean {
  for (const pattern of rule.all) if (!pattern.test(text)) return false;
  return isClear(rule, text);
}

const isClear = ({ none }: InstructionRule, text: string): boolean =>
  none === undefined || !none.some((pattern) => pattern.test(text));

/** Tells a terminal not to show what follows (ECMA-48 8.3.117). */
const CONCEALED = /\p{Cc}\[(?:\d{1,3};){0,8}8m/u;
const UNSEEN = 'It holds characters that nobody sees.';

/**
 * What a tool returns may hold the controls of a terminal and the soft hyphens of a page; only characters that are there
 * on purpose count in it.
 */
function hiddenEvidence(text: string, kind: TextKind): Evidence | undefined {
  const hidden = hiddenCharacters(text);
  if (hidden === undefined) return undefined;
  const { start, end, deliberate } = hidden;
  const spelt = deliberate ? speltInHiding(text) : '';
  if (/[a-z]{3}/i.test(spelt)) {
    const why = 'Characters that nobody sees spell a second text.';
    return { rule: 'hidden-characters', why, start, end, weight: 0.95 };
  }
  if (kind === 'output') {
    const isTurned = deliberate && /[\u202d\u202e]/.test(text);
    return isTurned || CONCEALED.test(text)
      ? { rule: 'hidden-characters', why: UNSEEN, start, end, weight: 0.5 }
      : undefined;
  }
  return { rule: 'hidden-characters', why: UNSEEN, start, end, weight: deliberate ? 0.9 : 0.6 };
}
