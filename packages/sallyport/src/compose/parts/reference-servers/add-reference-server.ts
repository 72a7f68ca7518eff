import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { EmbeddedTransport, UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { Asker } from '../../../operations/operation.ts';
import type { OperationParts } from '../../../operations/parts.ts';
import { connectAndRegister } from '../../../operations/upstreams/add-upstream.ts';
import { CONTEXT_OVERRIDES } from '../../../reference-servers/context-server.ts';
import { DOCUMENT_OVERRIDES } from '../../../reference-servers/documents.ts';

const OVERRIDES: Readonly<Partial<Record<EmbeddedTransport['server'], UpstreamDefinition['overrides']>>> = {
  documents: DOCUMENT_OVERRIDES,
  context: CONTEXT_OVERRIDES,
};

/**
 * Makes a reference server an upstream of the default tenant, which uses it at once, and of the catalogue, from which
 * other tenants take it. What an operator made of it before stays. A failure is logged: the layer is of use without it.
 */
export async function addReferenceServer(parts: OperationParts, server: EmbeddedTransport['server']): Promise<void> {
  for (const tenantId of new Set([parts.defaultTenant, parts.catalogTenant])) {
    if (parts.upstreams.current(tenantId, server) !== undefined) continue;
    const overrides = OVERRIDES[server];
    const transport = { type: 'embedded', server } as const;
    const definition = { name: server, transport, ...(overrides === undefined ? {} : { overrides }) };
    try {
      await connectAndRegister(parts, askerFor(tenantId), definition);
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
