import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import { jwksUrlFault } from '../keys/fetch-document.ts';
import type { StoredRevocation } from '../revocations.port.ts';
import { revocationIndex } from './revocation-index.ts';

const NOW = 1_800_000_000;
const revocation = (more: Partial<StoredRevocation>): StoredRevocation =>
  ({
    id: 'r',
    tenantId: 'acme',
    kind: 'token',
    subject: 'j',
    by: 'did:op',
    at: NOW * 1000,
    ...more,
  }) as StoredRevocation;
const claims = (more: Partial<CapabilityClaims> = {}): CapabilityClaims =>
  ({ tenant_id: 'acme', agent_did: 'did:a', iat: NOW, exp: NOW + 60, jti: 'j', ...more }) as CapabilityClaims;

describe('which tokens are revoked', () => {
  test('PRM-01.7 PRM-01.8 an agent up to a second, until that is lifted; its bound never sinks by another revocation', () => {
    const index = revocationIndex();
    index.take([revocation({ kind: 'agent', subject: 'did:a', issuedBefore: NOW + 1 })]);
    expect([index.isRevoked(claims()), index.isRevoked(claims({ agent_did: 'did:b' }))]).toEqual([true, false]);
    expect([index.issuedBefore('acme', 'did:a'), index.issuedBefore('acme', 'did:b'), index.size()]).toEqual([
      NOW + 1,
      0,
      0,
    ]);
    index.add(revocation({ kind: 'agent', subject: 'did:a', issuedBefore: NOW }));
    expect(index.issuedBefore('acme', 'did:a')).toBe(NOW + 1);
    index.add(revocation({ kind: 'agent', subject: 'did:a' }));
    expect(index.issuedBefore('acme', 'did:a')).toBe(Number.POSITIVE_INFINITY);
    index.take([revocation({ kind: 'agent', subject: 'did:a', lifted: true })]);
    expect(index.isRevoked(claims())).toBe(false);
    index.take([revocation({ kind: 'tenant', subject: '', issuedBefore: NOW + 1 })]);
    expect(index.isRevoked(claims({ agent_did: 'did:b' }))).toBe(true);
    index.add(revocation({ kind: 'tenant', subject: '', issuedBefore: NOW }));
    expect(index.issuedBefore('acme', 'did:b')).toBe(NOW + 1);
    index.take([revocation({ kind: 'tenant', subject: '', lifted: true })]);
    expect(index.isRevoked(claims())).toBe(false);
  });

  test('PRM-01.8 of an agent or a tenant those that were issued before a second, not in it', () => {
    for (const subject of [{ kind: 'agent', subject: 'did:a' } as const, { kind: 'tenant', subject: '' } as const]) {
      const index = revocationIndex();
      index.take([revocation({ ...subject, issuedBefore: NOW })]);
      expect([NOW - 1, NOW, NOW + 1].map((iat) => index.isRevoked(claims({ iat })))).toEqual([true, false, false]);
    }
  });

  test('PRM-01.6 a token that is revoked while its tenant is stays so when that is lifted', () => {
    const index = revocationIndex();
    index.take([revocation({ kind: 'tenant', subject: '' })]);
    index.add(revocation({}));
    index.take([revocation({ kind: 'tenant', subject: '', lifted: true })]);
    expect([index.isRevoked(claims()), index.isRevoked(claims({ jti: 'k' }))]).toEqual([true, false]);
  });

  test('PRM-01.6 a token until its end, counted once', () => {
    const index = revocationIndex();
    for (const subject of ['j', 'j', 'k']) index.add(revocation({ subject, expiresAt: 1_000 }));
    expect([index.size(), index.isRevoked(claims()), index.isRevoked(claims({ jti: 'l' }))]).toEqual([2, true, false]);
    index.prune(999);
    expect(index.size()).toBe(2);
    index.take([revocation({ subject: 'k', lifted: true })]);
    expect([index.size(), index.isRevoked(claims({ jti: 'k' }))]).toEqual([1, false]);
    index.prune(1_000);
    expect([index.size(), index.isRevoked(claims())]).toEqual([0, false]);
    index.add(revocation({}));
    index.prune(1e300);
    expect([index.size(), index.isRevoked(claims({ tenant_id: 'other' }))]).toEqual([1, false]);
  });
});

test('PRM-02.2 keys are asked for over https, or on this machine, and with no password in the address', () => {
  for (const url of ['https://id.example/keys', 'http://127.0.0.1:1/keys', 'http://localhost/keys'])
    expect(jwksUrlFault(url)).toBeUndefined();
  for (const [url, why] of [
    ['keys', 'is not a URL'],
    ['https://user@id.example', 'must not hold a password'],
    ['https://:word@id.example', 'must not hold a password'],
    ['http://id.example', 'must begin with https://'],
    ['ftp://127.0.0.1', 'must begin with https://'],
  ] as const)
    expect(jwksUrlFault(url)).toContain(why);
});
