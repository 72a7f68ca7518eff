import { failure } from '@sallyport/std/error/failure';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import {
  ApiKey,
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListResponse,
  ApiKeyRevokeRequest,
} from '../../../api/schemas/identity/api-key.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { StoredApiKey } from '../../identity/api-keys.port.ts';
import { grantedClaims } from '../../identity/mint-token.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { identityEvent } from './identity-event.ts';
import { mayGrant, rootToGrant, trustToGrant } from './may-grant.ts';

type Parts = Pick<OperationParts, 'apiKeys' | 'ledger' | 'clock'>;

/** Creates a key under the rules of `tokens.mint`: for the asker's own tenant, with no role that the asker lacks. */
export const createApiKey = operation({
  name: 'api-keys.create',
  summary: 'Make an API key (PRM-10)',
  method: 'POST',
  path: '/v1/api-keys',
  status: 201,
  access: 'operator',
  input: ApiKeyCreateRequest,
  output: ApiKeyCreateResponse,
  run:
    (parts: Parts & Pick<OperationParts, 'defaultAgent'>) =>
    async ({ name, expires_in_seconds: seconds, ...request }, asker) => {
      const { agentDid: by, tenantId: own } = asker.principal;
      const { tenant_id: tenantId = own, roles = ['agent'], trust_level: asked } = request;
      const refused = mayGrant(asker, { tenantId, roles, trust: asked });
      if (refused !== undefined) return refused;
      const trust = asked ?? trustToGrant(asker);
      const root = rootToGrant(asker);
      const bounds = {
        ...(trust === undefined ? {} : { trust_level: trust }),
        ...(root === undefined ? {} : { root_holder: root }),
      };
      const claims = grantedClaims(
        { ...request, ...bounds, roles: [...roles] },
        { tenantId, agentDid: parts.defaultAgent },
      );
      const expiry = seconds === undefined ? {} : { expiresAt: parts.clock.now() + seconds * 1000 };
      const eventsOf = (stored: StoredApiKey) => {
        const { key_id: subject, prefix, agent_did, roles: given, tool_id, expires_at } = wireOf(stored, 0);
        const said = { subject, name, prefix, agent_did, roles: given, tool_id, expires_at };
        return [identityEvent(parts, asker, tenantId, 'api-key-created', said)];
      };
      const { key, stored } = await recordedChange(parts.ledger, eventsOf, (keep) =>
        parts.apiKeys.create({ name, claims, by, ...expiry }, keep),
      );
      return { api_key: key, key: wireOf(stored, parts.clock.now()) };
    },
});

/** The keys of the asker's tenant, the newest first. */
export const listApiKeys = operation({
  name: 'api-keys.list',
  summary: 'List the API keys of the tenant',
  method: 'GET',
  path: '/v1/api-keys',
  status: 200,
  access: 'viewer',
  input: NoInput,
  output: ApiKeyListResponse,
  run:
    ({ apiKeys, clock }: Pick<Parts, 'apiKeys' | 'clock'>) =>
    async (_input, { principal }) => {
      const keys = await apiKeys.list(principal.tenantId);
      return { keys: keys.map((key) => wireOf(key, clock.now())) };
    },
});

/** Revokes a key of the asker's tenant; effective at once in this instance, within a second in others. */
export const revokeApiKey = operation({
  name: 'api-keys.revoke',
  summary: 'Revoke an API key',
  method: 'DELETE',
  path: '/v1/api-keys/{key_id}',
  status: 200,
  access: 'operator',
  input: ApiKeyRevokeRequest,
  output: ApiKey,
  run:
    (parts: Parts) =>
    async ({ key_id: id }, asker) => {
      const { tenantId } = asker.principal;
      const revoked = await revokedKey(parts, asker, tenantId, id);
      if (revoked === undefined) return failure('E3809', `The tenant has no API key ${id}. See "api-keys list".`);
      return wireOf(revoked, parts.clock.now());
    },
});

/** Revokes a key, on record. Undefined when the tenant has no key with this id. */
export function revokedKey(
  parts: Parts,
  asker: Asker,
  tenantId: string,
  id: string,
): Promise<StoredApiKey | undefined> {
  const eventsOf = ({ name }: StoredApiKey) => [
    identityEvent(parts, asker, tenantId, 'api-key-revoked', { subject: id, name }),
  ];
  return recordedChange(parts.ledger, eventsOf, (keep) => parts.apiKeys.revoke(tenantId, id, keep));
}

function wireOf(stored: StoredApiKey, now: number): ApiKey {
  const { id, name, prefix, tenantId, claims, createdAt, createdBy, expiresAt, revokedAt, lastUsedAt } = stored;
  const isOver = expiresAt !== undefined && expiresAt <= now;
  return {
    key_id: id,
    name,
    prefix,
    tenant_id: tenantId,
    agent_did: claims.agent_did,
    roles: [...(claims.roles ?? ['agent'])],
    ...(claims.trust_level === undefined ? {} : { trust_level: claims.trust_level }),
    tool_id: claims.tool_id,
    state: revokedAt !== undefined ? 'revoked' : isOver ? 'expired' : 'active',
    created_at: new Date(createdAt).toISOString(),
    created_by: createdBy,
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    ...(revokedAt === undefined ? {} : { revoked_at: new Date(revokedAt).toISOString() }),
    ...(lastUsedAt === undefined ? {} : { last_used_at: new Date(lastUsedAt).toISOString() }),
  };
}
