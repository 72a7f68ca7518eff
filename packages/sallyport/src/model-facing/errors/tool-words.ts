import type { ToolErrorBody } from '../../../api/schemas/error.ts';

/** Most blocks of a result that are read; a tool may send any number. */
const BLOCKS_MAX = 16;

/** The tool's own description of its failure; undefined when it gave none. */
export function toolWords({ details }: Pick<ToolErrorBody, 'details'>): string | undefined {
  if (details === undefined) return undefined;
  const { result, envelope } = details as { readonly result?: unknown; readonly envelope?: { stderr?: unknown } };
  const said = result === undefined ? envelope?.stderr : textOf(result);
  return typeof said === 'string' && said.trim() !== '' ? said : undefined;
}

function textOf(result: unknown): string | undefined {
  if (typeof result === 'string') return result;
  const content: unknown = (result as { readonly content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return JSON.stringify(result);
  const texts = content.slice(0, BLOCKS_MAX).map((block: { readonly text?: unknown } | null) => block?.text);
  return texts.filter((text) => typeof text === 'string').join('\n');
}
