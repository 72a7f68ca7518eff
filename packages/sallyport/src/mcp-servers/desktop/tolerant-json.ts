import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/**
 * Parses hand-written JSON: with a byte order mark, comments and commas before a closing bracket.
 * @param source name of the file, for messages
 * @throws E3801 with line and column of the first fault
 */
export function parseTolerantJson(text: string, source: string): unknown {
  const strict = blankExtras(text);
  try {
    return JSON.parse(strict);
  } catch (thrown) {
    const message = (thrown as Error).message;
    const position = /at position (\d+)/.exec(message)?.[1];
    const { line, column } = placeOf(strict, position === undefined ? strict.trimEnd().length : Number(position));
    const fault = message.replace(/\s*(?:in JSON )?at position .*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '');
    throw new ToolLayerError('E3801', `${source} is not valid JSON at line ${line}, column ${column}: ${fault}.`, {
      cause: thrown,
      details: { line, column },
    });
  }
}

/** A string, a comment, or one other character. */
const TOKEN = /"(?:\\[\s\S]|[^"\\\n])*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s\S]/g;

/** Replaces each character that is not JSON by a space, so that lines and columns stay the same. */
function blankExtras(text: string): string {
  const tokens = text.match(TOKEN) ?? [];
  if (tokens[0] === '\ufeff') tokens[0] = ' ';
  /** Place of the last comma that only space follows so far. */
  let comma = -1;
  for (const [at, token] of tokens.entries()) {
    if (token.startsWith('//') || token.startsWith('/*')) tokens[at] = token.replace(/[^\n]/g, ' ');
    else if (token === ',') comma = at;
    else if (token.trim() !== '') {
      if ((token === '}' || token === ']') && comma !== -1) tokens[comma] = ' ';
      comma = -1;
    }
  }
  return tokens.join('');
}

function placeOf(text: string, position: number): { line: number; column: number } {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  return { line, column: position - before.lastIndexOf('\n') };
}
