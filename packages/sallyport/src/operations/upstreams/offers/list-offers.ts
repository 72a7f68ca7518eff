import { type Offer, OfferListRequest, OfferListResponse } from '../../../../api/schemas/offers.ts';
import { isServerMethod, type ServerMethod } from '../../../domain/tool/server-methods.ts';
import { PROGRAM, serverToolOf } from '../../../domain/tool/server-tool.ts';
import type { ServerOffers } from '../../../mcp-servers/known-upstream.ts';
import type { OfferingUpstream } from '../../../mcp-servers/upstreams.ts';
import { type Asker, operation } from '../../operation.ts';
import type { OperationParts } from '../../parts.ts';
import { callerAtUpstream } from './caller-at-upstream.ts';

/**
 * What upstreams and the embedding program offer beside their tools, as far as the asker may use it: a resource is seen by who may read the
 * resources of its upstream, a prompt by who may get its prompts, an upstream by who sees any of its tools (API-03).
 */
export const listOffers = operation({
  name: 'offers.list',
  summary: 'Resources, resource templates, prompts and instructions of upstreams that the caller may use',
  method: 'GET',
  path: '/v1/offers',
  status: 200,
  access: 'token',
  input: OfferListRequest,
  output: OfferListResponse,
  run:
    (parts: Parts) =>
    async ({ list, upstream, page = 1, page_size = 200 }, asker) => {
      const used = usedServers(parts.visible.tools(asker), asker.principal.tenantId);
      const seen = used.filter((server) => upstream === undefined || server.upstream === upstream);
      const offering = await Promise.all(seen.map((server) => offersTo(parts, asker, server)));
      const all = offering.flatMap((found, at) =>
        found === undefined ? [] : offersIn(list, seen[at] as UsedServer, found),
      );
      const start = (page - 1) * page_size;
      return { offers: all.slice(start, start + page_size), total_count: all.length, page, page_size };
    },
});

type Parts = Pick<OperationParts, 'visible' | 'upstreams' | 'programOffers' | 'secrets'>;

async function offersTo(
  { upstreams, programOffers, secrets }: Parts,
  asker: Asker,
  { tenantId, upstream }: UsedServer,
): Promise<OfferingUpstream | undefined> {
  if (upstream === PROGRAM) return programOffers.offers(tenantId, upstream);
  const caller = await callerAtUpstream(secrets, asker, upstreams.definition(tenantId, upstream));
  return upstreams.offers(tenantId, upstream, caller);
}

/** An upstream of which the asker sees a tool. */
interface UsedServer {
  readonly tenantId: string;
  readonly upstream: string;
  /** The tools for its requests that the asker sees, as it names them. */
  readonly tools: Partial<Record<ServerMethod, string>>;
}

type Seen = ReturnType<OperationParts['visible']['tools']>;

/** Ordered by name. An upstream of the asker's own tenant hides one of the catalogue with the same name. */
function usedServers(seen: Seen, ownTenant: string): readonly UsedServer[] {
  const servers = new Map<string, UsedServer>();
  for (const { name, tool } of seen) {
    const from = serverToolOf(tool.manifest);
    if (from === undefined) continue;
    const { upstream, tool: method } = from;
    const known = servers.get(upstream);
    if (known !== undefined && known.tenantId !== tool.tenantId && known.tenantId === ownTenant) continue;
    const kept = known?.tenantId === tool.tenantId ? known : { tenantId: tool.tenantId, upstream, tools: {} };
    servers.set(upstream, isServerMethod(method) ? { ...kept, tools: { ...kept.tools, [method]: name } } : kept);
  }
  return [...servers.values()].sort((one, other) => (one.upstream < other.upstream ? -1 : 1));
}

/** The request without which a list is of no use. */
const NEEDS = { resources: 'resources/read', templates: 'resources/read', prompts: 'prompts/get' } as const;

function offersIn(
  list: OfferListRequest['list'],
  { upstream, tools }: UsedServer,
  { offers, serverVersion }: OfferingUpstream,
): readonly Offer[] {
  if (list === 'servers') return [{ upstream, listed: serverIn(offers, serverVersion), tools }];
  if (tools[NEEDS[list]] === undefined) return [];
  return offers[list].map((listed) => ({ upstream, listed, tools }));
}

function serverIn({ instructions, capabilities }: ServerOffers, version: string): Record<string, unknown> {
  return { version, ...(instructions === undefined ? {} : { instructions }), capabilities };
}
