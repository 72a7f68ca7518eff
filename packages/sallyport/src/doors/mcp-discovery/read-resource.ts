import { entryOf } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { VisibilityListRequest } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { type Address, addressOf, uriOf } from './resource-uri.ts';

/** Reads the resource at a URI for a caller. */
export type ReadResource = (uri: string, caller: Caller) => Promise<object | undefined>;

/** HTTP statuses of errors that only mean: nothing here for this caller. */
const NOTHING_HERE: ReadonlySet<number> = new Set([400, 403, 404, 410]);

/**
 * Reads resources for the token that asks. Resources of another tenant or agent are answered like missing ones:
 * undefined. Throws the layer's error for an invalid token, and its own failures.
 */
export function createReadResource(layer: ToolLayer, pageSize: number): ReadResource {
  return async (uri, caller) => {
    const address = addressOf(uri);
    // The token is checked first, so that an invalid one gets the same answer for every URI.
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

/** One page of a list; the first page exists even when it is empty. */
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
