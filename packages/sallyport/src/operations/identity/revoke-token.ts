import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import {
  Revocation,
  RevocationLiftRequest,
  RevocationListRequest,
  RevocationListResponse,
  TokenRevokeRequest,
} from '../../../api/schemas/identity/revocation.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import { isApiKey } from '../../identity/api-keys.ts';
import { readUnverified } from '../../identity/authenticator.ts';
import type { StoredRevocation } from '../../identity/revocations.port.ts';
import type { NewRevocation } from '../../identity/revocations.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { revokedKey } from './api-keys.ts';
import { identityEvent } from './identity-event.ts';

type Parts = Pick<OperationParts, 'revocations' | 'apiKeys' | 'ledger' | 'clock'>;

/** Members that select what to revoke. */
const WHAT = ['token', 'jti', 'agent_did', 'whole_tenant'] as const;
const PAGE_SIZE = 50;

/**
 * Revokes one token, or those of an agent or of the asker's tenant (PRM-01); effective at once in this instance, within
 * a second in others.
 */
export const revokeToken = operation({
  name: 'tokens.revoke',
  summary: 'Revoke one token, or the tokens of an agent or of the tenant (PRM-01)',
  method: 'POST',
  path: '/v1/revocations',
  status: 201,
  access: 'operator',
  input: TokenRevokeRequest,
  output: Revocation,
  run: (parts: Parts) => async (input, asker) => {
    if (input.token !== undefined && isApiKey(input.token.trim())) return revokeKeyItself(parts, input, asker);
    const wanted = revocationFor(input, asker, parts.clock.now());
    if (isFailure(wanted)) return wanted;
    const eventsOf = (kept: StoredRevocation) => {
      const { revocation_id, kind, subject, issued_before, reason } = wireOf(kept);
      const said = { subject, revocation_id, kind, issued_before, reason };
      return [identityEvent(parts, asker, kept.tenantId, 'token-revoked', said)];
    };
    return wireOf(await recordedChange(parts.ledger, eventsOf, (keep) => parts.revocations.revoke(wanted, keep)));
  },
});

/** Revocations of the asker's tenant, in pages. */
export const listRevocations = operation({
  name: 'revocations.list',
  summary: 'List what is revoked, the latest first',
  method: 'GET',
  path: '/v1/revocations',
  status: 200,
  access: 'viewer',
  input: RevocationListRequest,
  output: RevocationListResponse,
  run:
    ({ revocations }: Pick<OperationParts, 'revocations'>) =>
    async ({ page = 1, page_size = PAGE_SIZE }, { principal }) => {
      const found = await revocations.list(principal.tenantId, page_size, (page - 1) * page_size);
      return { revocations: found.revocations.map(wireOf), total: found.total };
    },
});

/** Lifts a revocation of the asker's tenant. */
export const liftRevocation = operation({
  name: 'revocations.lift',
  summary: 'Take a revocation back',
  method: 'DELETE',
  path: '/v1/revocations/{revocation_id}',
  status: 200,
  access: 'operator',
  input: RevocationLiftRequest,
  output: Revocation,
  run:
    (parts: Parts) =>
    async ({ revocation_id: id }, asker) => {
      const { tenantId } = asker.principal;
      const eventsOf = ({ kind, subject }: StoredRevocation) => [
        identityEvent(parts, asker, tenantId, 'revocation-lifted', { subject, revocation_id: id, kind }),
      ];
      const lifted = await recordedChange(parts.ledger, eventsOf, (keep) => parts.revocations.lift(tenantId, id, keep));
      if (lifted === undefined) return failure('E3809', `The tenant has no revocation ${id}. See "token revocations".`);
      return wireOf(lifted);
    },
});

function revocationFor(input: TokenRevokeRequest, asker: Asker, now: number): NewRevocation | Failure {
  const named = WHAT.filter((name) => input[name] !== undefined);
  if (named.length !== 1)
    return failure('E3801', `Say what to revoke by exactly one of ${WHAT.join(', ')}; there are ${named.length}.`);
  const { token, jti, agent_did: agentDid, issued_before: before, expires_at: expires, reason } = input;
  if (before !== undefined && (token !== undefined || jti !== undefined))
    return failure('E3801', 'issued_before goes with agent_did or whole_tenant. A single token is revoked as it is.');
  if (expires !== undefined && jti === undefined)
    return failure('E3801', 'expires_at goes with jti. Everything else says by itself when it ends.');
  const { tenantId, agentDid: by } = asker.principal;
  const rest = { tenantId, by, ...(reason === undefined ? {} : { reason }) };
  if (token !== undefined) return revocationOfToken(token, asker, rest);
  if (jti !== undefined) {
    const expiry = expires === undefined ? {} : { tokenExpiresAt: Date.parse(expires) / 1000 };
    return { ...rest, kind: 'token', subject: jti, ...expiry };
  }
  const given = before === undefined ? undefined : Date.parse(before) / 1000;
  if (agentDid !== undefined)
    return { ...rest, kind: 'agent', subject: agentDid, ...(given === undefined ? {} : { issuedBefore: given }) };
  // The present second is revoked as a whole: its tokens cannot be distinguished by time.
  return { ...rest, kind: 'tenant', subject: '', issuedBefore: given ?? Math.floor(now / 1000) + 1 };
}

/** The signature is not checked: an asker who may revoke by jti may also name the jti by a token. */
function revocationOfToken(
  token: string,
  { principal, caller }: Asker,
  rest: Pick<NewRevocation, 'tenantId' | 'by' | 'reason'>,
): NewRevocation | Failure {
  const { jti, tenantId, expiresAt } = readUnverified(token.trim());
  if (jti === undefined)
    return failure('E3801', 'The token cannot be read or has no jti. Revoke the tokens of its agent instead.');
  if (tenantId !== undefined && tenantId !== principal.tenantId && caller.local !== true)
    return failure('E3213', 'The token is of another tenant. Its own operator may revoke it.');
  const expiry = expiresAt === undefined ? {} : { tokenExpiresAt: expiresAt };
  return { ...rest, tenantId: tenantId ?? principal.tenantId, kind: 'token', subject: jti, ...expiry };
}

async function revokeKeyItself(parts: Parts, { token = '' }: TokenRevokeRequest, asker: Asker) {
  const claims = parts.apiKeys.identifyAny(token.trim());
  if (isFailure(claims)) return claims;
  const { tenant_id: tenantId, jti = '' } = claims;
  if (tenantId !== asker.principal.tenantId && asker.caller.local !== true)
    return failure('E3213', 'The API key is of another tenant. Its own operator may revoke it.');
  const revoked = await revokedKey(parts, asker, tenantId, jti);
  if (revoked === undefined) return failure('E3809', 'The API key is gone already.');
  const revokedAt = new Date(revoked.revokedAt ?? parts.clock.now()).toISOString();
  return {
    revocation_id: jti,
    tenant_id: tenantId,
    kind: 'api_key' as const,
    subject: jti,
    revoked_at: revokedAt,
    revoked_by: asker.principal.agentDid,
  };
}

function wireOf(stored: StoredRevocation): Revocation {
  const { id, tenantId, kind, subject, issuedBefore, expiresAt, revokedAt, revokedBy, reason } = stored;
  return {
    revocation_id: id,
    tenant_id: tenantId,
    kind,
    subject,
    ...(issuedBefore === undefined ? {} : { issued_before: new Date(issuedBefore * 1000).toISOString() }),
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    revoked_at: new Date(revokedAt).toISOString(),
    revoked_by: revokedBy,
    ...(reason === undefined ? {} : { reason }),
  };
}
