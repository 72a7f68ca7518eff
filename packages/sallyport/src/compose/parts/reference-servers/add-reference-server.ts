import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { EmbeddedTransport } from '../../../../api/schemas/upstream.ts';
import type { Asker } from '../../../operations/operation.ts';
import type { OperationParts } from '../../../operations/parts.ts';
import { connectAndRegister } from '../../../operations/upstreams/add-upstream.ts';

/**
 * Makes a reference server an upstream of the default tenant, which uses it at once, and of the catalogue, from which
 * other tenants take it. What an operator made of it before stays. A failure is logged: the layer is of use without it.
 */
export async function addReferenceServer(parts: OperationParts, server: EmbeddedTransport['server']): Promise<void> {
  for (const tenantId of new Set([parts.defaultTenant, parts.catalogTenant])) {
    if (parts.upstreams.current(tenantId, server) !== undefined) continue;
    const transport = { type: 'embedded', server } as const;
    try {
      await connectAndRegister(parts, askerFor(tenantId), { name: server, transport });
    } catch (thrown) {
      parts.log.error('reference-server-not-added', { server, reason: failureOf(thrown).message });
    }
  }
}

/** The layer itself adds it. */
const askerFor = (tenantId: string): Asker => ({
  caller: { door: 'library', local: true },
  principal: { tenantId, agentDid: 'did:sallyport:layer', roles: [] },
});
