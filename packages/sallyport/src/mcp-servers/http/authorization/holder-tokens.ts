import { setTimeout as pause } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { JWK } from 'jose';
import { type HideSecrets, hideSecrets } from '../../../external/hide-secrets.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import type { HolderState, TokenSource, Tokens } from './authorization-state.ts';
import type { AuthorizationContext } from './context.ts';
import type { Challenge } from './discovery/challenge.ts';
import { needsLogin } from './failures.ts';
import type { Held } from './kept-value.ts';
import { beginLogin } from './login.ts';
import { requestTokens } from './machine-grants.ts';
import { chooseScopes } from './scopes.ts';
import { isInvalidGrant, refreshTokens } from './token-endpoint.ts';

/** A token is renewed this long before its end, ms: it would end on the way. */
const LEEWAY_MS = 10_000;
/** How long an instance may take to renew tokens before another one tries, ms. */
const CLAIM_MS = 30_000;
/** How often an instance looks whether another one has renewed the tokens, ms. */
const LOOK_MS = 100;

/** How long tokens are used as they were read: another instance may have ended the login, or begun another one, ms. */
const FRESH_MS = 1_000;

/** A token to send, and the key that it is bound to. */
export interface Access {
  readonly token: string;
  readonly source: TokenSource;
  readonly dpopKey?: JWK;
}

/**
 * The tokens of one holder at an upstream. They are renewed by one request at a time, also across instances: a refresh
 * token that is used twice counts as stolen (OAuth 2.1 §4.3.1).
 */
export class HolderTokens {
  readonly #context: AuthorizationContext;
  #held: Held<HolderState> | undefined;
  #readAt = 0;
  /** The login whose tokens connections here were opened with. */
  #used: string | undefined;
  /** New tokens that could not be written, with the revision that they replace. */
  #unkept: Held<HolderState> | undefined;
  #working: Promise<Access | undefined> | undefined;
  #hide: { readonly token: string; readonly hide: HideSecrets } | undefined;

  constructor(context: AuthorizationContext) {
    this.#context = context;
  }

  /**
   * The token to send now; undefined when there is none.
   * @param secrets credentials of the caller, where the connection is the caller's own
   * @throws when an old token cannot be renewed
   */
  async current(secrets: SecretStore): Promise<Access | undefined> {
    const isFresh = this.#context.parts.clock.monotonic() - this.#readAt < FRESH_MS;
    const held = (isFresh ? this.#held : undefined) ?? (await this.#read());
    const { tokens } = held.value;
    if (tokens === undefined) return undefined;
    if (!this.#isOld(tokens)) return this.#access(held.value);
    return this.#alone(() => this.#renewOld(secrets));
  }

  /**
   * A token in place of one that the upstream did not accept.
   * @returns undefined when the upstream does not say where tokens come from
   * @throws E3311 when somebody has to log in; E3307 when a token of these scopes is not enough; what the
   *   authorization server's failures are
   */
  renew(challenge: Challenge, used: Access | undefined, secrets: SecretStore): Promise<Access | undefined> {
    return this.#alone(() => this.#renewAfter(challenge, used, secrets));
  }

  /** Forgets what was read; the next request reads again. */
  forget(): void {
    this.#held = undefined;
    this.#unkept = undefined;
  }

  /** True while a connection here may use a login. */
  isUsed(): boolean {
    return this.#used !== undefined;
  }

  /** Connections here are made anew. */
  disconnected(): void {
    this.#used = undefined;
  }

  /** True, once, when the login that connections here use has ended, or was replaced by another one. */
  async isOver(): Promise<boolean> {
    const used = this.#used;
    const { tokens, loginId } = (await this.#read()).value;
    if (used === undefined || (tokens !== undefined && loginId === used)) return false;
    this.disconnected();
    return true;
  }

  /** Takes the tokens out of a text of the upstream. */
  hide(text: string): string {
    const token = this.#held?.value.tokens?.access;
    if (token !== undefined && this.#hide?.token !== token) {
      const { refresh = '' } = this.#held?.value.tokens ?? {};
      this.#hide = { token, hide: hideSecrets(new Map([...Object.entries({ token, refresh })])) };
    }
    return this.#hide === undefined ? text : this.#hide.hide(text);
  }

  #access({ tokens, source, dpopKey, loginId }: HolderState): Access | undefined {
    if (tokens === undefined || source === undefined) return undefined;
    this.#used ??= loginId;
    return { token: tokens.access, source, ...(tokens.isDpop && dpopKey !== undefined ? { dpopKey } : {}) };
  }

  #alone(work: () => Promise<Access | undefined>): Promise<Access | undefined> {
    this.#working ??= work().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  async #read(): Promise<Held<HolderState>> {
    const kept = await this.#context.held.read();
    this.#held = this.#unkept?.revision === kept.revision ? this.#unkept : kept;
    this.#readAt = this.#context.parts.clock.monotonic();
    return this.#held;
  }

  #isOld({ expiresAt }: Tokens): boolean {
    return expiresAt !== undefined && expiresAt - this.#context.parts.clock.now() < LEEWAY_MS;
  }

