import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { StoredRevocation } from '../revocations.port.ts';

/** Revocations of one tenant, in the form for checks. */
interface TenantRevocations {
  /** By `jti`: epoch ms after which the entry is irrelevant. */
  readonly tokens: Map<string, number>;
  /** By agent: tokens issued before this second (epoch) are revoked. */
  readonly agents: Map<string, number>;
  issuedBefore: number;
}

/** All revocations, in memory. */
export interface RevocationIndex {
  /** Takes over the store's current state. */
  take(revocations: readonly StoredRevocation[]): void;
  /** Adds a revocation made here; a known one may be newer and wider, and then stays. */
  add(revocation: StoredRevocation): void;
  isRevoked(claims: CapabilityClaims): boolean;
  /** Second before which an agent's tokens count as revoked; infinite for all of them, 0 for none. */
  issuedBefore(tenantId: string, agentDid: string): number;
  /** Number of revoked single tokens, across all tenants. */
  size(): number;
  /** Removes expired tokens. */
  prune(nowMs: number): void;
}

export function revocationIndex(): RevocationIndex {
  const tenants = new Map<string, TenantRevocations>();
  let size = 0;
  const tenantOf = (tenantId: string): TenantRevocations => {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const tenant = { tokens: new Map(), agents: new Map(), issuedBefore: 0 };
    tenants.set(tenantId, tenant);
    return tenant;
  };
  const takeOne = ({ tenantId, kind, subject, issuedBefore, expiresAt, lifted }: StoredRevocation): void => {
    const tenant = tenantOf(tenantId);
    const bound = lifted === true ? 0 : (issuedBefore ?? Number.POSITIVE_INFINITY);
    if (kind === 'tenant') tenant.issuedBefore = bound;
    else if (kind === 'agent') setOrDelete(tenant.agents, subject, lifted === true ? undefined : bound);
    else {
      const before = tenant.tokens.size;
      setOrDelete(tenant.tokens, subject, lifted === true ? undefined : (expiresAt ?? Number.POSITIVE_INFINITY));
      size += tenant.tokens.size - before;
    }
  };
  return {
    take: (revocations) => revocations.forEach(takeOne),
    add(revocation) {
      const tenant = tenantOf(revocation.tenantId);
      const { kind, subject, issuedBefore } = revocation;
      const known = kind === 'agent' ? (tenant.agents.get(subject) ?? 0) : tenant.issuedBefore;
      if (kind === 'token' || known < (issuedBefore ?? Number.POSITIVE_INFINITY)) takeOne(revocation);
    },
    isRevoked({ tenant_id, agent_did, iat, jti }) {
      const tenant = tenants.get(tenant_id);
      if (tenant === undefined) return false;
      return iat < revokedBefore(tenant, agent_did) || (jti !== undefined && tenant.tokens.has(jti));
    },
    issuedBefore(tenantId, agentDid) {
      const tenant = tenants.get(tenantId);
      return tenant === undefined ? 0 : revokedBefore(tenant, agentDid);
    },
    size: () => size,
    prune(nowMs) {
      for (const { tokens } of tenants.values())
        for (const [jti, expiresAt] of tokens) if (expiresAt <= nowMs && tokens.delete(jti)) size -= 1;
    },
  };
}

function revokedBefore({ issuedBefore, agents }: TenantRevocations, agentDid: string): number {
  return Math.max(issuedBefore, agents.get(agentDid) ?? 0);
}

function setOrDelete(map: Map<string, number>, key: string, value: number | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
