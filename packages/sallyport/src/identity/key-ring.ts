import { createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@sallyport/std/clock';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { exportJWK } from 'jose';
import type { JsonWebKeySet, OwnKey } from '../../api/schemas/identity/key.ts';
import type { Log } from '../telemetry/log.ts';
import type { KeySource, VerificationKey } from './key-source.ts';
import { loadSigningKeys, replaceSigningKeys, type SigningKeys } from './keys/signing-keys.ts';

/** Folder of the public halves of replaced pairs. They are kept: audit signatures are verified with them. */
const RETIRED_FOLDER = 'retired';
/** Most files of that folder that are read, that of the current pair among them; with more the layer refuses to start. */
const RETIRED_MAX = 1_000;
/** How often the folder is polled for a pair that another instance put in force, in ms. */
const FOLLOW_MS = 30_000;
/** Least time between two reads of the folder caused by tokens with unknown keys, in ms. */
const LOOK_MS = 1_000;

/** Dependencies of the key ring. */
export interface KeyRingParts {
  readonly folder: string;
  /** `iss` of the tokens that the pair signs. */
  readonly issuer: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The layer's own keys: the current pair, and the earlier ones (PRM-02). Polls the folder for changes until disposed.
 */
export interface KeyRing extends KeySource, AsyncDisposable {
  /** The pair that signs. */
  current(): SigningKeys;
  /**
   * Makes a new pair and puts it in force; tokens of the old pair are accepted for the overlap. Instances that share
   * the folder adopt the new pair when they see a token of it.
   * @throws ToolLayerError E3900 naming the file that cannot be written
   */
  rotate(overlapMs: number): Promise<SigningKeys>;
  /** Public key by its id, replaced ones included, even after their overlap: for old signatures. */
  publicKey(kid: string): KeyObject | undefined;
  /** The current pair first, then replaced ones, latest first. */
  list(): readonly OwnKey[];
  /** Public keys whose tokens are accepted, published for other verifiers (RFC 7517). */
  published(): JsonWebKeySet;
}

/** A replaced pair, as stored in its file, or the current one: its file counts from when it is replaced. */
interface RetiredKey {
  readonly kid: string;
  readonly public_key: string;
  readonly retired_at: string;
  readonly accepted_until: string;
}

interface Retired {
  readonly verification: VerificationKey;
  readonly retiredAt: string;
  readonly acceptedUntil: number;
}

interface State extends KeyRingParts {
  own: SigningKeys;
  retired: ReadonlyMap<string, Retired>;
  published: JsonWebKeySet['keys'];
  lookedAt: number;
  /** Rotations and reads run in sequence. */
  queue: Promise<unknown>;
}

/**
 * Opens the ring of a folder, and makes the first pair if needed.
 * @throws ToolLayerError E3900 naming the file to repair
 */
export async function openKeyRing(parts: KeyRingParts): Promise<KeyRing> {
  const own = await loadSigningKeys(parts.folder);
  const state: State = {
    ...parts,
    own,
    retired: new Map(),
    published: [],
    lookedAt: Number.NEGATIVE_INFINITY,
    queue: Promise.resolve(),
  };
  await readFolder(state);
  const timer = setInterval(() => void lookAgain(state), FOLLOW_MS).unref();
  return {
    current: () => state.own,
    keys: () => [verificationKey(state), ...accepted(state).map(({ verification }) => verification)],
    problem: () => undefined,
    lookAgain: () => lookAgain(state),
    rotate: (overlapMs) => inTurn(state, () => rotate(state, overlapMs)),
    publicKey: (kid) => (kid === state.own.kid ? state.own.publicKey : state.retired.get(kid)?.verification.key),
    list: () => listed(state),
    published: () => {
      const kids = new Set([state.own.kid, ...accepted(state).map(({ verification }) => verification.kid)]);
      return { keys: state.published.filter(({ kid }) => kids.has(kid)) };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await state.queue;
    },
  };
}

function verificationKey(state: State): VerificationKey {
  const { own, issuer } = state;
  return { kid: own.kid, key: own.publicKey, issuers: [issuer], goodUntil: () => goodUntil(state, own.kid) };
}

/** Asked also for a key that is current: it may have been replaced since. */
function goodUntil({ own, retired }: State, kid: string): number {
  if (kid === own.kid) return Number.POSITIVE_INFINITY;
  return retired.get(kid)?.acceptedUntil ?? Number.NEGATIVE_INFINITY;
}

function accepted({ retired, clock }: State): readonly Retired[] {
  const now = clock.now();
  return [...retired.values()].filter(({ acceptedUntil }) => now < acceptedUntil);
}

function inTurn<T>(state: State, run: () => Promise<T>): Promise<T> {
  const turn = state.queue.then(run);
  state.queue = turn.catch(() => undefined);
  return turn;
}

/** Another instance on the same folder may have rotated. */
async function lookAgain(state: State): Promise<boolean> {
  const now = state.clock.monotonic();
  if (now - state.lookedAt < LOOK_MS) return false;
  state.lookedAt = now;
  try {
    await inTurn(state, () => readFolder(state));
    return true;
  } catch (cause) {
    state.log.error('own-keys-not-read', { reason: messageOf(cause) });
    return false;
  }
}

/** The old key is listed before the new one signs: no token is ever without a key. */
async function rotate(state: State, overlapMs: number): Promise<SigningKeys> {
  // Another instance may have replaced the pair since this one looked.
  const old = await loadSigningKeys(state.folder);
  const now = state.clock.now();
  const acceptedUntil = new Date(now + overlapMs).toISOString();
  const keep = ({ kid, publicKey }: SigningKeys): Promise<void> =>
    writeRetired(state.folder, {
      kid,
      public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      retired_at: new Date(now).toISOString(),
      accepted_until: acceptedUntil,
    });
  await keep(old);
  // The new one too: another instance that rotates in this moment may put its own in the place, and what this one has
  // signed until then is verified with it.
  await replaceSigningKeys(state.folder, keep);
  await readFolder(state);
  state.log.warn('own-key-rotated', { kid: state.own.kid, old_kid: old.kid, accepted_until: acceptedUntil });
  return state.own;
}

async function writeRetired(folder: string, retired: RetiredKey): Promise<void> {
  const file = join(folder, RETIRED_FOLDER, `${retired.kid}.json`);
  try {
    await mkdir(join(folder, RETIRED_FOLDER), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}`;
    await writeFile(draft, `${JSON.stringify(retired, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } catch (cause) {
    throw new ToolLayerError('E3900', `The file ${file} cannot be written, so the key was not replaced.`, { cause });
  }
}

async function readFolder(state: State): Promise<void> {
  const own = await loadSigningKeys(state.folder);
  const others = (await readRetired(state)).filter(({ verification }) => verification.kid !== own.kid);
  // An unchanged key keeps its object, so that cached facts about it stay valid.
  if (own.kid !== state.own.kid) state.own = own;
  state.retired = new Map(others.map((each) => [each.verification.kid, each]));
  const keys = [{ kid: own.kid, key: own.publicKey }, ...others.map(({ verification }) => verification)];
  state.published = await Promise.all(
    keys.map(async ({ kid, key }) => {
      const { n = '', e = '' } = await exportJWK(key);
      return { kty: 'RSA' as const, n, e, kid, use: 'sig' as const, alg: 'RS256' as const };
    }),
  );
}

async function readRetired(state: State): Promise<readonly Retired[]> {
  const place = join(state.folder, RETIRED_FOLDER);
  const names = await readdir(place).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return [];
    throw new ToolLayerError('E3900', `The folder ${place} cannot be read. Check its permissions.`, { cause });
  });
  const files = names.filter((name) => name.endsWith('.json'));
  if (files.length > RETIRED_MAX)
    throw new ToolLayerError('E3900', `The folder ${place} holds more than ${RETIRED_MAX} keys. Move old ones away.`);
  return Promise.all(
    files.map(async (name) => {
      try {
        return retiredOf(JSON.parse(await readFile(join(place, name), 'utf8')), state);
      } catch (cause) {
        const message = `The file ${join(place, name)} holds no retired key that can be read. Mend or remove it.`;
        throw new ToolLayerError('E3900', message, { cause });
      }
    }),
  );
}

/** @throws when the file does not hold what {@link rotate} writes */
function retiredOf({ kid, public_key, retired_at, accepted_until }: RetiredKey, state: State): Retired {
  const acceptedUntil = Date.parse(accepted_until);
  const isWhole = typeof kid === 'string' && typeof retired_at === 'string' && Number.isFinite(acceptedUntil);
  if (!isWhole) throw new TypeError('it lacks a name, or the times of its replacement');
  const verification = {
    kid,
    key: createPublicKey(public_key),
    named: true,
    issuers: [state.issuer],
    goodUntil: () => goodUntil(state, kid),
  };
  return { verification, retiredAt: retired_at, acceptedUntil };
}

function listed(state: State): readonly OwnKey[] {
  const now = state.clock.now();
  const old = [...state.retired.values()].sort((a, b) => (a.retiredAt < b.retiredAt ? 1 : -1));
  return [
    { kid: state.own.kid, algorithm: 'RS256', state: 'signing' },
    ...old.map(({ verification, retiredAt, acceptedUntil }): OwnKey => {
      const standing = now < acceptedUntil ? 'accepted' : 'retired';
      const until = new Date(acceptedUntil).toISOString();
      return {
        kid: verification.kid,
        algorithm: 'RS256',
        state: standing,
        retired_at: retiredAt,
        accepted_until: until,
      };
    }),
  ];
}
