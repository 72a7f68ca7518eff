import { EventEmitter } from 'node:events';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { UpstreamDefinition } from '../../api/schemas/upstream.ts';
import type { ClientAsker } from '../domain/questions/client-question.ts';
import { elicitationIdOf } from '../domain/questions/elicitation-id.ts';
import type { SecretStore } from '../external/secret-store.port.ts';
import type { AuthorizationStore } from './authorization-store.port.ts';
import { type Authorizer, authorizedFetch } from './http/authorization/authorized-fetch.ts';
import { AuthorizationContext, type AuthorizationParts, partOf } from './http/authorization/context.ts';
import { holderOf } from './http/authorization/holder.ts';
import { HolderTokens } from './http/authorization/holder-tokens.ts';
import { type ExpectedLogin, expectedLogin } from './http/authorization/login/expected-login.ts';
import { createRedirectReceiver, type RedirectReceiver } from './http/authorization/login/redirect-receiver.ts';
import { type BegunLogin, beginLogin, finishLogin } from './http/authorization/login.ts';
import { revoke } from './http/authorization/token-endpoint.ts';
import type { StoredPrint } from './upstream-store.port.ts';

export type { Authorizer, BegunLogin, ExpectedLogin, RedirectReceiver };
export { createRedirectReceiver, holderOf };

/** Most holders whose tokens are held in memory; others are read again from the store. */
const HOLDERS_MAX = 10_000;

/**
 * Authorizations at upstreams over HTTP (MCP authorization). A holder is a user, or an agent without one; undefined is
 * the layer itself, whose connection all callers share.
 */
