import { timingSafeEqual } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isLoopback } from '@sallyport/std/web/loopback';
import {
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  getDPoPHandle,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { HolderState, PendingLogin } from './authorization-state.ts';
import type { AuthorizationContext, Discovered } from './context.ts';
import { bindsTokens, dpopKeyPair, newDpopKey } from './dpop-keys.ts';
import { authorizationFailure } from './failures.ts';
import type { Held } from './kept-value.ts';
import { chooseScopes, scopeParameters, withOffline } from './scopes.ts';
import { configurationOf, exchangeCode } from './token-endpoint.ts';

/** How long a link of a login can be used, ms. */
export const LOGIN_MS = 900_000;
/** How often a write is tried again that another instance was faster with. */
const WRITES_MAX = 5;
const METHOD = 'S256';

/** A login that was begun. */
export type BegunLogin = Pick<PendingLogin, 'link' | 'state' | 'redirectUrl' | 'endsAt'>;

/**
 * Begins a login: the link leads to the authorization server, which leads back to the redirect address. A login that
 * asks for the same as one before is that one, so that its link stays valid.
 * @throws E3307 when the upstream names no authorization server that fits; E3104 for one that may not be reached
 */
export async function beginLogin(context: AuthorizationContext, redirectUrl: string): Promise<BegunLogin> {
  const { name } = context.subject;
  if (!context.isInteractive) throw noLogin(name);
  const found = await context.discover();
  if (found === undefined) throw noServer(name);
  for (let tries = 0; tries < WRITES_MAX; tries += 1) {
    const held = await context.held.read();
    const scopes = scopesFor(context, found, held.value);
    const before = held.value.login;
    if (before !== undefined && isSame(before, found, redirectUrl, scopes, context.parts.clock.now())) return before;
    const next = await begun(context, found, held.value, scopes, redirectUrl).catch((thrown: unknown) => {
      throw authorizationFailure(name, found.server.metadata.issuer, thrown);
    });
    if ((await context.held.replace(next, held)) !== undefined) return next.login;
  }
  throw tooBusy(name);
}

function scopesFor({ settings }: AuthorizationContext, { resource, server }: Discovered, state: HolderState) {
  const chosen = chooseScopes({
    stated: settings.scopes,
    challenged: state.wanted ?? [],
    before: state.scopes,
    supported: resource.scopes,
  });
  return withOffline(chosen, server.metadata);
}

function isSame(
  { endsAt, redirectUrl, scopes, source }: PendingLogin,
  { server, resource }: Discovered,
  wantedUrl: string,
  wantedScopes: readonly string[],
  now: number,
): boolean {
  const isUsable = endsAt - now > LOGIN_MS / 2 && redirectUrl === wantedUrl;
  const isForSame = source.server.issuer === server.metadata.issuer && source.resource === resource.resource;
  return isUsable && isForSame && wantedScopes.join(' ') === scopes.join(' ');
}

async function begun(
  context: AuthorizationContext,
  found: Discovered,
  state: HolderState,
  scopes: readonly string[],
  redirectUrl: string,
): Promise<HolderState & { readonly login: PendingLogin }> {
  const { metadata } = found.server;
  checkServer(context.subject.name, found);
  const source = await context.sourceAt(found, redirectUrl);
  const dpopKey = (await usesDpop(context, found)) ? await newDpopKey(metadata) : undefined;
  const configuration = configurationOf(await context.endpointOf(source, dpopKey));
  const verifier = randomPKCECodeVerifier();
  const login = { state: randomState(), verifier, redirectUrl, source, scopes };
  const link = buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUrl,
    state: login.state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: METHOD,
    resource: source.resource,
    ...scopeParameters(scopes),
    ...(dpopKey === undefined
      ? {}
      : { dpop_jkt: await getDPoPHandle(configuration, await dpopKeyPair(dpopKey)).calculateThumbprint() }),
  });
  const endsAt = context.parts.clock.now() + LOGIN_MS;
  return { ...state, login: { ...login, link: link.href, endsAt, ...(dpopKey === undefined ? {} : { dpopKey }) } };
}

async function usesDpop(context: AuthorizationContext, found: Discovered): Promise<boolean> {
  if (context.settings.dpop === true) return true;
  return (await context.wantsDpop(found)) && bindsTokens(found.server.metadata);
}

