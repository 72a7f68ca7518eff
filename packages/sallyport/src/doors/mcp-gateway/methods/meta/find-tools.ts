import type { ToolDetail, ToolListRequest } from '../../../../../api/schemas/registry.ts';
import type { Caller } from '../../../../domain/principal/principal.ts';
import { sideEffectOf } from '../../../../domain/tool/tool-version.ts';
import type { ToolLayer } from '../../../../operations/tool-layer.ts';
import type { Params } from '../../../json-rpc.ts';
import { isForModels } from '../tool-list.ts';
import { needsConfirmation } from './describe-tool.ts';
import { FOUND_DEFAULT } from './meta-tools.ts';

/** Longest description in a list, in characters; describe_tool gives the full text. */
const LINE_MAX = 160;

/** Finds tools by what they do; returns enough of each to choose one. The arguments were checked before. */
export async function findTools(layer: ToolLayer, given: Params, caller: Caller): Promise<object> {
  const { names, total } = await hitsOf(layer, given, caller);
  const details = await Promise.all(names.map((name) => detailOf(layer, name, caller)));
  const found = details.filter((detail) => detail !== undefined);
  const shown = found.filter(({ manifest }) => isForModels(manifest));
  return { tools: shown.map(lineOf), total: total - (found.length - shown.length) };
}

/** Names of the tools found, best first, and their total number. */
async function hitsOf(layer: ToolLayer, given: Params, caller: Caller): Promise<{ names: string[]; total: number }> {
  const { query, category, tags, limit = FOUND_DEFAULT } = given;
  const filter = { ...(category === undefined ? {} : { category }), ...(tags === undefined ? {} : { tags }) };
  const input = { ...filter, capability_query: query, page_size: limit } as ToolListRequest;
  const { tools, pagination } = await layer.ask('tools.list', input, caller);
  return { names: tools.map(({ tool_id }) => tool_id), total: pagination.total_count };
}

/** Undefined for a tool that was removed meanwhile. */
function detailOf(layer: ToolLayer, tool_id: string, caller: Caller): Promise<ToolDetail | undefined> {
  return layer.ask('tools.get', { tool_id }, caller).catch(() => undefined);
}

function lineOf({ manifest }: ToolDetail): object {
  return {
    name: manifest.tool_id,
    description: firstLine(manifest.description),
    side_effect: sideEffectOf(manifest),
    needs_confirmation: needsConfirmation(manifest),
  };
}

function firstLine(description: string): string {
  // Only the beginning is read: a description may be very long.
  const line =
    description
      .slice(0, LINE_MAX * 4)
      .trimStart()
      .split('\n', 1)[0] ?? '';
  const plain = line.replaceAll(/\s+/g, ' ').trim();
  return plain.length > LINE_MAX ? `${plain.slice(0, LINE_MAX - 1)}…` : plain;
}
