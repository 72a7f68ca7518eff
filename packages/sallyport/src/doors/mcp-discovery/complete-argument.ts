import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';

/** A completion request: an argument of a template and its text so far (completion/complete). */
export interface Completion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
}

/** Most values in one answer (MCP's limit). */
const VALUES_MAX = 100;
/** Most pages of tools searched for one completion, and their size. */
const PAGES_MAX = 10;
const PAGE_SIZE = 1_000;

const NOTHING: Completion = { values: [], hasMore: false };

/** Values that start with the typed text and are visible to the token; none for arguments without a list. */
export async function completions(layer: ToolLayer, name: string, typed: string, caller: Caller): Promise<Completion> {
  const holder = await layer.ask('tokens.inspect', {}, caller);
  if (name === 'tool_id') return toolNames(layer, typed, caller);
  const own = name === 'tenant_id' ? holder.tenant_id : name === 'agent_did' ? holder.agent_did : undefined;
  return own?.startsWith(typed) === true ? { values: [own], hasMore: false } : NOTHING;
}

async function toolNames(layer: ToolLayer, typed: string, caller: Caller): Promise<Completion> {
  const values: string[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const input = { list: 'agent-enabled', page, page_size: PAGE_SIZE } as const;
    const { tools, total_count } = await layer.ask('visibility.list', input, caller);
    values.push(...tools.map(({ name }) => name).filter((name) => name.startsWith(typed)));
    const isLast = page * PAGE_SIZE >= total_count;
    if (isLast) return { values: values.slice(0, VALUES_MAX), hasMore: values.length > VALUES_MAX };
    if (values.length > VALUES_MAX) break;
  }
  return { values: values.slice(0, VALUES_MAX), hasMore: true };
}
