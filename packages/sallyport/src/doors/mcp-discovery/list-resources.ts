import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { VisibleTool } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { type Address, TEMPLATES, uriOf } from './resource-uri.ts';

/** One entry of the list of resources. */
interface Listed {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: 'application/json';
}

/** One page of resources/list. */
export interface ResourcesPage {
  readonly resources: readonly Listed[];
  readonly nextCursor?: string;
}

/** Longest description in a list, in characters; the tool's own resource has the full text. */
const DESCRIPTION_MAX = 1_024;
const CURSOR = /^page-([1-9][0-9]{0,6})$/;

/**
 * Resources that the token may read: the fixed lists first, then one per visible tool.
 * @throws ToolLayerError E3801 for a cursor that this server did not issue
 */
export async function listResources(
  layer: ToolLayer,
  pageSize: number,
  cursor: string | undefined,
  caller: Caller,
): Promise<ResourcesPage> {
  const page = cursor === undefined ? 1 : Number(CURSOR.exec(cursor)?.[1]);
  if (Number.isNaN(page)) {
    throw new ToolLayerError('E3801', 'The cursor is not one of this server. List again without a cursor.');
  }
  const [own, { tools, total_count }] = await Promise.all([
    page === 1 ? ownLists(layer, caller) : [],
    layer.ask('visibility.list', { list: 'agent-enabled', page, page_size: pageSize }, caller),
  ]);
  const resources = [...own, ...tools.map(listedTool)];
  return page * pageSize < total_count ? { resources, nextCursor: `page-${page + 1}` } : { resources };
}

async function ownLists(layer: ToolLayer, caller: Caller): Promise<Listed[]> {
  const { tenant_id: tenantId, agent_did: agentDid } = await layer.ask('tokens.inspect', {}, caller);
  const addresses: Address[] = [
    { kind: 'tenant-available', tenantId, page: 1 },
    { kind: 'agent-enabled', agentDid, page: 1 },
    { kind: 'agent-unavailable', agentDid, page: 1 },
  ];
  return addresses.map((address) => {
    const { name = '', title = '', description = '' } = TEMPLATES.find((known) => known.name === address.kind) ?? {};
    return { uri: uriOf(address), name, title, description, mimeType: 'application/json' };
  });
}

function listedTool({ name, tool_name: title, description }: VisibleTool): Listed {
  const uri = uriOf({ kind: 'tool', toolId: name });
  return { uri, name, title, description: description.slice(0, DESCRIPTION_MAX), mimeType: 'application/json' };
}
