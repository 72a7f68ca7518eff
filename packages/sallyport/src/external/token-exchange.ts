import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { SecretCaller, SecretStore } from './secret-store.port.ts';
import { askServer, type IssuedToken } from './token-exchange/ask-server.ts';
import type { ExchangeProfile } from './token-exchange/profile.ts';

export type { ExchangeProfile } from './token-exchange/profile.ts';
export { readProfiles as readExchangeProfiles } from './token-exchange/read-profiles.ts';

/** Most exchanged tokens cached. */
const KEPT_TOKENS_MAX = 10_000;
/** A token is not used in its last seconds: it would expire on the way. */
const LEEWAY_SECONDS = 10;
/** Longest time in the cache, whatever the server says: lost rights must not work on for long. */
const KEPT_SECONDS_MAX = 300;
/** Three parts of base64url. The layer's own API keys are not tokens and are never sent to a server. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Dependencies of the exchanges. */
export interface TokenExchangeParts {
  readonly profiles: readonly ExchangeProfile[];
  /** Holds all other secrets, and those with which the layer authenticates itself. */
  readonly secrets: SecretStore;
  readonly clock: Clock;
}

/**
 * Secrets, some of which are the caller's own: a name with a profile stands for a token that the caller's token was
 * exchanged for (RFC 8693, PRM-11). It is cached for that caller's token alone, at most 300 s. All other names are
 * looked up in the underlying store.
 */
export function createTokenExchange({ profiles, secrets, clock }: TokenExchangeParts): SecretStore {
  const byName = new Map(profiles.map((profile) => [profile.name, profile]));
  const kept = new LRUCache<string, Kept>({ max: KEPT_TOKENS_MAX });

  const tokenFor = async (tenantId: string, profile: ExchangeProfile, caller?: SecretCaller): Promise<string> => {
    const token = caller?.token;
    if (token === undefined || !JWT.test(token)) throw noToken(profile.name);
    const key = sha256([profile.name, tenantId, token].join('\n'));
    const before = kept.get(key);
    if (before !== undefined && clock.now() < before.freshUntil) return before.value;
    const value = exchange(tenantId, profile, token);
    // Concurrent calls of one caller share one exchange; a failure is not cached.
    const pending: Kept = { value: value.then((issued) => issued.value), freshUntil: Number.POSITIVE_INFINITY };
    kept.set(key, pending);
    value.then(
      (issued) => kept.peek(key) === pending && kept.set(key, { ...pending, freshUntil: clock.now() + keptMs(issued) }),
      () => kept.peek(key) === pending && kept.delete(key),
    );
    return aborting(pending.value, caller?.signal);
  };

  const exchange = async (tenantId: string, profile: ExchangeProfile, token: string): Promise<IssuedToken> => {
    const { clientSecret: name } = profile;
    const clientSecret = name === undefined ? undefined : (await secrets.read(tenantId, [name])).get(name);
    // Not the first caller's signal: others may wait for the same answer.
    return askServer(profile, token, clientSecret, undefined);
  };

  return {
    ofCaller: (names) => names.filter((name) => byName.has(name)),
    async read(tenantId, names, caller) {
      const own = names.filter((name) => byName.has(name));
      if (own.length === 0) return secrets.read(tenantId, names, caller);
      const others = names.filter((name) => !byName.has(name));
      const [stored, exchanged] = await Promise.all([
        others.length === 0 ? new Map<string, string>() : secrets.read(tenantId, others, caller),
        Promise.all(
          own.map(
            async (name) => [name, await tokenFor(tenantId, byName.get(name) as ExchangeProfile, caller)] as const,
          ),
        ),
      ]);
      return new Map([...stored, ...exchanged]);
    },
  };
}

interface Kept {
  readonly value: Promise<string>;
  /** Epoch ms. */
  readonly freshUntil: number;
}

function keptMs({ lifetimeSeconds }: IssuedToken): number {
  return Math.min(lifetimeSeconds - LEEWAY_SECONDS, KEPT_SECONDS_MAX) * 1000;
}

/** When this caller gives up, others can still use the answer. */
async function aborting<Value>(value: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return value;
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([value, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function noToken(name: string): ToolLayerError {
  return new ToolLayerError(
    'E3302',
    `The credential ${name} is made from the caller's own token, and this caller came without one that can be exchanged. ` +
      'Call with an access token of the authorization server.',
    { details: { missing: [name] } },
  );
}
