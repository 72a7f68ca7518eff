import { entryOf } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { VisibilityListRequest } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { type Address, addressOf, uriOf } from './resource-uri.ts';

/** What a caller reads at a URI. */
export type ReadResource = (uri: string, caller: Caller) => Promise<object | undefined>;

/** HTTP statuses of errors that say no more than that there is nothing here for this caller. */
const NOTHING_HERE: ReadonlySet<number> = new Set([400, 403, 404, 410]);

/**
 * Reads resources for the token that asks. What belongs to another tenant or agent answers as what does not exist:
 * undefined. Throws what the layer says of a token that is not good, and its own failures.
 */
export function createReadResource(layer: ToolLayer, pageSize: number): ReadResource {
  return async (uri, caller) => {
    const address = addressOf(uri);
    // Who may ask is settled first, so that a bad token gets one answer whatever it names.
    const holder = await layer.ask('tokens.inspect', {}, caller);
    if (address === undefined) return undefined;
    try {
      if (address.kind === 'tool') return await readTool(layer, address, caller);
      if (address.kind === 'tenant-available' && address.tenantId !== holder.tenant_id) return undefined;
      return await readList(layer, address, pageSize, caller);
    } catch (thrown) {
      if (thrown instanceof ToolLayerError && NOTHING_HERE.has(entryOf(thrown.code).http)) return undefined;
      throw thrown;
    }
  };
}

function readTool(
  layer: ToolLayer,
  { toolId, version }: Extract<Address, { kind: 'tool' }>,
  caller: Caller,
): Promise<object> {
  return layer.ask('tools.get', { tool_id: toolId, ...(version === undefined ? {} : { version }) }, caller);
}

/** One page of a list; the first is there even when it is empty. */
async function readList(
  layer: ToolLayer,
  address: Exclude<Address, { kind: 'tool' }>,
  page_size: number,
  caller: Caller,
): Promise<object | undefined> {
  const { kind: list, page } = address;
  const of = address.kind === 'tenant-available' ? {} : { agent_did: address.agentDid };
  const input: VisibilityListRequest = { list, ...of, page, page_size };
  const { tools, total_count } = await layer.ask('visibility.list', input, caller);
  if (tools.length === 0 && page > 1) return undefined;
  const isLast = page * page_size >= total_count;
  return { tools, total_count, page, page_size, ...(isLast ? {} : { next: uriOf({ ...address, page: page + 1 }) }) };
}
