import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import { exportJWK, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifierWith } from '../token/verifier.fixture.ts';
import { openKeyFile } from './verification-keys.ts';

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const [first, second] = [pair(), pair()];
const NOW = 1_800_000_000;
const OVERLAP_SECONDS = 60;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-file-'));
  file = join(folder, 'issuer.keys');
});
afterEach(() => rm(folder, { recursive: true }));

const pem = ({ publicKey }: { publicKey: KeyObject }) => String(publicKey.export({ type: 'spki', format: 'pem' }));
const jwks = async (...pairs: { publicKey: KeyObject }[]) =>
  JSON.stringify({ keys: await Promise.all(pairs.map(({ publicKey }) => exportJWK(publicKey))) });
const sign = ({ privateKey }: { privateKey: KeyObject }, jti: string) =>
  new SignJWT({
    tool_id: '*',
    agent_did: 'did:a',
    tenant_id: 't',
    allowed_operations: ['execute'],
    iat: NOW,
    exp: NOW + 1e6,
    iss: 'idp',
    jti,
  })
    .setProtectedHeader({ alg: 'RS256' })
    .sign(privateKey);

async function opened() {
  const time = { seconds: NOW };
  const lines: string[] = [];
  const say = (event: string): void => void lines.push(event);
  const clock = { now: () => time.seconds * 1000, monotonic: () => time.seconds * 1000 };
  const source = await openKeyFile(file, {
    issuers: ['idp'],
    refreshMs: 3_600_000,
    overlapMs: OVERLAP_SECONDS * 1000,
    maxAgeMs: 600_000,
    retryMs: 10_000,
    clock,
    log: { debug: say, info: say, warn: say, error: say },
  });
  const verifier = verifierWith({ keys: source, issuers: ['idp'], clock });
  const code = async (token: string) => {
    const answer = await verifier.verify(token);
    return isFailure(answer) ? answer.code : 'ok';
  };
  return { time, source, lines, code };
}

describe('the key file of an issuer', () => {
  test.each([
    ['PEM blocks', async () => `${pem(first)}\n${pem(second)}`],
    ['a JWKS', () => jwks(first, second)],
  ])('PRM-02.1 may hold %s', async (_what, text) => {
    await writeFile(file, await text());
    const { source, code } = await opened();
    await using _closed = source;
    expect([await code(await sign(first, 'a')), await code(await sign(second, 'b'))]).toEqual(['ok', 'ok']);
    expect(await code(await sign(pair(), 'c'))).toBe('E3201');
  });

  test('PRM-02 is read again, and a key that it lost counts for the overlap', async () => {
    await writeFile(file, pem(first));
    const { time, source, code } = await opened();
    await using _closed = source;
    await writeFile(file, pem(second));
    time.seconds += 10;
    await source.lookAgain();
    expect([await code(await sign(second, 'new')), await code(await sign(first, 'old'))]).toEqual(['ok', 'ok']);
    time.seconds += OVERLAP_SECONDS;
    expect([await code(await sign(second, 'newer')), await code(await sign(first, 'older'))]).toEqual(['ok', 'E3201']);
  });

  test('PRM-02 that vanishes or spoils later takes no key away before the maximum age, and is told', async () => {
    await writeFile(file, pem(first));
    const { time, source, code, lines } = await opened();
    await using _closed = source;
    for (const spoil of [() => rm(file), () => writeFile(file, 'rubbish')]) {
      await spoil();
      time.seconds += 10;
      await source.lookAgain();
      expect(await code(await sign(first, `at ${time.seconds}`))).toBe('ok');
    }
    expect(lines).toContain('keys-not-refreshed');
    time.seconds += 600;
    expect(await code(await sign(first, 'late'))).toBe('E3206');
  });

  test.each([
    ['is absent', undefined, 'does not exist'],
    ['is empty', '', 'no PEM block'],
    ['holds a private key', String(first.privateKey.export({ type: 'pkcs8', format: 'pem' })), 'private key'],
    ['is no JWKS', '{"key":[]}', 'no JWKS'],
    ['is no JSON', '{', 'is not JSON'],
    ['holds too many', JSON.stringify({ keys: Array.from({ length: 65 }) }), 'holds 65 keys; at most 64 are used'],
  ])('that %s at the start is refused, with what to put there', async (_what, text, said) => {
    if (text !== undefined) await writeFile(file, text);
    const message = expect.stringContaining(said);
    await expect(opened()).rejects.toMatchObject({ code: 'E3900', message, cause: expect.any(Error) });
  });

  test('PRM-02.1 that cannot be read is another fault than one that is absent', async () => {
    await mkdir(file);
    const message = `The key file ${file} cannot be read. Check its permissions.`;
    await expect(opened()).rejects.toMatchObject({ code: 'E3900', message, cause: expect.any(Error) });
  });
});
