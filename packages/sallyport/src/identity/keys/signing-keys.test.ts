import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSigningKeys, replaceSigningKeys } from './signing-keys.ts';
import { loadVerificationKeys } from './verification-keys.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-keys-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const spki = (bits: number): string =>
  generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ type: 'spki', format: 'pem' }).toString();

describe('loadSigningKeys', () => {
  test('makes a key of 2048 bits that only the owner reads, and finds it again', async () => {
    const keys = await loadSigningKeys(join(folder, 'deep', 'keys'));
    expect(keys.privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const file = join(folder, 'deep', 'keys', 'signing-key.pem');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await chmod(file, 0o644);
    expect((await loadSigningKeys(join(folder, 'deep', 'keys'))).kid).toBe(keys.kid);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('two that start at once have the same key, and no draft stays behind', async () => {
    const [a, b] = await Promise.all([loadSigningKeys(folder), loadSigningKeys(folder)]);
    expect(a.kid).toBe(b.kid);
    expect((await readdir(folder)).sort()).toEqual(['signing-key.pem', 'signing-key.pub.pem']);
  });

  test('a file that holds no key is an error that names it', async () => {
    await writeFile(join(folder, 'signing-key.pem'), 'rubbish');
    await expect(loadSigningKeys(folder)).rejects.toMatchObject({
      code: 'E3900',
      message: expect.stringContaining('signing-key.pem'),
      cause: expect.any(Error),
    });
  });

  test('PRM-02.4 a key that is too weak or of another kind signs nothing', async () => {
    const file = join(folder, 'signing-key.pem');
    for (const [{ privateKey }, why] of [
      [generateKeyPairSync('rsa', { modulusLength: 1024 }), '2048 bits'],
      [generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'must hold an RSA key'],
    ] as const) {
      await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const message = expect.stringMatching(`${file} .*${why}`);
      await expect(loadSigningKeys(folder)).rejects.toMatchObject({ code: 'E3900', message });
    }
    expect(await readdir(folder)).toEqual(['signing-key.pem']);
  });

  test('PRM-02.4 where the key can be neither read nor made, the file is named', async () => {
    const refused = (why: string) => ({ code: 'E3900', message: expect.stringMatching(`signing-key.pem ${why}`) });
    await mkdir(join(folder, 'signing-key.pem'));
    await expect(loadSigningKeys(folder)).rejects.toMatchObject(refused('cannot be read'));
    const nowhere = join(folder, 'nowhere');
    await symlink(join(folder, 'absent', 'deep'), nowhere);
    const made = loadSigningKeys(nowhere);
    await expect(made).rejects.toMatchObject({ ...refused('cannot be written'), cause: expect.any(Error) });
  });

  test('PRM-02.3 a pair is replaced whole, with its public half; where that fails the old one is left, and no draft', async () => {
    const old = await loadSigningKeys(folder);
    const publicFile = join(folder, 'signing-key.pub.pem');
    const written = async () => loadVerificationKeys(publicFile).then(([key]) => key?.kid);
    expect(await written()).toBe(old.kid);
    const { kid } = await replaceSigningKeys(folder, async () => {});
    expect([kid === old.kid, await written(), (await loadSigningKeys(folder)).kid]).toEqual([false, kid, kid]);
    await rm(publicFile);
    await loadSigningKeys(folder);
    expect(await written()).toBe(kid);
    await rm(join(folder, 'signing-key.pem'));
    await mkdir(join(folder, 'signing-key.pem'));
    const message = expect.stringContaining('signing-key.pem cannot be written');
    await expect(replaceSigningKeys(folder, async () => {})).rejects.toMatchObject({ code: 'E3900', message });
    expect((await readdir(folder)).sort()).toEqual(['signing-key.pem', 'signing-key.pub.pem']);
    await expect(replaceSigningKeys(join(folder, 'absent'), async () => {})).rejects.toMatchObject({ code: 'E3900' });
  });
});

describe('loadVerificationKeys', () => {
  test('reads every public key of a file', async () => {
    const { kid } = await loadSigningKeys(folder);
    const file = join(folder, 'issuers.pem');
    await writeFile(file, (await readFile(join(folder, 'signing-key.pub.pem'), 'utf8')) + spki(2048));
    const keys = await loadVerificationKeys(file);
    expect(keys).toHaveLength(2);
    expect(keys[0]?.kid).toBe(kid);
  });

  test('PRM-02.1 sixty-four keys are read, in PEM blocks or a JWKS', async () => {
    const block = generateKeyPairSync('ed25519').publicKey;
    const jwk = block.export({ format: 'jwk' });
    for (const [name, text] of [
      ['keys.pem', String(block.export({ type: 'spki', format: 'pem' })).repeat(64)],
      ['keys.json', JSON.stringify({ keys: Array.from({ length: 64 }, () => jwk) })],
    ] as const) {
      await writeFile(join(folder, name), text);
      expect(await loadVerificationKeys(join(folder, name))).toHaveLength(64);
    }
  });

  test('PRM-02 an empty set of keys is one: its owner vouches for no key', async () => {
    await writeFile(join(folder, 'none.json'), '{"keys":[]}');
    expect(await loadVerificationKeys(join(folder, 'none.json'))).toEqual([]);
  });

  test.each([
    ['a weak key', () => spki(1024), '2048 bits'],
    ['a private key', () => readFile(join(folder, 'signing-key.pem'), 'utf8'), 'private key'],
    ['no key', () => 'x', 'no PEM block'],
    [
      'more keys than 64',
      () => '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'.repeat(65),
      'holds 65 keys',
    ],
    ['a set of keys that cannot be used', () => '{"keys":[{"kty":"oct","k":"AAAA"}]}', 'no key that can verify'],
    ['a broken key', () => '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'no key that can be read'],
  ])('%s is refused', async (_name, content, why) => {
    await loadSigningKeys(folder);
    await writeFile(join(folder, 'issuers.pem'), await content());
    await expect(loadVerificationKeys(join(folder, 'issuers.pem'))).rejects.toMatchObject({
      code: 'E3900',
      message: expect.stringContaining(why),
    });
  });

  test('an absent file is an error that says what to do', async () => {
    await expect(loadVerificationKeys(join(folder, 'none.pem'))).rejects.toMatchObject({ code: 'E3900' });
  });
});
