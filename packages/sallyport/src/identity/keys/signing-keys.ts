import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createFile } from '@sallyport/std/files/create-file';
import { keyFault } from './algorithms.ts';
import { thumbprintOf } from './key-document.ts';

/** The layer's own key pair for capability tokens. */
export interface SigningKeys {
  /** RFC 7638 thumbprint (SHA-256). */
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const KEY_BITS = 2048;
const PRIVATE_FILE = 'signing-key.pem';
const PUBLIC_FILE = 'signing-key.pub.pem';

/**
 * Loads the layer's key pair from a folder, or makes one there (RSA, 2048 bits, mode 0600). Instances that start at the
 * same time end up with the same pair.
 * @throws E3900 naming the file to repair when a key is unreadable or too weak
 */
export async function loadSigningKeys(folder: string): Promise<SigningKeys> {
  const file = join(folder, PRIVATE_FILE);
  const pem = (await read(file)) ?? (await create(folder, file));
  // Keeps it private, whatever a copy or a restored backup did to its mode.
  await chmod(file, 0o600);
  const keys = await keysOf(file, pem);
  if ((await read(join(folder, PUBLIC_FILE))) === undefined) await writePublic(folder, keys);
  return keys;
}

/**
 * Replaces the pair in a folder. A crash in between leaves the old pair in force.
 * @param keep is given the new pair before it is in force
 * @returns the pair that is in force now
 * @throws E3900 naming the file that cannot be written; what `keep` throws
 */
export async function replaceSigningKeys(
  folder: string,
  keep: (keys: SigningKeys) => Promise<void>,
): Promise<SigningKeys> {
  const file = join(folder, PRIVATE_FILE);
  const draft = `${file}.${randomUUID()}`;
  const pem = await newKey();
  await keep(await keysOf(file, pem));
  try {
    await createFile(draft, pem);
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw broken(file, 'cannot be written.', cause);
  }
  const keys = await loadSigningKeys(folder);
  await writePublic(folder, keys);
  return keys;
}

async function keysOf(file: string, pem: string): Promise<SigningKeys> {
  const privateKey = parse(file, pem);
  const fault = keyFault(privateKey);
  if (fault !== undefined) throw broken(file, fault);
  if (privateKey.asymmetricKeyType !== 'rsa') throw broken(file, 'must hold an RSA key.');
  const publicKey = createPublicKey(privateKey);
  return { kid: await thumbprintOf(publicKey), privateKey, publicKey };
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw broken(file, 'cannot be read. Check its permissions.', error);
  }
}

/** Of several instances that start at once one wins, and the others adopt its key. */
async function create(folder: string, file: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await createFile(file, await newKey());
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw broken(file, 'cannot be written.', cause);
  }
}

/** A new private key, as PEM. */
async function newKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: KEY_BITS });
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

/** For people and other layers; the layer itself does not read it. */
async function writePublic(folder: string, { publicKey }: SigningKeys): Promise<void> {
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  await writeFile(join(folder, PUBLIC_FILE), pem, { mode: 0o644 });
}

function parse(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw broken(file, 'holds no key that can be read. It must be PEM without a passphrase.', error);
  }
}

function broken(file: string, what: string, cause?: unknown): ToolLayerError {
  return new ToolLayerError('E3900', `The key file ${file} ${what}`, { cause });
}
