import type { DocumentReader, DocumentServer } from '../bridges/document-server.port.ts';
import { ownerNames } from '../domain/invocation/call-owner.ts';
import type { Upstreams } from './upstreams.ts';

/** The upstream that documents come from. */
export interface DocumentUpstream {
  readonly name: string;
  /** Owner of the upstreams that all tenants use. */
  readonly catalogTenant: string;
}

/**
 * An upstream as the document server of the layer (DOC-01): its credentials, limits and quarantine hold for documents
 * too. One of the tenant hides one of the catalogue with the same name.
 */
export function upstreamDocuments(
  upstreams: Pick<Upstreams, 'call' | 'current'>,
  { name, catalogTenant }: DocumentUpstream,
): DocumentServer {
  const ownerOf = ({ tenantId }: DocumentReader): string =>
    upstreams.current(tenantId, name) === undefined ? catalogTenant : tenantId;
  return {
    scopeOf: (reader) => {
      const definition = upstreams.current(ownerOf(reader), name)?.definition;
      // What one caller may see there, another may not.
      return definition?.per_caller === true ? JSON.stringify(ownerNames(reader)) : '';
    },
    call: (reader, tool, args, { signal, timeoutMs }) =>
      upstreams.call(ownerOf(reader), name, tool, args, {
        signal,
        timeoutMs,
        caller: { principal: reader, secrets: reader.secrets },
      }),
  };
}