export interface UpstreamLogins {
  /**
   * Undefined for an upstream without HTTP, and one whose definition has the credential itself.
   * @param secrets credentials of the caller, where the connection is the caller's own
   */
  authorizer(
    tenantId: string,
    definition: UpstreamDefinition,
    holder: string | undefined,
    secrets: SecretStore,
  ): Authorizer | undefined;
  /**
   * Begins a login, and gives the link for a person to open.
   * @param redirectUrl where it leads back to; default: that of the settings
   * @param onReceived called when its redirect came to this instance and the holder is logged in
   * @throws E3309 for an upstream without logins; E3307 when it names no authorization server that fits, or that takes
   *   the layer as its client; E3104 for one that may not be reached; E3304 E3306 E3308 E3310 when that fails
   */
  begin(
    tenantId: string,
    definition: UpstreamDefinition,
    holder: string | undefined,
    redirectUrl?: string,
    onReceived?: () => void,
  ): Promise<BegunLogin & { readonly isReceived: boolean }>;
  /**
   * Ends a login with the address that the authorization server led to.
   * @throws E3801 when it is not the redirect of this holder's login; E3307 when the server refuses
   */
  finish(
    tenantId: string,
    definition: UpstreamDefinition,
    holder: string | undefined,
    redirected: string,
  ): Promise<void>;
  /**
   * Waits for the end of a login, wherever it is ended.
   * @returns false when `signal` aborts first
   * @throws why the login failed, where this instance ended it; E3801 when nobody is logged in all the same
   */
  ended(
    tenantId: string,
    definition: UpstreamDefinition,
    holder: string | undefined,
    state: string,
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * A login that a person is asked for at their client. Where its redirect comes to this machine, it is ended by that.
   * @throws E3309 for an upstream without logins
   */
  expect(tenantId: string, definition: UpstreamDefinition, holder: string): Promise<ExpectedLogin>;
  /** Notifies of each login that was ended by its redirect. @returns a function that removes the listener */
  onReceived(listener: LoginReceived): () => void;
  /** Deletes the tokens of a holder, and revokes them where the server allows it. False when there were none. */
  end(tenantId: string, definition: UpstreamDefinition, holder: string | undefined): Promise<boolean>;
  /**
   * Prints of those of these logins that connections here use. The name of each is JSON of its upstream and holder.
   */
  prints(logins: readonly LoginSubject[]): Promise<readonly StoredPrint[]>;
  /** True, once, when the login that connections here use was ended or replaced. */
  isOver(tenantId: string, definition: UpstreamDefinition, holder: string | undefined): Promise<boolean>;
  /** Deletes everything of an upstream. False when there was nothing. */
  removeAll(tenantId: string, upstream: string): Promise<boolean>;
}

/** Whose login at which upstream. */
interface LoginSubject {
  readonly tenantId: string;
  readonly definition: UpstreamDefinition;
  readonly holder: string | undefined;
}

/** A holder logged in, and its browser came back to this machine. */
export type LoginReceived = (tenantId: string, upstream: string, holder: string) => void;

/** Dependencies of the authorizations of all upstreams. */
export interface UpstreamLoginsParts extends AuthorizationParts {
  /** Receives redirects to `redirectUrl`; absent: logins are ended by `finish` alone. */
  readonly receiver?: Pick<RedirectReceiver, 'expect' | 'forget'>;
  /** Clients that were asked to open the link of a login. */
  readonly clients: Pick<ClientAsker, 'completed'>;
}

/** Makes the authorizations of all upstreams. */
export function createUpstreamLogins(parts: UpstreamLoginsParts): UpstreamLogins {
  const ends = new EventEmitter().setMaxListeners(0);
  const listeners = new Set<LoginReceived>();
  const of = knownHolders(parts);
  const needed = (...subject: Parameters<typeof of>): Known => of(...subject) ?? refuse(subject[1].name);
  const finish: UpstreamLogins['finish'] = async (tenantId, definition, holder, redirected) => {
    const { context, tokens } = needed(tenantId, definition, holder);
    const state = URL.canParse(redirected) ? new URL(redirected).searchParams.get('state') : null;
    try {
      await finishLogin(context, redirected);
    } catch (thrown) {
      ends.emit(`${state}`, thrown);
      throw thrown;
    } finally {
      tokens.forget();
      // The connection that all callers share is made anew with the login, by who asked for it.
      if (holder === undefined) tokens.disconnected();
      parts.receiver?.forget(`${state}`);
    }
    ends.emit(`${state}`);
    parts.clients.completed(elicitationIdOf('login', state));
  };
  /** False where this instance does not listen at the address that the login leads back to. */
  const receive = async (
    { state, redirectUrl }: Pick<BegunLogin, 'state' | 'redirectUrl'>,
    take: (redirected: string) => Promise<void>,
  ): Promise<boolean> => redirectUrl === parts.redirectUrl && (await parts.receiver?.expect(state, take)) === true;
  return {
    authorizer(tenantId, definition, holder, secrets) {
      const { tokens } = of(tenantId, definition, holder) ?? {};
      if (tokens === undefined) return undefined;
      return { over: (carry) => authorizedFetch(tokens, carry, secrets), hide: (text) => tokens.hide(text) };
    },
    async begin(tenantId, definition, holder, redirectUrl = parts.redirectUrl, onReceived = () => {}) {
      const begun = await beginLogin(needed(tenantId, definition, holder).context, redirectUrl);
      const isReceived = await receive(begun, async (redirected) => {
        await finish(tenantId, definition, holder, redirected);
        onReceived();
      });
      return { ...begun, isReceived };
    },
    async ended(tenantId, definition, holder, state, signal) {
      return loginEnded(needed(tenantId, definition, holder).context, ends, state, signal);
    },
    finish,
    async expect(tenantId, definition, holder) {
      const { context } = needed(tenantId, definition, holder);
      const { login, expected } = await expectedLogin(context, ends);
      if (login !== undefined) {
        await receive(login, async (redirected) => {
          await finish(tenantId, definition, holder, redirected);
          for (const listener of listeners) listener(tenantId, definition.name, holder);
        });
      }
      return expected;
    },
    onReceived(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end: async (...login) => endLogin(needed(...login)),
    prints: (logins) => printsOf(parts.store, of, logins),
    isOver: async (...login) => (await of(...login)?.tokens.isOver()) === true,
    removeAll: (tenantId, upstream) => parts.store.remove(tenantId, upstream),
  };
}

/** See `UpstreamLogins.end`. */
async function endLogin({ context, tokens }: Known): Promise<boolean> {
  await revokeKept(context);
  const wereThere = await context.remove();
  tokens.forget();
  tokens.disconnected();
  return wereThere;
}

/** See `UpstreamLogins.prints`. */
async function printsOf(
  store: Pick<AuthorizationStore, 'revisions'>,
  of: ReturnType<typeof knownHolders>,
  logins: readonly LoginSubject[],
): Promise<readonly StoredPrint[]> {
  const used = logins.filter(
    ({ tenantId, definition, holder }) => of(tenantId, definition, holder)?.tokens.isUsed() === true,
  );
  // Fast path: nobody is logged in.
  if (used.length === 0) return [];
  const places = used.map(({ tenantId, definition: { name: upstream }, holder }) => ({
    ...{ tenantId, upstream },
    part: partOf(holder),
  }));
  const revisions = await store.revisions(places);
  return used.map(({ tenantId, definition, holder }, at) => ({
    tenantId,
    name: JSON.stringify(holder === undefined ? [definition.name] : [definition.name, holder]),
    print: `${revisions[at]}`,
  }));
}

/** The authorization of each holder at each upstream, made when it is first needed. */
function knownHolders(parts: UpstreamLoginsParts) {
  const known = new LRUCache<string, Known>({ max: HOLDERS_MAX });
  return (tenantId: string, definition: UpstreamDefinition, holder: string | undefined): Known | undefined => {
    const { name, transport } = definition;
    if (transport.type === 'stdio' || transport.type === 'embedded' || hasCredential(transport.headers))
      return undefined;
    const key = JSON.stringify([tenantId, name, holder]);
    const stated = JSON.stringify(transport);
    const before = known.get(key);
    if (before?.stated === stated) return before;
    const context = new AuthorizationContext(parts, { tenantId, name, transport, holder });
    const made = { stated, context, tokens: new HolderTokens(context) };
    known.set(key, made);
    return made;
  };
}

/** See `UpstreamLogins.ended`. */
async function loginEnded(
  context: AuthorizationContext,
  ends: EventEmitter,
  state: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { login, expected } = await expectedLogin(context, ends);
  using waited = expected;
  try {
    if (login?.state === state && login.endsAt > context.parts.clock.now()) await waited.finished(signal);
  } catch (thrown) {
    if (signal.aborted) return false;
    throw thrown;
  }
  if ((await context.held.read()).value.tokens === undefined) throw notLoggedIn(context.subject.name);
  return true;
}

interface Known {
  readonly stated: string;
  readonly context: AuthorizationContext;
  readonly tokens: HolderTokens;
}

function hasCredential(headers: Readonly<Record<string, string>> = {}): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

function refuse(name: string): never {
  throw new ToolLayerError(
    'E3309',
    `Nobody logs in at the upstream '${name}': it is not reached over HTTP, or its definition has an Authorization header.`,
  );
}

const notLoggedIn = (name: string): ToolLayerError =>
  new ToolLayerError(
    'E3801',
    `The login at '${name}' took too long, or failed. Begin again with: sallyport upstreams login ${name}`,
  );

/** Tokens are deleted here in any case: a server that cannot be reached keeps nobody logged in. */
async function revokeKept(context: AuthorizationContext): Promise<void> {
  const { tokens, source, dpopKey } = (await context.held.read()).value;
  if (tokens === undefined || source === undefined) return;
  try {
    await revoke(await context.endpointOf(source, dpopKey), tokens);
  } catch (thrown) {
    context.parts.log.warn('upstream-tokens-not-revoked', { upstream: context.subject.name, error: String(thrown) });
  }
}
