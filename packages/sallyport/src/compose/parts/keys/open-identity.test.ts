import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import { SignJWT } from 'jose';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { memoryApiKeyStore } from '../../../../test/stores/memory-api-key-store.ts';
import { memoryProofIds } from '../../../../test/stores/memory-proof-ids.ts';
import { memoryRevocationStore } from '../../../../test/stores/memory-revocation-store.ts';
import { loadSigningKeys } from '../../../identity/keys/signing-keys.ts';
import type { RevocationStore } from '../../../identity/revocations.port.ts';
import { type Log, silentLog } from '../../../telemetry/log.ts';
import { readSettings } from '../../read-settings.ts';
import { developmentFolder, withDevelopmentServer } from '../../settings/development-settings.ts';
import type { Settings } from '../../settings.ts';
import { type IdentityParts, openIdentity } from '../open-identity.ts';

let folder: string;
let warned: string[];
beforeEach(async () => {
  warned = [];
  folder = await mkdtemp(join(tmpdir(), 'identity-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function open(
  given: Partial<Settings> = {},
  revocationStore: RevocationStore = memoryRevocationStore(),
): Promise<IdentityParts> {
  const log: Log = { ...silentLog, warn: (event) => void warned.push(event) };
  const settings = withDevelopmentServer(readSettings({ environment: {}, given: { data_folder: folder, ...given } }));
  const stores = {
    revocationStore,
    apiKeyStore: memoryApiKeyStore(),
    proofIds: memoryProofIds(),
  };
  const parts = await openIdentity({ settings, clock: systemClock, log }, Promise.resolve(stores));
  onTestFinished(() => parts[Symbol.asyncDispose]());
  return parts;
}

/** Agent of a token, or the code of its refusal. */
async function whoIs({ identify }: IdentityParts, token?: string): Promise<string> {
  const found = await identify({ door: 'rest', ...(token === undefined ? {} : { token }) });
  return isFailure(found) ? found.code : found.principal.agentDid;
}

test('PRM-01 PRM-02.4 own tokens are accepted until they are revoked, and who listens is notified', async () => {
  const parts = await open({ 'tenant.default': 'own', 'trust.default': 'provisional' });
  const { mintToken, revocations, defaultAgent, keyOverlapMs } = parts.operations;
  const { capability_token: token, claims } = await mintToken({ tenant_id: 'own' });
  expect(claims).toMatchObject({ iss: 'sallyport', tenant_id: 'own', agent_did: defaultAgent });
  expect(await whoIs(parts, token)).toBe(defaultAgent);
  const found = await parts.identify({ door: 'rest', token });
  expect(found).toMatchObject({ principal: { trust: 'provisional' } });
  expect(parts.identifyAgain(claims)).toMatchObject({ principal: { trust: 'provisional', agentDid: defaultAgent } });
  expect([parts.identifyAgain(claims).refused, parts.wasRevoked(claims), keyOverlapMs > 0]).toEqual([
    undefined,
    false,
    true,
  ]);
  let looks = 0;
  parts.onRevocations(() => {
    looks += 1;
  });
  const before = looks;
  await revocations.revoke({ tenantId: 'own', kind: 'token', subject: claims.jti ?? '', by: 'a' });
  expect(looks).toBeGreaterThan(before);
  expect([await whoIs(parts, token), parts.wasRevoked(claims)]).toEqual(['E3208', true]);
  expect(parts.identifyAgain(claims).refused?.code).toBe('E3208');
  expect([await whoIs(parts), parts.health(), warned]).toEqual(['E3212', { ok: true }, []]);
});

test('PRM-02.4 what was revoked before the start is refused from the first call on', async () => {
  const store = memoryRevocationStore();
  const before = await open({}, store);
  const { capability_token: token, claims } = await before.operations.mintToken({ tenant_id: 'default' });
  await before.operations.revocations.revoke({
    ...{ tenantId: 'default', kind: 'token', subject: claims.jti ?? '', by: 'a' },
  });
  expect(await whoIs(await open({}, store), token)).toBe('E3208');
});

test('PRM-02.5 PRM-02.7 where tokens are not required, callers have none, and the log and the health say so', async () => {
  const parts = await open({ 'tokens.mode': 'optional' });
  expect(await whoIs(parts)).toBe('did:sallyport:agent');
  expect(warned).toEqual(['tokens-not-required']);
  expect(parts.health()).toEqual({ ok: true, message: 'tokens.mode is optional: callers need no token' });
});

test('PRM-02.1 PRM-01.9 keys of others are those of the file, for the issuers that are named', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const file = join(folder, 'key.pem');
  await writeFile(file, publicKey.export({ type: 'spki', format: 'pem' }));
  const sign = async (iss: string) =>
    new SignJWT({ tool_id: '*', agent_did: 'did:example:b', tenant_id: 'default', allowed_operations: ['execute'] })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(iss)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  const parts = await open({ 'tokens.public_key_file': file, 'tokens.issuers': ['https://other.example'] });
  expect(await whoIs(parts, await sign('https://other.example'))).toBe('did:example:b');
  for (const iss of ['https://third.example', 'sallyport']) expect(await whoIs(parts, await sign(iss))).toBe('E3201');
  expect(await whoIs(await open(), await sign('https://other.example'))).toBe('E3201');
  const keys = parts.operations.foreignKeys.keys();
  expect([keys.length, parts.health()]).toEqual([1, { ok: true }]);
});

test('PRM-02.2 keys that cannot be had are a fault of the health, of capability tokens and of access tokens', async () => {
  const url = 'http://127.0.0.1:9/keys';
  for (const given of [
    { 'tokens.jwks_url': url, 'tokens.issuers': ['https://other.example'] },
    { 'oauth.jwks_url': url, 'oauth.issuer': 'https://id.example', 'oauth.audiences': ['layer'] },
  ]) {
    const parts = await open(given);
    await expect.poll(() => parts.health().ok, { interval: 20 }).toBe(false);
    expect(parts.health().message).toEqual(expect.any(String));
  }
  await expect(open({ 'tokens.algorithms': ['none'] })).rejects.toMatchObject({ code: 'E3801' });
});

test('PRM-02.2 keys of others are fetched before anybody shows a token of theirs', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.setHeader('content-type', 'application/json').end('{"keys":[]}');
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`;
  await open({
    ...{ 'tokens.jwks_url': at('capability'), 'tokens.issuers': ['https://other.example'] },
    ...{ 'oauth.jwks_url': at('oauth'), 'oauth.issuer': 'https://id.example', 'oauth.audiences': ['layer'] },
  });
  await expect.poll(() => asked.toSorted(), { interval: 20 }).toEqual(['/capability', '/oauth']);
});

test('PRM-11.7 the own authorization server is known before it serves its keys', async () => {
  const parts = await open({ 'auth.dev': true, 'server.port': 7420 });
  const { privateKey, kid } = await loadSigningKeys(developmentFolder({ data_folder: folder }));
  const sign = (issuer: string) =>
    new SignJWT({ sub: 'ann', client_id: 'c', scope: '' })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
      .setIssuer(issuer)
      .setAudience('http://127.0.0.1:7420/mcp')
      .setJti('a')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  expect(await whoIs(parts, await sign('http://127.0.0.1:7420'))).not.toMatch(/^E/);
  expect(await whoIs(parts, await sign('http://127.0.0.1:7421'))).toBe('E3201');
});

test('PRM-11.6 nonces of proofs are those of the own key, and none where they are not asked for', async () => {
  const parts = await open();
  const nonce = parts.proofNonce();
  expect([typeof nonce, parts.proofNonce()]).toEqual(['string', nonce]);
  expect((await open()).proofNonce()).toBe(nonce);
  await parts.operations.keyRing.rotate(0);
  expect(parts.proofNonce()).not.toBe(nonce);
  expect((await open({ 'dpop.nonces': false })).proofNonce()).toBeUndefined();
  const signature = await parts.signer.sign('head');
  expect(await parts.signer.verify('head', signature.keyId, signature.signature)).toBe(true);
});

test('PRM-02 a fault of the keys is said before one of the database, and a database that fails is said too', async () => {
  const down = Promise.reject(new Error('no database'));
  const start = (given: Partial<Settings>) =>
    openIdentity(
      {
        settings: readSettings({ environment: {}, given: { data_folder: folder, ...given } }),
        ...{ clock: systemClock, log: silentLog },
      },
      down,
    );
  await expect(start({ 'tokens.algorithms': ['none'] })).rejects.toMatchObject({ code: 'E3801' });
  await expect(start({})).rejects.toThrow('no database');
});
