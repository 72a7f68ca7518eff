/** Most texts made of a query: itself and its first sentences. */
const TEXTS_MAX = 4;
/** Most characters of a query used for its meaning. */
const QUERY_CHARACTERS_MAX = 1000;
/** Shorter pieces are greetings and fillers. */
const SENTENCE_CHARACTERS_MIN = 12;

/**
 * A query as a whole and, when it has several, its sentences: a request for two things lies between both, close to
 * neither. Empty for a query without letters or digits, which is meaningless to a model.
 */
export function queryTexts(query: string): string[] {
  const whole = query.slice(0, QUERY_CHARACTERS_MAX).replace(/\s+/g, ' ').trim().toWellFormed();
  if (!/[\p{L}\p{N}]/u.test(whole)) return [];
  const sentences = whole
    .split(/(?<=[.!?])\s+|(?<=[。！？])/u)
    .filter((text) => text.length >= SENTENCE_CHARACTERS_MIN);
  return sentences.length < 2 ? [whole] : [whole, ...sentences.slice(0, TEXTS_MAX - 1)];
}