/** @throws E3307 for a server without PKCE (MCP authorization), or with an address that no person should open */
function checkServer(name: string, { server: { metadata } }: Discovered): void {
  const { issuer, authorization_endpoint: endpoint, code_challenge_methods_supported: methods } = metadata;
  const fault = (what: string): ToolLayerError =>
    new ToolLayerError('E3307', `The authorization server ${issuer} of the upstream '${name}' ${what}.`, {
      details: { reached: false },
    });
  if (endpoint === undefined || !URL.canParse(endpoint)) throw fault('has no page to log in');
  const { protocol, hostname } = new URL(endpoint);
  const isPrivate = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  if (!isPrivate) throw fault('has a page to log in that is not https');
  if (methods?.includes(METHOD) !== true)
    throw fault(`does not support PKCE with ${METHOD}, so a code could be stolen`);
}

/**
 * Ends a login with the address that the authorization server led to. A login can be ended once; a redirect that does
 * not belong to it leaves it as it is.
 * @throws E3801 for no login, one that is too old, or a redirect of another one; E3307 when the server refused, or the
 *   redirect comes from another server
 */
export async function finishLogin(context: AuthorizationContext, redirected: string): Promise<void> {
  const { name } = context.subject;
  const { held, login, answer } = await takeLogin(context, redirected);
  const { dpopKey, source, scopes, verifier, state } = login;
  const endpoint = await context.endpointOf(source, dpopKey);
  const tokens = await exchangeCode(endpoint, answer, { state, verifier }, { resource: source.resource });
  if (context.settings.dpop === true && !tokens.isDpop) throw notBound(name);
  const next: HolderState = {
    loginId: state,
    tokens,
    source,
    scopes,
    ...(dpopKey === undefined ? {} : { dpopKey }),
  };
  await writeOver(context, held, next);
}

async function takeLogin(context: AuthorizationContext, redirected: string) {
  const { name } = context.subject;
  const held = await context.held.read();
  const { login, ...rest } = held.value;
  if (login === undefined) throw badRedirect(`No login at '${name}' waits for a redirect`);
  const answer = answerOf(login, redirected);
  if (!isEqual(answer.searchParams.get('state') ?? '', login.state))
    throw badRedirect(`The address is not the one that the login at '${name}' led to: its state is another one`);
  checkIssuer(name, login, answer.searchParams.get('iss'));
  if (login.endsAt < context.parts.clock.now())
    throw badRedirect(`The login at '${name}' took longer than ${LOGIN_MS / 60_000} minutes`);
  const taken = await context.held.replace(rest, held);
  if (taken === undefined) throw badRedirect(`The login at '${name}' was ended by somebody else`);
  return { held: taken, login, answer };
}

/**
 * RFC 9207 §2.4, letter by letter; the library does the same, but says no more than that something is wrong.
 * @throws E3307 for the redirect of another authorization server, whatever else it says
 */
function checkIssuer(name: string, { source: { server } }: PendingLogin, issuer: string | null): void {
  const isDemanded = server.authorization_response_iss_parameter_supported === true;
  if (issuer === null ? !isDemanded : issuer === server.issuer) return;
  throw new ToolLayerError(
    'E3307',
    `The redirect of the login at '${name}' does not come from its authorization server ${server.issuer}. It is not used.`,
    { details: { reached: false } },
  );
}

/** The redirect address of the login with the parameters that came, whatever else the given text says. */
function answerOf({ redirectUrl }: PendingLogin, redirected: string): URL {
  if (!URL.canParse(redirected)) throw badRedirect('The address of the redirect is no URL');
  const given = new URL(redirected);
  const answer = new URL(redirectUrl);
  if (given.origin !== answer.origin || given.pathname !== answer.pathname)
    throw badRedirect(`The login leads to ${redirectUrl}, and this is another address`);
  answer.search = given.search;
  return answer;
}

async function writeOver(context: AuthorizationContext, first: Held<HolderState>, next: HolderState): Promise<void> {
  let held = first;
  for (let tries = 0; tries < WRITES_MAX; tries += 1) {
    if ((await context.held.replace(next, held)) !== undefined) return;
    held = await context.held.read();
  }
  throw tooBusy(context.subject.name);
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

const badRedirect = (what: string): ToolLayerError =>
  new ToolLayerError('E3801', `${what}. Begin again with: sallyport upstreams login NAME`);

const noLogin = (name: string): ToolLayerError =>
  new ToolLayerError('E3309', `Nobody logs in at the upstream '${name}': its authorization states another grant.`);

const noServer = (name: string): ToolLayerError =>
  new ToolLayerError('E3307', `The upstream '${name}' names no authorization server, so there is no login.`);

const notBound = (name: string): ToolLayerError =>
  new ToolLayerError(
    'E3308',
    `The authorization server of the upstream '${name}' issued a token that is bound to no key.`,
  );

const tooBusy = (name: string): ToolLayerError =>
  new ToolLayerError('E3803', `The authorization at '${name}' is changed by others at the moment. Try again.`);
