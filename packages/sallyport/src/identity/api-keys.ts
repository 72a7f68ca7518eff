import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { Log } from '../telemetry/log.ts';
import type { ApiKeyStore, GrantedClaims, StoredApiKey } from './api-keys.port.ts';
import { failedKeyLimit } from './follow/failed-key-limit.ts';
import { createFollower } from './follow/follower.ts';
import { frozen } from './token/claims.ts';

/** Prefix of every key, which distinguishes it from tokens and helps secret scanners. */
export const API_KEY_PREFIX = 'sp_';
/** `iss` in the claims of a key. */
export const API_KEY_ISSUER = 'sallyport:api-key';
/** 256 bits: unguessable, so a plain hash is enough. */
const SECRET_BYTES = 32;
/** Length of the stored and shown beginning: the prefix and six characters, 36 of 256 bits. */
const SHOWN_LENGTH = API_KEY_PREFIX.length + 6;
const FORM = /^sp_[A-Za-z0-9_-]{43}$/;
/** How often an instance polls for keys that others created or revoked, in ms. */
const FOLLOW_MS = 400;
/** How often uses are written, in ms; `last used` is no finer. */
const USES_MS = 60_000;
/** How long unusable keys are kept for people to see, in ms. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** Most keys of one tenant, stored revoked ones included; more are refused with E3810. */
export const API_KEYS_MAX = 10_000;

/** Dependencies of the API keys. */
export interface ApiKeyParts {
  readonly store: ApiKeyStore;
  /** Called on every use, as for tokens: revoking a tenant or an agent revokes its keys too. */
  readonly isRevoked: (claims: CapabilityClaims) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 400. */
  readonly followMs?: number;
  /** Called after each poll of the store, and after each revocation by this instance. */
  readonly onLook: () => void;
}

/** A key to be created. */
export interface NewApiKey {
  readonly name: string;
  readonly claims: GrantedClaims;
  /** Agent DID of the requester. */
  readonly by: string;
  /** Epoch ms; absent: never. */
  readonly expiresAt?: number;
}

/** Keys of agents and operators that have no token (PRM-10). */
export interface ApiKeys extends AsyncDisposable {
  /** Reads everything from the store, and follows changes of other instances until disposed. */
  start(): Promise<void>;
  /**
   * The claims of a key; frozen, and the same object for the same key.
   * @returns E3201 unknown or malformed; E3202 expired; E3208 revoked; E3303 when unknown keys come too fast
   */
  identify(presented: string): CapabilityClaims | Failure;
  /** The same for a key that is to be revoked, which may be expired: its calls may still run or wait. */
  identifyAny(presented: string): CapabilityClaims | Failure;
  /** True when these claims came from an API key that was revoked since. Its expiry does not count. */
  isRevoked(claims: CapabilityClaims): boolean;
  /**
   * Creates a key. `key` is returned only here; only its hash is stored.
   * @throws ToolLayerError E3810 beyond {@link API_KEYS_MAX}; E3812 when it cannot be stored
   */
  create(
    request: NewApiKey,
    events?: EventsOf<StoredApiKey>,
  ): Promise<{ readonly key: string; readonly stored: StoredApiKey }>;
  /** Undefined when the tenant has no key with this id. */
  revoke(tenantId: string, id: string, events?: EventsOf<StoredApiKey>): Promise<StoredApiKey | undefined>;
  /** A tenant's keys, newest first. */
  list(tenantId: string): Promise<readonly StoredApiKey[]>;
  /** Why the store cannot be followed now; undefined when it can. */
  problem(): string | undefined;
}

interface Known {
  readonly stored: StoredApiKey;
  readonly claims: CapabilityClaims;
}

interface State extends ApiKeyParts {
  readonly byHash: Map<string, Known>;
  /** Ids of stored keys that were revoked. */
  readonly revoked: Set<string>;
  /** Last uses of keys not yet written, epoch ms. */
  readonly uses: Map<string, number>;
  readonly mayGuess: () => boolean;
}

/** True when a credential has the form of an API key. */
export function isApiKey(presented: string): boolean {
  return presented.startsWith(API_KEY_PREFIX);
}

