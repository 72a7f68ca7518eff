import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { UpstreamDefinition } from '../../api/schemas/upstream.ts';
import type { SecretStore } from '../external/secret-store.port.ts';
import { type Authorizer, authorizedFetch } from './http/authorization/authorized-fetch.ts';
import { AuthorizationContext, type AuthorizationParts } from './http/authorization/context.ts';
import { holderOf } from './http/authorization/holder.ts';
import { HolderTokens } from './http/authorization/holder-tokens.ts';
import { type BegunLogin, beginLogin, finishLogin } from './http/authorization/login.ts';
import { revoke } from './http/authorization/token-endpoint.ts';

export type { AuthorizationParts, Authorizer, BegunLogin };
export { holderOf };

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
    secrets?: SecretStore,
  ): Authorizer | undefined;
  /**
   * Begins a login, and gives the link for a person to open.
   * @param redirectUrl where it leads back to; default: that of the settings
   * @throws E3309 for an upstream without logins; E3307 when it names no authorization server that fits, or that takes
   *   the layer as its client; E3104 for one that may not be reached; E3304 E3306 E3308 E3310 when that fails
   */
  begin(
    tenantId: string,
    definition: UpstreamDefinition,
    holder: string | undefined,
    redirectUrl?: string,
  ): Promise<BegunLogin>;
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
  /** Deletes the tokens of a holder, and revokes them where the server allows it. False when there were none. */
  end(tenantId: string, definition: UpstreamDefinition, holder: string | undefined): Promise<boolean>;
  /** Deletes everything of an upstream. */
  removeAll(tenantId: string, upstream: string): Promise<void>;
}

/** Makes the authorizations of all upstreams. */
export function createUpstreamLogins(parts: AuthorizationParts): UpstreamLogins {
  const known = new LRUCache<string, Known>({ max: HOLDERS_MAX });
  const of = (tenantId: string, definition: UpstreamDefinition, holder: string | undefined): Known | undefined => {
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
  const needed = (...subject: Parameters<typeof of>): Known => of(...subject) ?? refuse(subject[1].name);
  return {
    authorizer(tenantId, definition, holder, secrets) {
      const { tokens } = of(tenantId, definition, holder) ?? {};
      if (tokens === undefined) return undefined;
      return { over: (carry) => authorizedFetch(tokens, carry, secrets), hide: (text) => tokens.hide(text) };
    },
    begin: async (tenantId, definition, holder, redirectUrl = parts.redirectUrl) =>
      beginLogin(needed(tenantId, definition, holder).context, redirectUrl),
    async finish(tenantId, definition, holder, redirected) {
      const { context, tokens } = needed(tenantId, definition, holder);
      await finishLogin(context, redirected);
      tokens.forget();
    },
    async end(tenantId, definition, holder) {
      const { context, tokens } = needed(tenantId, definition, holder);
      await revokeKept(context);
      tokens.forget();
      return context.remove();
    },
    async removeAll(tenantId, upstream) {
      await parts.store.remove(tenantId, upstream);
    },
  };
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
