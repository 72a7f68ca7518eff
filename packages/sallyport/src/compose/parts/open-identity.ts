import { join } from 'node:path';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { Health } from '../../../api/schemas/health.ts';
import type { CheckpointSigner } from '../../audit/checkpoint.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import type { ApiKeyStore } from '../../identity/api-keys.port.ts';
import { type ApiKeys, createApiKeys } from '../../identity/api-keys.ts';
import { createAuthenticator } from '../../identity/authenticator.ts';
import { createTokenVerifier } from '../../identity/capability-token.ts';
import { type KeyRing, openKeyRing } from '../../identity/key-ring.ts';
import { combinedKeys, fixedKeys, type KeySource } from '../../identity/key-source.ts';
import { KEY_SETTINGS } from '../../identity/keys/key-settings.ts';
import { loadSigningKeys, type SigningKeys } from '../../identity/keys/signing-keys.ts';
import { type KeySourceOptions, openKeyFile, openKeyUrl } from '../../identity/keys/verification-keys.ts';
import { createTokenMint } from '../../identity/mint-token.ts';
import { type CheckPossession, createPossessionCheck } from '../../identity/possession/check-possession.ts';
import { createDpopNonces, type DpopNonces } from '../../identity/possession/dpop-nonces.ts';
import { POSSESSION_SETTINGS } from '../../identity/possession/possession-settings.ts';
import type { ProofIdStore } from '../../identity/proof-ids.port.ts';
import type { RevocationStore } from '../../identity/revocations.port.ts';
import { createRevocations, type Revocations } from '../../identity/revocations.ts';
import { TOKEN_SETTINGS } from '../../identity/token/token-settings.ts';
import type { IdentityOperationParts } from '../../operations/identity/identity-parts.ts';
import {
  createIdentify,
  createIdentifyAgain,
  type Identify,
  type IdentifyAgain,
} from '../../pipeline/stages/identify.ts';
import { developmentFolder } from '../settings/development-settings.ts';
import type { Settings } from '../settings.ts';
import { introspectionOf } from './from-settings/introspection.ts';
import { publicUrlOf } from './from-settings/resource.ts';
import {
  accessTokensOf,
  algorithmsOf,
  claimsWithoutToken,
  DEFAULT_AGENT,
  OWN_ISSUER,
} from './from-settings/token-trust.ts';
import { derivedKey } from './gateway/state-key.ts';
import type { Ingredients } from './ingredients.ts';
import { checkpointSigner } from './keys/checkpoint-signer.ts';

/** Durable stores of identities. */
export interface IdentityStores {
  readonly revocationStore: RevocationStore;
  readonly apiKeyStore: ApiKeyStore;
  readonly proofIds: ProofIdStore;
}

/** Identities and their keys. Disposed before the database is closed. */
export interface IdentityParts extends AsyncDisposable {
  readonly identify: Identify;
  readonly identifyAgain: IdentifyAgain;
  /** True when a token or key that was shown earlier was revoked since. */
  readonly wasRevoked: (claims: CapabilityClaims) => boolean;
  /** Calls the listener several times a second, and at once when this instance revokes something. */
  onRevocations(listener: () => void): void;
  /** Nonce for proofs of keys; undefined where proofs need none. */
  readonly proofNonce: () => string | undefined;
  readonly signer: CheckpointSigner;
  readonly operations: IdentityOperationParts;
  /** Whether callers need a credential, and whether all parts that verify it are available. */
  health(): Health['parts'][string];
}

/**
 * Reads the keys while the database starts, then the revocations and API keys.
 * @throws E3900 naming the key file to fix; E3801 naming the setting to correct; E3812 for the database
 */
