import { failureOf } from '../domain/error/tool-layer-error.ts';
import { registerImported } from './imports/register-imported.ts';
import type { Asker } from './operation.ts';
import type { OperationParts } from './parts.ts';

/**
 * Registers tools that an upstream lists anew. A tool whose definition changed under the same version is refused (E3007)
 * and stays as it was: nothing is taken over that nobody accepted.
 * @returns a function that ends it
 */
export function followUpstreams(parts: OperationParts): () => void {
  return parts.upstreams.onToolsChanged((tenantId, name, tools, version) => {
    const imported = parts.importMcp(tools, { name, version });
    registerImported(parts, askerFor(tenantId), imported).then(
      (registrations) => {
        const refused = registrations.filter(({ outcome }) => outcome === 'refused').map(({ tool_id }) => tool_id);
        if (refused.length > 0) parts.log.warn('upstream-tools-refused', { upstream: name, tool_ids: refused });
      },
      (thrown: unknown) =>
        parts.log.error('upstream-tools-not-registered', { upstream: name, reason: failureOf(thrown).message }),
    );
  });
}

/** The upstream itself caused the change. */
const askerFor = (tenantId: string): Asker => ({
  caller: { door: 'mcp' },
  principal: { tenantId, agentDid: 'did:sallyport:upstream', roles: [] },
});
