import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../api/schemas/capability-token.ts';
import { loadSigningKeys, type SigningKeys } from './keys/signing-keys.ts';
import { createTokenMint, type TokenMint } from './mint-token.ts';
import { verifierWith } from './token/verifier.fixture.ts';

let folder: string;
let keys: SigningKeys;
let mint: TokenMint;
const mintWith = (revokedBefore: () => number) =>
  createTokenMint({
    ...{ keys: () => keys, issuer: 'sallyport', tenantId: 'default', agentDid: 'did:example:local' },
    ...{ revokedBefore, clock: systemClock },
  });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-mint-'));
  keys = await loadSigningKeys(folder);
  mint = mintWith(() => 0);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const verify = (token: string) =>
  verifierWith({ keys: [{ kid: keys.kid, key: keys.publicKey }], issuers: ['sallyport'] }).verify(token);

describe('createTokenMint', () => {
  test('a token says no more than was asked for, and verifies', async () => {
    const { capability_token, claims } = await mint.mint({});
    expect(claims).toMatchObject({
      tool_id: '*',
      tenant_id: 'default',
      agent_did: 'did:example:local',
      allowed_operations: ['execute'],
    });
    for (const absent of ['filesystem_permissions', 'network_permissions', 'credential_permissions', 'roles'])
      expect(claims).not.toHaveProperty(absent);
    expect(claims.exp - claims.iat).toBe(3600);
    expect(await verify(capability_token)).toEqual(claims);
  });

  test('every member of the request arrives', async () => {
    const { claims } = await mint.mint({
      tool_id: 'a',
      tool_version: '^1.0.0',
      agent_did: 'did:x',
      tenant_id: 't',
      user_did: 'u',
      session_id: 's',
      paths: ['/desk//a/'],
      mode: 'rw',
      hosts: ['api.example.com'],
      secrets: ['key'],
      roles: ['operator'],
      expires_in_seconds: 5,
    });
    expect(claims).toMatchObject({
      tool_id: 'a',
      tool_version: '^1.0.0',
      agent_did: 'did:x',
      tenant_id: 't',
      user_did: 'u',
      session_id: 's',
      filesystem_permissions: { allowed_paths: ['/desk/a'], mode: 'rw' },
      network_permissions: { allowed_hosts: ['api.example.com'], allowed_ports: [443] },
      credential_permissions: { allowed_secrets: ['key'] },
      roles: ['operator'],
    });
    expect(claims.exp - claims.iat).toBe(5);
  });

  test('each token has its own id, and an expired one can be made for trying out', async () => {
    const [a, b] = [await mint.mint({}), await mint.mint({ expires_in_seconds: -60 })];
    expect(a.claims.jti).not.toBe(b.claims.jti);
    expect(await verify(b.capability_token)).toMatchObject({ code: 'E3202' });
  });

  test('PRM-01.6 a token for an agent whose tokens are revoked counts from then on, and none is made while all are', async () => {
    const later = Math.floor(Date.now() / 1000) + 60;
    const since = mintWith(() => later);
    expect((await since.mint({})).claims.iat).toBe(later);
    const never = mintWith(() => Number.POSITIVE_INFINITY);
    await expect(never.mint({})).rejects.toMatchObject({ code: 'E3208' });
  });

  test('PRM-02.4 a token may be bound to a key; it opens the ports that were asked for, and paths in their normal form', async () => {
    const key_thumbprint = 'x'.repeat(43);
    const paths = ['/', '/a/', '/a/../b'];
    const { claims } = await mint.mint({ key_thumbprint, paths, hosts: ['a.example'], ports: [80, 8080] });
    expect(claims).toMatchObject({
      cnf: { jkt: key_thumbprint },
      filesystem_permissions: { allowed_paths: ['/', '/a', '/b'], mode: 'ro' },
      network_permissions: { allowed_hosts: ['a.example'], allowed_ports: [80, 8080] },
    });
    expect((await mint.mint({})).claims).not.toHaveProperty('cnf');
  });

  test.each<[readonly Role[], readonly string[]]>([
    [[], ['execute']],
    [['agent'], ['execute']],
    [['viewer'], []],
    [['approver'], []],
    [['viewer', 'approver'], []],
    [['viewer', 'agent'], ['execute']],
    [['operator'], ['execute']],
  ])('PRM-10.3 a token of the roles %j may %j', async (roles, allowed_operations) => {
    expect((await mint.mint({ roles: [...roles] })).claims).toMatchObject({ roles, allowed_operations });
  });

  test('PRM-02.4 a range that is none is refused with the cause', async () => {
    const refusal = mint.mint({ tool_version: 'latest' });
    await expect(refusal).rejects.toMatchObject({ code: 'E3801', cause: expect.any(TypeError) });
  });

  test.each([[{ paths: ['work'] }], [{ paths: ['/a\0'] }], [{ tool_version: 'latest' }]])(
    '%j is refused',
    async (request) => {
      await expect(mint.mint(request)).rejects.toMatchObject({ code: 'E3801' });
    },
  );
});
