import type { Evidence } from './judge-text.ts';
import { sentencesOf } from './sentences.ts';

/** Shorter tool names are too often ordinary words. */
const NAME_CHARS_MIN = 5;
/** What makes a mention of another provider's tool an instruction. */
const DEMAND = /\b(?:must|always|never|instead of|before|do not|don't|override|redirect|whenever)\b/;
const WHY = "It demands something about another provider's tool.";

/** Demands that name another provider's tool. */
export function* foreignNames(text: string, names: ReadonlySet<string>): Generator<Evidence> {
  for (const { text: sentence, start, end } of sentencesOf(text)) {
    if (!DEMAND.test(sentence.toLowerCase())) continue;
    for (const { 0: word } of sentence.matchAll(/[\w.-]+/g)) {
      const name = word.replace(/\.$/, '');
      if (name.length < NAME_CHARS_MIN || !/[_\-A-Z]/.test(name.slice(1)) || !names.has(name)) continue;
      yield { rule: 'names-foreign-tool', why: WHY, start, end, weight: 0.6 };
    }
  }
}