  async #renewOld(secrets: SecretStore): Promise<Access | undefined> {
    const held = await this.#read();
    const { tokens, source, scopes } = held.value;
    if (tokens === undefined || source === undefined || !this.#isOld(tokens)) return this.#access(held.value);
    if (!this.#context.isInteractive) return this.#request(held, source, scopes ?? [], secrets);
    // Without a refresh token the upstream itself says that the token has ended.
    return tokens.refresh === undefined ? this.#access(held.value) : this.#refresh(held, source, tokens.refresh);
  }

  async #renewAfter(challenge: Challenge, used: Access | undefined, secrets: SecretStore): Promise<Access | undefined> {
    const held = await this.#read();
    const { tokens } = held.value;
    const isNewer = tokens !== undefined && tokens.access !== used?.token;
    if (isNewer && !this.#isOld(tokens)) return this.#access(held.value);
    if (challenge.needs === 'scope') this.#checkScopes(challenge, held.value);
    await this.#context.note(challenge.metadataUrl, challenge.asksDpop);
    return this.#context.isInteractive
      ? this.#renewLogin(challenge, held)
      : this.#requestAnew(challenge, held, secrets);
  }

  /** What was asked for before is not asked for again, so that no server keeps the layer asking. */
  #checkScopes({ scopes }: Challenge, { scopes: asked = [] }: HolderState): void {
    if (scopes.some((scope) => !asked.includes(scope))) return;
    throw new ToolLayerError(
      'E3307',
      `The upstream '${this.#context.subject.name}' refuses the token for want of scopes that were asked for when it was issued` +
        `${scopes.length === 0 ? '' : `: ${scopes.join(' ')}`}. Its authorization server grants them to nobody who logs in so.`,
      { details: { reached: true, status: 403 } },
    );
  }

  async #renewLogin(challenge: Challenge, held: Held<HolderState>): Promise<Access | undefined> {
    const found = await this.#context.discover();
    if (found === undefined) return undefined;
    const { tokens, source } = held.value;
    const isSameServer = source?.server.issuer === found.server.metadata.issuer;
    if (challenge.needs === 'token' && isSameServer && tokens?.refresh !== undefined) {
      const access = await this.#refresh(held, source, tokens.refresh);
      if (access !== undefined) return access;
    }
    await this.#want(challenge);
    throw await this.#loginFailure();
  }

  /** Keeps the scopes that the next login has to ask for. */
  async #want({ scopes }: Challenge): Promise<void> {
    const held = await this.#read();
    const { wanted: before = [] } = held.value;
    const wanted = chooseScopes({ challenged: scopes, before });
    if (wanted.length === before.length) return;
    await this.#context.held.replace({ ...held.value, wanted }, held);
  }

  async #loginFailure(): Promise<ToolLayerError> {
    const { name, holder } = this.#context.subject;
    if (holder === undefined) return needsLogin(name, holder);
    const { link } = await beginLogin(this.#context, this.#context.parts.redirectUrl);
    return needsLogin(name, holder, link);
  }

  async #requestAnew(
    { scopes: challenged }: Challenge,
    held: Held<HolderState>,
    secrets: SecretStore,
  ): Promise<Access | undefined> {
    const found = await this.#context.discover();
    if (found === undefined) return undefined;
    const scopes = chooseScopes({
      stated: this.#context.settings.scopes,
      challenged,
      before: held.value.scopes,
      supported: found.resource.scopes,
    });
    const source = await this.#context.sourceAt(found, undefined);
    return this.#request(held, source, scopes, secrets, found);
  }

  async #request(
    held: Held<HolderState>,
    source: TokenSource,
    scopes: readonly string[],
    secrets: SecretStore,
    found?: Parameters<typeof requestTokens>[4],
  ): Promise<Access | undefined> {
    const { tokens, dpopKey } = await requestTokens(this.#context, source, scopes, secrets, found, held.value.dpopKey);
    const value = { tokens, source, scopes, ...(dpopKey === undefined ? {} : { dpopKey }) };
    return this.#keep(value, held);
  }

  /** @returns undefined when the refresh token is used up, so that somebody has to log in again */
  async #refresh(held: Held<HolderState>, source: TokenSource, refresh: string): Promise<Access | undefined> {
    const { held: context } = this.#context;
    if (!(await context.claim(held, CLAIM_MS))) return this.#renewedByOther(held);
    try {
      const endpoint = await this.#context.endpointOf(source, held.value.dpopKey);
      const tokens = await refreshTokens(endpoint, refresh, { resource: source.resource });
      return await this.#keep({ ...held.value, tokens: { refresh, ...tokens } }, held);
    } catch (thrown) {
      const { tokens: _, ...rest } = held.value;
      // Writing the same again ends the claim.
      await context.replace(isInvalidGrant(thrown) ? rest : held.value, held);
      if (isInvalidGrant(thrown)) return undefined;
      throw thrown;
    }
  }

  /** Another instance renews the tokens at this moment, or did so just now. */
  async #renewedByOther(held: Held<HolderState>): Promise<Access | undefined> {
    const { clock } = this.#context.parts;
    const until = clock.monotonic() + CLAIM_MS;
    while (clock.monotonic() < until) {
      const now = await this.#read();
      if (now.revision !== held.revision) return this.#access(now.value);
      await pause(LOOK_MS);
    }
    throw new ToolLayerError(
      'E3310',
      `Another instance renews the authorization at the upstream '${this.#context.subject.name}', and does not end. Try again.`,
      { details: { reached: false } },
    );
  }

  async #keep(value: HolderState, held: Held<HolderState>): Promise<Access | undefined> {
    // New tokens are used even when they cannot be written: those before them may have ended.
    this.#unkept = { value, revision: held.revision };
    try {
      this.#held = await this.#context.held.replace(value, held);
      this.#unkept = undefined;
    } catch (thrown) {
      this.#held = this.#unkept;
      const { name } = this.#context.subject;
      this.#context.parts.log.error('upstream-tokens-not-kept', { upstream: name, error: String(thrown) });
    }
    // Somebody logged out or in meanwhile, or another instance was faster.
    return this.#access((this.#held ?? (await this.#read())).value);
  }
}
