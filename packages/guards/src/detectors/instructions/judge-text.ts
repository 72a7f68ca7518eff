// Hot path: every text that a tool returned is judged here.
import { createPrefilter, type Prefilter } from '../literals/prefilter.ts';
import { encodedTexts } from './encoded-texts.ts';
import { hiddenCharacters, speltInHiding } from './hidden-characters.ts';
import { misspeltOrder } from './misspelt.ts';
import { readingOf } from './reading.ts';
import { ACCESS_RULES } from './rules/access.ts';
import { AUTHORITY_RULES } from './rules/authority.ts';
import { HIDING_RULES } from './rules/hiding.ts';
import type { InstructionRule } from './rules/instruction-rule.ts';
import { MANIPULATION_RULES } from './rules/manipulation.ts';
import { MARKUP_RULES } from './rules/markup.ts';
import { OTHER_LANGUAGE_RULES } from './rules/other-languages.ts';
import { OUTPUT_RULES } from './rules/output.ts';
import { REDIRECTION_RULES } from './rules/redirection.ts';
import { ROLE_RULES } from './rules/roles.ts';
import { STEERING_RULES } from './rules/steering.ts';
import { TAKEOVER_RULES } from './rules/takeover.ts';
import { ORDER_WORDS } from './rules/words.ts';
import { eachSentence, joined, sentenceAt } from './sentences.ts';

/** Kind of text: a tool's description, or its output. */
export type TextKind = 'description' | 'output';

/** One finding in one text. */
export interface Evidence {
  readonly rule: string;
  readonly why: string;
  /** Position in the text, in UTF-16 units; of the surrounding sentence when it was found in one. */
  readonly start: number;
  readonly end: number;
  /** Weight of this evidence by itself, 0 to 1. */
  readonly weight: number;
}

/** Enough for a verdict by itself. */
export const ENOUGH = 0.5;
/** Shorter texts contain no encoded demand. */
const ENCODED_CHARS_MIN = 24;
/** Shorter texts contain no demand. */
const TEXT_CHARS_MIN = 8;
/** A longer single word may be a sentence without blanks. */
const WORD_CHARS_MAX = 24;
/** Of one rule the strongest finding counts in so many characters, so that many weak ones never hide others. */
const PLACE_CHARS = 1_000;

const SENTENCE_RULES = [
  ...HIDING_RULES,
  ...AUTHORITY_RULES,
  ...ACCESS_RULES,
  ...REDIRECTION_RULES,
  ...STEERING_RULES,
  ...OUTPUT_RULES,
  ...TAKEOVER_RULES,
  ...MANIPULATION_RULES,
  ...OTHER_LANGUAGE_RULES,
];
const forKind = (rules: readonly InstructionRule[], kind: TextKind): readonly InstructionRule[] =>
  rules.filter(({ only }) => only === undefined || only === kind);

/** Rules for one kind of text, each with a filter for the texts that it can match. */
interface Judges {
  readonly byText: readonly InstructionRule[];
  readonly ofText: Prefilter;
  readonly bySentence: readonly InstructionRule[];
  readonly ofSentence: Prefilter;
}

const known: Partial<Record<TextKind, Judges>> = {};

/** Made on first use: it takes some milliseconds. */
function judgesOf(kind: TextKind): Judges {
  const made = known[kind];
  if (made !== undefined) return made;
  const [byText, bySentence] = [forKind([...MARKUP_RULES, ...ROLE_RULES], kind), forKind(SENTENCE_RULES, kind)];
  known[kind] = { byText, ofText: createPrefilter(byText), bySentence, ofSentence: createPrefilter(bySentence) };
  return known[kind];
}

/**
 * Everything in a text that speaks to the model without the user's knowledge, or may. Linear in the text.
 * @param text the caller limits its length
 */
export function judgeText(text: string, kind: TextKind): readonly Evidence[] {
  const hidden = hiddenEvidence(text, kind);
  const found = hidden === undefined ? [] : [hidden];
  found.push(...judgeWords(text, kind));
  if (text.length >= ENCODED_CHARS_MIN) found.push(...strongestByPlace(encodedEvidence(text, kind)));
  return found;
}

function strongestByPlace(evidence: Iterable<Evidence>): readonly Evidence[] {
  const strongest = new Map<string, Evidence>();
  for (const one of evidence) {
    const place = `${one.rule} ${Math.floor(one.start / PLACE_CHARS)}`;
    if (one.weight > (strongest.get(place)?.weight ?? 0)) strongest.set(place, one);
  }
  return [...strongest.values()];
}

