import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';

/** A public key that may have signed a capability token. */
export interface VerificationKey {
  /** RFC 7638 thumbprint (SHA-256), unless the key's owner named it otherwise. */
  readonly kid: string;
  readonly key: KeyObject;
}

/** The layer's own key pair for capability tokens. */
export interface SigningKeys {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const KEY_BITS = 2048;
/** Public keys in one PEM file; each is tried for a token that names none of them. */
const VERIFICATION_KEYS_MAX = 16;
const PRIVATE_FILE = 'signing-key.pem';
const PUBLIC_FILE = 'signing-key.pub.pem';
const PUBLIC_BLOCK = /-----BEGIN ((?:RSA )?PUBLIC KEY|CERTIFICATE)-----[^-]+-----END \1-----/g;

/**
 * Loads the layer's key pair from a folder, or makes one there (RSA, 2048 bits, mode 0600). Instances that start at the
 * same time end up with the same pair.
 * @throws E3900 saying which file to mend when a key cannot be read or is too weak
 */
export async function loadSigningKeys(folder: string): Promise<SigningKeys> {
  const file = join(folder, PRIVATE_FILE);
  const pem = (await read(file)) ?? (await create(folder, file));
  // Nobody else reads it, whatever a copy or a restored backup did to its mode.
  await chmod(file, 0o600);
  const privateKey = parse(file, () => createPrivateKey(pem));
  const publicKey = createPublicKey(privateKey);
  const kid = await kidOf(file, publicKey);
  if ((await read(join(folder, PUBLIC_FILE))) === undefined)
    await writeFile(join(folder, PUBLIC_FILE), publicKey.export({ type: 'spki', format: 'pem' }), { mode: 0o644 });
  return { kid, privateKey, publicKey };
}

/**
 * Loads public keys (PUBLIC KEY or CERTIFICATE blocks) from a PEM file, at most 16.
 * @throws E3900 saying what to put into the file
 */
export async function loadVerificationKeys(file: string): Promise<readonly VerificationKey[]> {
  const pem = await read(file);
  if (pem === undefined) throw broken(file, 'does not exist. Put the public key of the token issuer there.');
  if (pem.includes('PRIVATE KEY')) throw broken(file, 'holds a private key. Put only public keys there.');
  const blocks = pem.match(PUBLIC_BLOCK) ?? [];
  if (blocks.length === 0) throw broken(file, 'holds no PEM block of a public key or certificate.');
  if (blocks.length > VERIFICATION_KEYS_MAX)
    throw broken(file, `holds ${blocks.length} keys; at most ${VERIFICATION_KEYS_MAX} are used. Remove retired ones.`);
  return Promise.all(
    blocks.map(async (block) => {
      const key = parse(file, () => createPublicKey(block));
      return { kid: await kidOf(file, key), key };
    }),
  );
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw broken(file, 'cannot be read. Check its permissions.', error);
  }
}

/** Writes beside and links into place, so that of two instances one wins whole and the other takes its key. */
async function create(folder: string, file: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: KEY_BITS });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw broken(file, 'cannot be written.', error);
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
}

function parse(file: string, make: () => KeyObject): KeyObject {
  try {
    return make();
  } catch (error) {
    throw broken(file, 'holds no key that can be read. It must be PEM without a passphrase.', error);
  }
}

async function kidOf(file: string, key: KeyObject): Promise<string> {
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < KEY_BITS)
    throw broken(file, `must hold RSA keys of ${KEY_BITS} bits or more.`);
  return calculateJwkThumbprint(await exportJWK(key));
}

function broken(file: string, what: string, cause?: unknown): ToolLayerError {
  return new ToolLayerError('E3900', `The key file ${file} ${what}`, cause === undefined ? {} : { cause });
}
