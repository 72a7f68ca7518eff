import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../../../domain/principal/principal.ts';
import { PROGRAM } from '../../../domain/tool/server-tool.ts';
import type { ResourceListener } from '../../../mcp-servers/known-upstream.ts';
import { askerOf } from '../../asking/asker-of.ts';
import type { OperationParts } from '../../parts.ts';
import { callerAtUpstream } from './caller-at-upstream.ts';

type Parts = Pick<
  OperationParts,
  'identify' | 'defaultTenant' | 'catalogTenant' | 'upstreams' | 'programOffers' | 'secrets'
>;

/**
 * Notifies of each change of a resource until disposed. Who may read the resource was asked before. An upstream of the
 * asker's tenant hides one of the catalogue with the same name.
 * @throws E32xx for an invalid token; see `UpstreamOffers.watchResource`
 */
export async function watchResource(
  parts: Parts,
  caller: Caller,
  { upstream, uri }: { readonly upstream: string; readonly uri: string },
  listener: ResourceListener,
): Promise<Disposable> {
  const { upstreams, programOffers, catalogTenant, secrets } = parts;
  const asker = await askerOf(parts, caller);
  if (isFailure(asker)) throw ToolLayerError.of(asker);
  if (upstream === PROGRAM) return programOffers.watchResource(uri, listener.onUpdated);
  const { tenantId } = asker.principal;
  const own = upstreams.definition(tenantId, upstream);
  const definition = own ?? upstreams.definition(catalogTenant, upstream);
  const owner = own === undefined ? catalogTenant : tenantId;
  const wanted = { uri, tenantId, caller: await callerAtUpstream(secrets, asker, definition) };
  return upstreams.watchResource(owner, upstream, wanted, listener);
}