/** Encoded texts are judged in their decoded form. */
function* encodedEvidence(text: string, kind: TextKind): Generator<Evidence> {
  const rule = 'encoded-order';
  for (const { decoded, start, end, evasive } of encodedTexts(text)) {
    const [inside] = enoughTogether(judgeWords(decoded, kind));
    if (inside !== undefined) {
      yield { rule, why: `An encoded text holds this: ${inside.why}`, start, end, weight: 0.95 };
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

/** Combined weight of all evidence, 0 to 1; several findings of one rule count once. */
export function scoreOf(evidence: readonly Evidence[]): number {
  const strongest = new Map<string, number>();
  for (const { rule, weight } of evidence) strongest.set(rule, Math.max(weight, strongest.get(rule) ?? 0));
  let innocence = 1;
  for (const weight of strongest.values()) innocence *= 1 - weight;
  return 1 - innocence;
}

/** Weak evidence adds up only where it stands together: a long text about anything has some of each class. */
const TOGETHER_CHARS = 2_000;

/** The evidence of those places of a text where it is enough together. */
export function enoughTogether(evidence: readonly Evidence[]): readonly Evidence[] {
  const inOrder = evidence.toSorted((one, other) => one.start - other.start);
  let [from, to] = [0, 0];
  return inOrder.filter(({ start }) => {
    while ((inOrder[from]?.start ?? start) < start - TOGETHER_CHARS) from += 1;
    while ((inOrder[to]?.start ?? Number.POSITIVE_INFINITY) <= start + TOGETHER_CHARS) to += 1;
    return scoreOf(inOrder.slice(from, to)) >= ENOUGH;
  });
}

function judgeWords(text: string, kind: TextKind): readonly Evidence[] {
  if (isMute(text)) return [];
  const { text: read, original } = readingOf(text);
  const found: Evidence[] = [];
  const report = ({ rule, why, weight }: InstructionRule, start: number, end: number): void => {
    found.push({ rule, why, weight, start: original(start), end: original(end) });
  };
  const judges = judgesOf(kind);
  judgeWhole(judges, read, report);
  judgeSentences(judges, read, kind, report);
  const order = misspeltOrder(read);
  if (order !== undefined) report(MISSPELT, order.start, order.end);
  return found.length < 2 ? found : strongestByPlace(found);
}

const MISSPELT: InstructionRule = {
  rule: 'override',
  weight: 0.9,
  why: 'It asks the model to leave its instructions, misspelt so that no search finds it.',
  all: [],
};

type ReportRule = (rule: InstructionRule, start: number, end: number) => void;

function judgeWhole({ byText, ofText }: Judges, read: string, report: ReportRule): void {
  ofText.restart();
  ofText.read(read, 0, read.length);
  for (let index = 0; index < byText.length; index += 1) {
    if (!ofText.passes(index)) continue;
    const rule = byText[index] as InstructionRule;
    const at = fits(rule, read) ? rule.all[0]?.exec(read) : undefined;
    if (at) report(rule, at.index, at.index + at[0].length);
  }
}

function judgeSentences({ bySentence, ofSentence }: Judges, read: string, kind: TextKind, report: ReportRule): void {
  let [beforeStart, beforeEnd] = [-1, -1];
  let link = read.indexOf('](');
  ofSentence.restart();
  eachSentence(read, (start, end) => {
    if (link >= 0 && link < start) link = read.indexOf('](', start);
    // A link's text differs from its target.
    if (link >= 0 && link < end) {
      const { text } = sentenceAt(read, start, end);
      ofSentence.read(text, 0, text.length);
    } else ofSentence.read(read, start, end);
    const before = beforeStart < 0 ? undefined : ([beforeStart, beforeEnd] as const);
    [beforeStart, beforeEnd] = [start, end];
    const passing = ofSentence.firstPassing();
    if (passing < 0) return;
    const sentence = sentenceAt(read, start, end);
    if (kind === 'output' && !ORDER_WORDS.test(sentence.text)) return;
    for (let index = passing; index < bySentence.length; index += 1) {
      if (!ofSentence.passes(index)) continue;
      const rule = bySentence[index] as InstructionRule;
      const reachesBack = rule.reach === 2 && before !== undefined;
      const judged = reachesBack ? joined(sentenceAt(read, ...before), sentence) : sentence;
      if (fits(rule, judged.text)) report(rule, judged.start, end);
    }
  });
}

/** Most texts of a schema are single words without a demand. */
const isMute = (text: string): boolean =>
  text.length < TEXT_CHARS_MIN || (text.length < WORD_CHARS_MAX && !/\s/.test(text) && /^[\w.-]*$/.test(text));

function fits(rule: InstructionRule, text: string): boolean {
  for (const pattern of rule.all) if (!pattern.test(text)) return false;
  return isClear(rule, text);
}

const isClear = ({ none }: InstructionRule, text: string): boolean =>
  none === undefined || !none.some((pattern) => pattern.test(text));

/** Instructs a terminal not to show what follows (ECMA-48 8.3.117). */
const CONCEALED = /\p{Cc}\[(?:\d{1,3};){0,8}8m/u;
const UNSEEN = 'It holds characters that nobody sees.';

/** Tool output may contain terminal controls and soft hyphens; only intentional characters count in it. */
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
