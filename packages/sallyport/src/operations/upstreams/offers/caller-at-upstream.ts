import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { callerCredentials, type UpstreamCaller } from '../../../mcp-servers/upstreams.ts';
import type { Asker } from '../../operation.ts';

/**
 * The asker as the owner of a connection to an upstream. Undefined where all share one, and when the asker's token, or
 * the secret store, gives it no credential.
 */
export async function callerAtUpstream(
  store: SecretStore,
  { principal, claims, caller }: Asker,
  definition: UpstreamDefinition | undefined,
): Promise<UpstreamCaller | undefined> {
  if (definition?.per_caller !== true) return undefined;
  const names = callerCredentials(definition);
  const granted = claims?.credential_permissions?.allowed_secrets ?? [];
  if (names.some((name) => !granted.includes(name))) return undefined;
  if (names.length === 0) return { principal, secrets: new Map() };
  const { token, signal } = caller;
  try {
    return { principal, secrets: await store.read(principal.tenantId, names, { token, ...(signal && { signal }) }) };
  } catch {
    return undefined;
  }
}
