import { generateKeyPairSync } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isFailure } from '@sallyport/std/error/failure';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryApiKeyStore } from '../../../test/stores/memory-api-key-store.ts';
import { memoryRevocationStore } from '../../../test/stores/memory-revocation-store.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { API_KEYS_MAX, createApiKeys } from '../api-keys.ts';
import { createAuthenticator } from '../authenticator.ts';
import { keysOfDocument } from '../keys/key-document.ts';
import { createTokenMint } from '../mint-token.ts';
import { createRevocations } from '../revocations.ts';
import { verifierWith } from './verifier.fixture.ts';

const NOW = 1_800_000_000_000;
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CLAIMS = { tool_id: '*', agent_did: 'did:a', tenant_id: 'acme', allowed_operations: ['execute'] };

let now: number;
let logged: [event: string, fields: unknown][];
beforeEach(() => {
  [now, logged] = [NOW, []];
});
const clock = { now: () => now, monotonic: () => now - NOW };
const log: Log = { ...silentLog, warn: (event, fields) => void logged.push([event, fields]) };

async function apiKeys(store = memoryApiKeyStore()) {
  const keys = createApiKeys({ store, isRevoked: () => false, clock, log, followMs: 5, onLook: () => {} });
  await keys.start();
  return keys;
}
const verifier = () => verifierWith({ keys: [{ kid: 'k', key: publicKey }], issuers: ['issuer'], clock });
const signed = (more: object) =>
  new SignJWT({ ...CLAIMS, iss: 'issuer', iat: NOW / 1000, exp: NOW / 1000 + 60, ...more })
    .setProtectedHeader({ alg: 'RS256' })
    .sign(privateKey);

describe('API keys', () => {
  test('PRM-10.1 their uses are written when the layer ends, and again later where they could not be', async () => {
    const store = memoryApiKeyStore();
    const noted: string[][] = [];
    let isDown = true;
    const keys = await apiKeys({
      ...store,
      async noteUses(uses) {
        if (isDown) throw new Error('no database');
        noted.push(uses.map(({ id, atMs }) => `${id} ${atMs}`));
      },
    });
    const { key, stored } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    keys.identify(key);
    await keys[Symbol.asyncDispose]();
    expect(logged).toEqual([['api-key-uses-not-kept', { reason: 'no database' }]]);
    isDown = false;
    now += 5;
    await keys[Symbol.asyncDispose]();
    expect(noted).toEqual([[`${stored.id} ${NOW}`]]);
    await keys[Symbol.asyncDispose]();
    expect(noted).toHaveLength(1);
  });

  test('PRM-10.1 guesses are limited, which is in the log once a minute with their number', async () => {
    const keys = await apiKeys();
    const guess = (): string => {
      const found = keys.identify(`sp_${'x'.repeat(43)}`);
      return isFailure(found) ? found.code : 'known';
    };
    const codes = Array.from({ length: 102 }, guess);
    expect([codes.filter((code) => code === 'E3201').length, codes.slice(-2)]).toEqual([100, ['E3303', 'E3303']]);
    now += 50;
    expect([guess(), guess()]).toEqual(['E3201', 'E3303']);
    now += 59_949;
    for (let at = 0; at < 101; at += 1) guess();
    expect(logged.map(([, fields]) => fields)).toEqual([{ refused: 1 }]);
    now += 1;
    guess();
    expect(logged).toEqual([1, 4].map((refused) => ['api-keys-guessed', { refused }]));
    await keys[Symbol.asyncDispose]();
  });

  test('PRM-01.6 only what came by the key is revoked with it, no token of another issuer with its id', async () => {
    const keys = await apiKeys();
    const { key, stored } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    const claims = keys.identify(key);
    if (isFailure(claims)) throw new Error('the key is unknown');
    await keys.revoke('acme', stored.id);
    const { jti: _jti, ...nameless } = claims;
    expect([claims, { ...claims, iss: 'issuer' }, nameless].map((each) => keys.isRevoked(each))).toEqual([
      true,
      false,
      false,
    ]);
    const { explain } = createAuthenticator(verifier(), keys);
    const revoked = { e_code: 'E3208', message: expect.stringContaining('was revoked') };
    expect(await explain(key)).toEqual({ kind: 'api_key', accepted: false, claims: [], reasons: [revoked] });
    await keys[Symbol.asyncDispose]();
  });
});

