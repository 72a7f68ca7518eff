import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { DocumentReader, DocumentServer } from '../../../bridges/document-server.port.ts';
import type { RequestService } from '../../../domain/circuit/service-request.ts';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { EmbeddedServers } from '../../embedded-server.port.ts';
import type { Upstreams } from '../../upstreams.ts';

/** The upstream that documents come from. */
export interface DocumentUpstream {
  readonly name: string;
  /** Owner of the upstreams that all tenants use. */
  readonly catalogTenant: string;
  /** Timeout of its tools that name none; absent: that of the request alone. */
  readonly toolMs?: number;
  /** Makes each request, if it may be made; absent: every one is made. */
  readonly through?: RequestService;
}

/**
 * An upstream as the document server of the layer (DOC-01): its credentials, timeouts, limits and quarantine hold for
 * documents too. One of the tenant hides one of the catalogue with the same name.
 */
export function upstreamDocuments(
  upstreams: Pick<Upstreams, 'call' | 'definition'>,
  of: DocumentUpstream,
): DocumentServer {
  const scopeOf = (reader: DocumentReader): string =>
    // What one caller may see there, another may not.
    definitionOf(upstreams, of, reader)?.per_caller === true ? JSON.stringify(ownerNames(reader)) : '';
  return {
    scopeOf,
    call(reader, tool, args, { signal, timeoutMs: requestMs }) {
      const toolMs = toolMsOf(definitionOf(upstreams, of, reader), tool) ?? of.toolMs ?? requestMs;
      const timeoutMs = Math.min(requestMs, toolMs);
      const caller = { principal: reader, secrets: reader.secrets };
      const call = () =>
        upstreams.call(ownerOf(upstreams, of, reader), of.name, tool, args, { signal, timeoutMs, caller });
      const { tenantId, agentDid } = reader;
      const request = { service: `mcp:${of.name}`, tenantId, agentDid, timeoutMs, signal };
      return of.through === undefined ? call() : of.through(request, call);
    },
  };
}

/**
 * The reference server of this process beneath its upstream, for when that upstream fails (DOC-03). Where another server
 * is the document server it has nothing.
 */
export function directDocuments(
  upstreams: Pick<Upstreams, 'definition'>,
  { documents }: EmbeddedServers,
  of: DocumentUpstream,
): DocumentServer {
  return {
    scopeOf: () => '',
    async call(reader, tool, args, { signal }) {
      const transport = definitionOf(upstreams, of, reader)?.transport;
      if (documents === undefined || transport?.type !== 'embedded')
        throw new ToolLayerError('E3602', 'There is no other source of documents.');
      return documents.call(tool, args, reader, signal);
    },
  };
}

const ownerOf = (
  upstreams: Pick<Upstreams, 'definition'>,
  { name, catalogTenant }: DocumentUpstream,
  { tenantId }: DocumentReader,
): string => (upstreams.definition(tenantId, name) === undefined ? catalogTenant : tenantId);

const definitionOf = (
  upstreams: Pick<Upstreams, 'definition'>,
  { name, catalogTenant }: DocumentUpstream,
  { tenantId }: DocumentReader,
) => upstreams.definition(tenantId, name) ?? upstreams.definition(catalogTenant, name);

/** Timeout that the operator gave a tool. */
const toolMsOf = (definition: UpstreamDefinition | undefined, tool: string): number | undefined => {
  const { [tool]: own, '*': all } = definition?.overrides ?? {};
  const seconds = own?.timeout_seconds ?? all?.timeout_seconds;
  return seconds === undefined ? undefined : seconds * 1000;
};
