import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../telemetry/log.ts';
import { createTokenVerifier } from './capability-token.ts';
import { type KeyRing, openKeyRing } from './key-ring.ts';
import { createTokenMint } from './mint-token.ts';

let folder: string;
let time: { now: number; monotonic: number };
const opened: KeyRing[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-ring-'));
  time = { now: 1_800_000_000_000, monotonic: 0 };
});
afterEach(async () => {
  for (const ring of opened.splice(0)) await ring[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const clock = { now: () => time.now, monotonic: () => time.monotonic };
const open = async (): Promise<KeyRing> => {
  const ring = await openKeyRing({ folder, issuer: 'sallyport', clock, log: silentLog });
  opened.push(ring);
  return ring;
};
const mintOf = (ring: KeyRing) => {
  const mint = createTokenMint({ keys: ring.current, issuer: 'sallyport', tenantId: 't', agentDid: 'did:a', clock });
  return async () => (await mint.mint({ expires_in_seconds: 86_400 })).capability_token;
};
const verifierOf = (ring: KeyRing) => {
  const verifier = createTokenVerifier({ keys: ring, issuers: ['sallyport', 'other'], clock });
  return async (token: string) => {
    const claims = await verifier.verify(token);
    return isFailure(claims) ? claims.code : 'ok';
  };
};

describe('openKeyRing', () => {
  test('PRM-02.3 tokens of a replaced key count up to the end of the overlap, cached ones too', async () => {
    const ring = await open();
    const [verify, mint] = [verifierOf(ring), mintOf(ring)];
    const [used, unused] = [await mint(), await mint()];
    expect(await verify(used)).toBe('ok');
    await ring.rotate(60_000);
    time.now += 59_999;
    expect([await verify(used), await verify(unused)]).toEqual(['ok', 'ok']);
    time.now += 1;
    expect([await verify(used), await verify(unused)]).toEqual(['E3201', 'E3201']);
    expect(await verify(await mint())).toBe('ok');
  });

  test('PRM-02.3 rotation survives a restart: the same keys, the same overlap', async () => {
    const ring = await open();
    const old = await mintOf(ring)();
    await ring.rotate(60_000);
    const again = await open();
    expect(again.current().kid).toBe(ring.current().kid);
    expect(await verifierOf(again)(old)).toBe('ok');
    expect(again.published().keys).toHaveLength(2);
    time.now += 60_000;
    expect(await verifierOf(again)(old)).toBe('E3201');
    expect(again.published().keys.map(({ kid }) => kid)).toEqual([ring.current().kid]);
  });

  test('another instance on the same folder takes a new pair over when it meets a token of it', async () => {
    const [one, other] = [await open(), await open()];
    await one.rotate(60_000);
    const token = await mintOf(one)();
    const verify = verifierOf(other);
    expect(await verify(token)).toBe('ok');
    expect(other.current().kid).toBe(one.current().kid);
    // The folder is read at most once a second, however many tokens name an unknown key.
    await one.rotate(60_000);
    const next = await mintOf(one)();
    expect(await verify(next)).toBe('E3201');
    time.monotonic += 1_000;
    expect(await verify(next)).toBe('ok');
  });

  test('rotations at the same time come one after the other, and none leaves a draft or a readable key', async () => {
    const ring = await open();
    await Promise.all([ring.rotate(60_000), ring.rotate(60_000), ring.rotate(60_000)]);
    expect(ring.list().map(({ state }) => state)).toEqual(['signing', 'accepted', 'accepted', 'accepted']);
    expect((await readdir(folder)).sort()).toEqual(['retired', 'signing-key.pem', 'signing-key.pub.pem']);
    expect((await stat(join(folder, 'signing-key.pem'))).mode & 0o777).toBe(0o600);
    for (const name of await readdir(join(folder, 'retired')))
      expect(await readFile(join(folder, 'retired', name), 'utf8')).not.toContain('PRIVATE');
    expect(JSON.stringify(ring.published())).not.toContain('"d"');
  });

  test('a broken file of a retired key is named', async () => {
    const ring = await open();
    await ring.rotate(0);
    const [name = ''] = await readdir(join(folder, 'retired'));
    await writeFile(join(folder, 'retired', name), '{');
    await expect(open()).rejects.toMatchObject({ code: 'E3900', message: expect.stringContaining(name) });
  });
});