/** Makes the API keys, none known until `start`. */
export function createApiKeys(parts: ApiKeyParts): ApiKeys {
  const { store, clock, log, followMs = FOLLOW_MS, onLook } = parts;
  const state: State = {
    ...parts,
    byHash: new Map(),
    revoked: new Set(),
    uses: new Map(),
    mayGuess: failedKeyLimit(clock, log),
  };
  const follower = createFollower({
    read: (revision) => store.changedSince(revision),
    take: ({ keys }) => {
      for (const key of keys) take(state, key);
      onLook();
    },
    intervalMs: followMs,
    event: 'api-keys-not-followed',
    log,
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    async start() {
      await follower.start();
      timer ??= setInterval(() => void tidy(state), USES_MS).unref();
    },
    identify: (presented) => identify(state, presented),
    identifyAny(presented) {
      const known = find(state, presented);
      return isFailure(known) ? known : known.claims;
    },
    isRevoked: ({ iss, jti }) => iss === API_KEY_ISSUER && jti !== undefined && state.revoked.has(jti),
    create: (request, events) => create(state, request, events),
    async revoke(tenantId, id, events) {
      const revoked = await store.revoke(tenantId, id, clock.now(), events);
      if (revoked !== undefined) take(state, revoked);
      onLook();
      return revoked;
    },
    list: (tenantId) => store.list(tenantId),
    problem: follower.problem,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await follower[Symbol.asyncDispose]();
      await writeUses(state);
    },
  };
}

function find({ byHash, mayGuess }: State, presented: string): Known | Failure {
  const known = FORM.test(presented) ? byHash.get(sha256(presented)) : undefined;
  if (known !== undefined) return known;
  if (mayGuess()) return failure('E3201', 'The API key is not known here. Ask an operator for one.');
  return failure('E3303', 'Too many unknown API keys were presented. Try again in a moment.', { retryAfterMs: 1000 });
}

function identify(state: State, presented: string): CapabilityClaims | Failure {
  const known = find(state, presented);
  if (isFailure(known)) return known;
  const { stored, claims } = known;
  const now = state.clock.now();
  if (stored.revokedAt !== undefined || state.isRevoked(claims))
    return failure('E3208', 'The API key was revoked. Ask an operator for a new one.');
  if (stored.expiresAt !== undefined && now >= stored.expiresAt) {
    const at = new Date(stored.expiresAt).toISOString();
    return failure('E3202', `The API key expired at ${at}. Ask an operator for a new one.`, {
      details: { expired_at: at },
    });
  }
  state.uses.set(stored.id, now);
  return claims;
}

async function create(state: State, request: NewApiKey, events?: EventsOf<StoredApiKey>) {
  const tenantId = request.claims.tenant_id;
  if ((await state.store.list(tenantId)).length >= API_KEYS_MAX) {
    const message = `The tenant has ${API_KEYS_MAX} API keys, which is the most. Revoked ones leave after 30 days.`;
    throw new ToolLayerError('E3810', message);
  }
  const made = newKey(request, state.clock.now());
  await state.store.insert(made.stored, events);
  take(state, made.stored);
  return made;
}

function newKey({ name, claims, by, expiresAt }: NewApiKey, now: number) {
  const key = API_KEY_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
  const stored: StoredApiKey = {
    id: randomUUID(),
    tenantId: claims.tenant_id,
    name,
    hash: sha256(key),
    prefix: key.slice(0, SHOWN_LENGTH),
    claims,
    createdAt: now,
    createdBy: by,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { key, stored };
}

/** A revoked key stays known, so that its owner learns why it is refused. */
function take({ byHash, revoked }: State, stored: StoredApiKey): void {
  const known = byHash.get(stored.hash);
  // A revocation is final, in whichever order changes arrive.
  if (known?.stored.revokedAt !== undefined) return;
  byHash.set(stored.hash, { stored, claims: known?.claims ?? claimsOf(stored) });
  if (stored.revokedAt !== undefined) revoked.add(stored.id);
}

function claimsOf({ id, claims, createdAt, expiresAt }: StoredApiKey): CapabilityClaims {
  return frozen({
    ...structuredClone(claims),
    iat: Math.floor(createdAt / 1000),
    exp: expiresAt === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(expiresAt / 1000),
    iss: API_KEY_ISSUER,
    jti: id,
  });
}

async function tidy(state: State): Promise<void> {
  await writeUses(state);
  const before = state.clock.now() - KEPT_MS;
  for (const [hash, { stored }] of state.byHash)
    if (Math.min(stored.revokedAt ?? Number.POSITIVE_INFINITY, stored.expiresAt ?? Number.POSITIVE_INFINITY) < before) {
      state.byHash.delete(hash);
      state.revoked.delete(stored.id);
    }
  await state.store.prune(before).catch((cause: unknown) => {
    state.log.warn('api-keys-not-pruned', { reason: messageOf(cause) });
  });
}

/** Uses that cannot be written are written next time. */
async function writeUses({ uses, store, log }: State): Promise<void> {
  if (uses.size === 0) return;
  const taken = [...uses].map(([id, atMs]) => ({ id, atMs }));
  uses.clear();
  try {
    await store.noteUses(taken);
  } catch (cause) {
    for (const { id, atMs } of taken) if (!uses.has(id)) uses.set(id, atMs);
    log.warn('api-key-uses-not-kept', { reason: messageOf(cause) });
  }
}