export async function openIdentity(
  { settings, clock, log }: Pick<Ingredients, 'settings' | 'clock' | 'log'>,
  opening: Promise<IdentityStores>,
): Promise<IdentityParts> {
  // A fault of the keys is reported first; nobody awaits the database then.
  opening.catch(() => undefined);
  await using opened = new AsyncDisposableStack();
  const folder = join(settings['data_folder'], 'keys');
  const keyRing = opened.use(await openKeyRing({ folder, issuer: OWN_ISSUER, clock, log }));
  const foreignKeys = await openForeignKeys(opened, settings, { ...valuesOf(KEY_SETTINGS, settings), clock, log });
  const accessTokens = accessTokensOf(settings, foreignKeys.oauth, await introspectionOf(settings));
  const trust = {
    keys: combinedKeys([keyRing, foreignKeys.capability]),
    issuers: [...new Set([OWN_ISSUER, ...settings['tokens.issuers']])],
    ownIssuer: OWN_ISSUER,
    algorithms: algorithmsOf(settings, 'tokens.algorithms'),
    ...valuesOf(TOKEN_SETTINGS, settings),
    clock,
    ...(accessTokens === undefined ? {} : { accessTokens }),
  };
  const { revocationStore, apiKeyStore, proofIds } = await opening;
  const listeners = new Set<() => void>();
  const onLook = (): void => {
    for (const listener of listeners) listener();
  };
  const revocations = opened.use(createRevocations({ store: revocationStore, clock, log, onLook }));
  const { isRevoked } = revocations;
  const apiKeys = opened.use(createApiKeys({ store: apiKeyStore, isRevoked, clock, log, onLook }));
  const wasRevoked = (claims: CapabilityClaims): boolean => isRevoked(claims) || apiKeys.isRevoked(claims);
  await Promise.all([revocations.start(), apiKeys.start()]);
  const authenticator = createAuthenticator(createTokenVerifier({ ...trust, isRevoked }), apiKeys);
  const names = { issuer: OWN_ISSUER, tenantId: settings['tenant.default'], agentDid: DEFAULT_AGENT };
  const mint = createTokenMint({ ...names, keys: keyRing.current, revokedBefore: revocations.issuedBefore, clock });
  const withoutToken = claimsWithoutToken(settings);
  if (withoutToken !== undefined) log.warn('tokens-not-required', { mode: settings['tokens.mode'] });
  const everyForeignKey = combinedKeys([foreignKeys.capability, foreignKeys.oauth]);
  const proofs = openPossession({ settings, clock, keyRing, ids: proofIds });
  const kept = opened.move();
  return {
    identify: createIdentify((presented) => authenticator.verify(presented), {
      defaultTrust: settings['trust.default'],
      checkPossession: proofs.check,
      ...(withoutToken === undefined ? {} : { withoutToken }),
    }),
    identifyAgain: createIdentifyAgain(wasRevoked, settings['trust.default']),
    wasRevoked,
    onRevocations: (listener) => void listeners.add(listener),
    proofNonce: proofs.nonce,
    signer: checkpointSigner(keyRing),
    operations: {
      mintToken: (request) => mint.mint(request),
      authenticator,
      revocations,
      apiKeys,
      keyRing,
      foreignKeys: everyForeignKey,
      keyOverlapMs: valuesOf(KEY_SETTINGS, settings).overlapMs,
      defaultAgent: DEFAULT_AGENT,
    },
    health: () => healthOf(settings, everyForeignKey, revocations, apiKeys),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Key derivation: nonces of instances with the same key are the same. */
const NONCE_PURPOSE = 'sallyport: nonces of proofs';

/** The check of proofs that callers hold the keys of their tokens. */
function openPossession({
  settings,
  clock,
  keyRing,
  ids,
}: Pick<Ingredients, 'settings' | 'clock'> & { readonly keyRing: KeyRing; readonly ids: ProofIdStore }): {
  readonly check: CheckPossession;
  readonly nonce: () => string | undefined;
} {
  const { asksNonce, proofMs } = valuesOf(POSSESSION_SETTINGS, settings);
  const keys = new WeakMap<SigningKeys, Uint8Array>();
  const key = (): Uint8Array => {
    const own = keyRing.current();
    const known = keys.get(own) ?? derivedKey(own, NONCE_PURPOSE);
    keys.set(own, known);
    return known;
  };
  const nonces: DpopNonces = createDpopNonces(clock, key);
  const { clockSkewSeconds } = valuesOf(TOKEN_SETTINGS, settings);
  const publicUrl = publicUrlOf(settings);
  return {
    check: createPossessionCheck({ clock, ids, nonces, publicUrl, asksNonce, proofMs, clockSkewSeconds }),
    nonce: () => (asksNonce ? nonces.current() : undefined),
  };
}

/** The keys of an issuer verify only tokens of that issuer. */
async function openForeignKeys(
  opened: AsyncDisposableStack,
  settings: Settings,
  options: KeySourceOptions,
): Promise<{ readonly capability: KeySource; readonly oauth: KeySource }> {
  const capability = { ...options, issuers: settings['tokens.issuers'] };
  const file = settings['tokens.public_key_file'];
  const url = settings['tokens.jwks_url'];
  const sources = [
    ...(file === '' ? [] : [opened.use(await openKeyFile(file, capability))]),
    ...(url === '' ? [] : [opened.use(openKeyUrl(url, capability))]),
  ];
  const oauth = await openAuthorizationKeys(opened, settings, options);
  for (const source of sources) source.start();
  return { capability: combinedKeys(sources), oauth };
}

/** The layer's own authorization server has its keys in the data folder: they are known before it serves them. */
async function openAuthorizationKeys(
  opened: AsyncDisposableStack,
  settings: Settings,
  options: KeySourceOptions,
): Promise<KeySource> {
  const issuers = [settings['oauth.issuer']];
  if (settings['auth.dev']) {
    const { kid, publicKey: key } = await loadSigningKeys(developmentFolder(settings));
    return fixedKeys([{ kid, key, named: true, issuers }]);
  }
  const url = settings['oauth.jwks_url'];
  if (url === '') return fixedKeys([]);
  const source = opened.use(openKeyUrl(url, { ...options, issuers }));
  source.start();
  return source;
}

function healthOf(settings: Settings, foreign: KeySource, revocations: Revocations, apiKeys: ApiKeys) {
  const issuers = new Set([...settings['tokens.issuers'], settings['oauth.issuer']]);
  const problems = new Set([
    ...[...issuers].map((issuer) => foreign.problem(issuer)),
    revocations.problem(),
    apiKeys.problem(),
  ]);
  const said = [...problems].filter((problem) => problem !== undefined);
  const mode = settings['tokens.mode'];
  if (said.length > 0) return { ok: false, message: said.join('; ') };
  return mode === 'required' ? { ok: true } : { ok: true, message: `tokens.mode is ${mode}: callers need no token` };
}
