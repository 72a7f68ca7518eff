import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

/** The pages of this project's documentation that people wrote, as text. */
export function pages(): readonly string[] {
  return globSync('**/*.md', { cwd: DOCS })
    .filter((name) => !GENERATED.test(name))
    .sort()
    .map((name) => readFileSync(`${DOCS}${name}`, 'utf8'));
}
const GENERATED = /^(?:operations|settings|errors)\.md$|^specifications/;

/** Sentences of the pages. */
export const sentencesOf = (text: string): readonly string[] =>
  text.split(/(?<=[.!?])\s+|\n{2,}/).filter((sentence) => sentence.length > 20);

/** Numbers that are the same in every run, 0 (inclusive) to 1 (exclusive). */
export function drawn(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** So many documents, each of a dozen sentences of the pages. */
export function madeDocuments(count: number): readonly string[] {
  const sentences = pages().flatMap(sentencesOf);
  const next = drawn();
  return Array.from({ length: count }, (_, at) => {
    const own = Array.from({ length: 12 }, () => sentences[Math.floor(next() * sentences.length)]);
    return `# Document ${at}\n\n${own.join(' ')}`;
  });
}