describe('API keys of a tenant', () => {
  test('PRM-10.1 one is on record before anybody has it, and where it cannot be, there is none', async () => {
    const store = memoryApiKeyStore();
    const keys = await apiKeys({ ...store, insert: () => Promise.reject(new Error('no database')) });
    await expect(keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' })).rejects.toThrow('no database');
    const { promise: written, resolve } = Promise.withResolvers<void>();
    const slow = await apiKeys({ ...store, insert: async (key) => written.then(() => store.insert(key)) });
    let isMade = false;
    const making = slow.create({ name: 'n', claims: CLAIMS, by: 'did:op', expiresAt: NOW + 1000 }).then((made) => {
      isMade = true;
      return made;
    });
    await nextTurn();
    expect(isMade).toBe(false);
    resolve();
    const { key } = await making;
    expect(slow.identify(key)).toMatchObject({ exp: NOW / 1000 + 1 });
    const { explain } = createAuthenticator(verifier(), slow);
    expect(await explain(key)).toMatchObject({ kind: 'api_key', accepted: true, reasons: [] });
    expect(await explain(await signed({}))).toMatchObject({ kind: 'capability_token', accepted: true });
    for (const each of [keys, slow]) await each[Symbol.asyncDispose]();
  });

  test('PRM-10.1 they are ten thousand at most, and what is known of one stays the same object', async () => {
    const store = memoryApiKeyStore();
    let held = 0;
    const keys = await apiKeys({ ...store, list: async () => Array.from({ length: held }) as never });
    held = API_KEYS_MAX - 1;
    const { key } = await keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' });
    const claims = keys.identify(key);
    expect(keys.identify(key)).toBe(claims);
    held = API_KEYS_MAX;
    await expect(keys.create({ name: 'n', claims: CLAIMS, by: 'did:op' })).rejects.toMatchObject({ code: 'E3810' });
    await keys[Symbol.asyncDispose]();
  });
});

describe('tokens', () => {
  test('PRM-01 the time from which one counts is a number, and what is odd is named', async () => {
    const refused = { code: 'E3201', details: { claims: ['nbf'] } };
    expect(await verifier().verify(await signed({ nbf: 'x' }))).toMatchObject(refused);
    const { reasons } = await verifier().explain(await signed({ nbf: 'x', agent_did: 7 }));
    expect(reasons.map(({ message }) => message)).toContain(
      'The capability token has claims of the wrong form: agent_did, nbf.',
    );
    expect(await verifier().verify(await signed({ nbf: NOW / 1000 }))).toMatchObject({ agent_did: 'did:a' });
    expect(await verifier().verify(await signed({ nbf: NOW / 1000 + 6 }))).toMatchObject({ code: 'E3201' });
  });

  test('PRM-01.3 what cannot be read at all, and a part of it that cannot, are explained', async () => {
    const { explain } = verifier();
    expect(await explain('x')).toMatchObject({ kind: 'unreadable', accepted: false, claims: [] });
    const [header = '', payload = '', signature = ''] = (await signed({})).split('.');
    const noPayload = await explain(`${header}.W10.${signature}`);
    expect(noPayload).toMatchObject({ kind: 'capability_token', header: { alg: 'RS256' }, claims: [] });
    expect(noPayload.reasons.map(({ message }) => message).join()).toContain(
      'payload of the token is not a JSON object',
    );
    const noHeader = await explain(`W10.${payload}.${signature}`);
    expect(noHeader).toMatchObject({ kind: 'capability_token', accepted: false });
    expect(noHeader).not.toHaveProperty('header');
    expect(noHeader.claims.map(({ name }) => name)).toContain('agent_did');
  });

  test('PRM-02.4 each member of a request arrives in its token, and a path has a length that Linux takes', async () => {
    const keys = { kid: 'k', privateKey, publicKey };
    const { mint } = createTokenMint({
      ...{ keys: () => keys, issuer: 'issuer', tenantId: 'acme', agentDid: 'did:a' },
      ...{ revokedBefore: () => 0, clock },
    });
    const request = {
      user_did: 'did:u',
      session_id: 's',
      roles: ['viewer' as const],
      trust_level: 'untrusted' as const,
      tool_version: '^1.0.0',
    };
    const { claims } = await mint(request);
    expect(claims).toMatchObject({ ...request, allowed_operations: [] });
    const bare = (await mint({})).claims;
    for (const absent of Object.keys(request)) expect(bare).not.toHaveProperty(absent);
    const root_holder = { issuer: 'https://id.example', subject: 'ann' } as never;
    const rooted = (await mint({ root_holder, paths: ['/desk'], hosts: ['a.example'] })).claims;
    expect(rooted).toMatchObject({
      ...{ root_holder, filesystem_permissions: { allowed_paths: ['/desk'], mode: 'ro' } },
      network_permissions: { allowed_hosts: ['a.example'], allowed_ports: [443] },
    });
    expect(bare).not.toHaveProperty('root_holder');
    const path = `/${'x'.repeat(4095)}`;
    expect((await mint({ paths: [path] })).claims.filesystem_permissions?.allowed_paths).toEqual([path]);
    await expect(mint({ paths: [`${path}x`] })).rejects.toMatchObject({ code: 'E3801' });
  });

  test('PRM-01.6 why a token was revoked is on record', async () => {
    const revocations = createRevocations({
      store: memoryRevocationStore(),
      clock,
      log,
      followMs: 5,
      onLook: () => {},
    });
    await revocations.start();
    await revocations.revoke({ tenantId: 'acme', kind: 'token', subject: 'j', by: 'did:op', reason: 'lost' });
    await revocations.revoke({ tenantId: 'acme', kind: 'token', subject: 'k', by: 'did:op' });
    const { revocations: found } = await revocations.list('acme', 9, 0);
    expect(Object.fromEntries(found.map(({ subject, reason }) => [subject, reason]))).toEqual({
      j: 'lost',
      k: undefined,
    });
    await revocations[Symbol.asyncDispose]();
  });
});

describe('keys', () => {
  test('PRM-02.1 of a key set only public keys for signatures by known algorithms are taken', async () => {
    const jwk = await exportJWK(publicKey);
    const long = 'x'.repeat(256);
    const names = await keysOfDocument(
      JSON.stringify({
        keys: [
          { ...jwk, kid: long },
          { ...jwk, kid: `${long}x` },
          { ...jwk, kid: '' },
        ],
      }),
      'k',
    );
    const thumbprint = await calculateJwkThumbprint(jwk);
    expect(names.map(({ kid, named }) => [kid, named])).toEqual([
      [long, true],
      [thumbprint, false],
      [thumbprint, false],
    ]);
    const entries = [
      { ...jwk, kid: 'good', alg: 'RS256', use: 'sig', key_ops: ['verify'] },
      { kty: 'oct', k: 'c2VjcmV0', kid: 'shared' },
      { ...(await exportJWK(privateKey)), kid: 'private' },
      { ...jwk, kid: 'encrypts', use: 'enc' },
      { ...jwk, kid: 'signs', key_ops: ['sign'] },
      { ...jwk, kid: 'odd', key_ops: 'verify' },
      { ...jwk, kid: 'number', alg: 7 },
      { ...jwk, kid: 'list', alg: ['RS256'] },
      { ...jwk, kid: 'broken', n: undefined },
      { ...(await exportJWK(generateKeyPairSync('x25519').publicKey)), kid: 'kind' },
      { ...jwk, kid: 'other', alg: 'HS256' },
      { ...jwk, kid: 'every object', alg: 'toString' },
      null,
      'key',
    ];
    const keys = await keysOfDocument(JSON.stringify({ keys: entries }), 'the key set', log);
    expect(keys.map(({ kid, algorithm }) => [kid, algorithm])).toEqual([['good', 'RS256']]);
    const why = [
      ...['holds a private or shared key', 'holds a private or shared key'],
      ...['not for signatures', 'not for signatures', 'not for signatures'],
      ...['for another algorithm', 'for another algorithm', 'cannot be read', 'must hold RSA, EC or Ed25519 keys.'],
      ...['for another algorithm', 'for another algorithm', 'not an object', 'not an object'],
    ];
    const passedOver = why.map((reason, at) => ['key-passed-over', { source: 'the key set', at: at + 1, reason }]);
    expect(logged).toEqual(passedOver);
    expect(await keysOfDocument(JSON.stringify({ keys: entries }), 'the key set')).toHaveLength(1);
  });
});
