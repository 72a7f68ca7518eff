import { isObject } from '../../../domain/shape/is-object.ts';

/**
 * A result as one text for a reader: a text itself, the texts of a CallToolResult of MCP, all other results as JSON.
 * @param json canonical JSON of the result
 */
export function readableText(result: unknown, json: string): string {
  if (typeof result === 'string') return result;
  const blocks = blocksOf(result);
  if (blocks === undefined || blocks.length === 0 || !blocks.every(isText)) return json;
  return blocks.map(({ text }) => text).join('\n');
}

/** False for a CallToolResult of MCP that holds a picture, a sound or another content that is no text. */
export function isTextOnly(result: unknown): boolean {
  return blocksOf(result)?.every(isText) !== false;
}

const isText = (block: unknown): block is { readonly text: string } =>
  isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';

function blocksOf(result: unknown): readonly unknown[] | undefined {
  const blocks = isObject(result) ? result['content'] : undefined;
  return Array.isArray(blocks) && blocks.every((block) => isObject(block) && typeof block['type'] === 'string')
    ? blocks
    : undefined;
}
