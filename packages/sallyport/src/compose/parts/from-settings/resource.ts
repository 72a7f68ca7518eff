import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isLoopback } from '@sallyport/std/web/loopback';
import { Role, type ToolScope } from '../../../../api/schemas/capability-token.ts';
import { addressedServer, pathOfServer, type ResourceSettings } from '../../../doors/protected-resource.ts';
import type { Settings } from '../../settings.ts';

/** Paths that are resources of their own for OAuth clients; REST is the one at ''. */
const RESOURCE_PATHS = ['', '/mcp', '/mcp/discovery'];

const ROLES: readonly Role[] = Role.enum;

/**
 * What the doors announce to OAuth clients (PRM-11).
 * @throws E3801 for an invalid public address, a scope without a role, or one without tools
 */
export function resourceOf(settings: Settings): Omit<ResourceSettings, 'proofNonce'> {
  const issuer = settings['oauth.issuer'];
  return {
    publicUrl: publicUrlOf(settings),
    authorizationServers: issuer === '' ? [] : [issuer],
    scopes: settings['oauth.scopes'].map((text) => {
      const [scope, role] = scopeRole(text);
      return { scope, role };
    }),
    mustBeBound: settings['dpop.required'],
    toolScopes: issuer === '' ? [] : toolScopesOf(settings).map(({ scope }) => scope),
  };
}

/** The resources as an authorization server names them in `aud` (RFC 8707); empty without a public address. */
export function resourceAudiences(settings: Settings): readonly string[] {
  const base = publicUrlOf(settings);
  return base === '' ? [] : RESOURCE_PATHS.map((path) => `${base}${path}`);
}

/** The upstream whose own address an audience names; undefined for any other, and without a public address. */
export function serverAudience(settings: Settings): (audience: string) => string | undefined {
  const base = publicUrlOf(settings);
  return (audience) => {
    const server = base === '' ? undefined : addressedServer(audience.slice(base.length));
    return server !== undefined && audience === base + pathOfServer(server) ? server : undefined;
  };
}

/**
 * Address that clients use, without trailing slash; empty when none is set.
 * @throws E3801 for an address with a path, or of another protocol
 */
export function publicUrlOf(settings: Settings): string {
  const given = settings['server.public_url'];
  if (given === '') return '';
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (isWeb && url.pathname === '/' && url.search + url.hash + url.username + url.password === '') return url.origin;
  throw new ToolLayerError(
    'E3801',
    'server.public_url must be an address without path, such as https://tools.example.com.',
  );
}

/**
 * Whether this process receives the redirects of logins at upstreams: only where all callers are on this machine.
 * Somebody elsewhere could have a person here log in for them, since a browser does not say for whom it opens a link.
 */
export function receivesRedirects(settings: Settings): boolean {
  const isHere = (address: string): boolean => {
    const { protocol, hostname } = URL.parse(address) ?? {};
    return protocol === 'http:' && isLoopback(hostname ?? '');
  };
  const { 'server.host': host, 'upstreams.login_redirect_url': redirectUrl } = settings;
  const publicUrl = publicUrlOf(settings);
  return (isLoopback(host) || host === '::1') && (publicUrl === '' || isHere(publicUrl)) && isHere(redirectUrl);
}

/**
 * Scopes for calling tools, the longest pattern first.
 * @throws E3801 for entries that are not scope=TOOL
 */
export function toolScopesOf(settings: Pick<Settings, 'oauth.tool_scopes'>): readonly Omit<ToolScope, 'held'>[] {
  return settings['oauth.tool_scopes']
    .map((text) => {
      const at = text.lastIndexOf('=');
      const [scope, tool] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
      if (SCOPE.test(scope) && tool !== '') return { scope, tool };
      throw new ToolLayerError(
        'E3801',
        `oauth.tool_scopes has ${JSON.stringify(text)}. Write scope=TOOL, such as mail:send=mail__*.`,
      );
    })
    .toSorted((a, b) => named(b.tool) - named(a.tool));
}

/** Syntax of a scope (RFC 6749 §3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Number of characters in a pattern besides wildcards. */
const named = (tool: string): number => tool.replaceAll('*', '').length;

/** @throws E3801 for text that is not scope=role */
export function scopeRole(text: string): [scope: string, role: Role] {
  const at = text.lastIndexOf('=');
  const role = ROLES.find((each) => each === text.slice(at + 1));
  if (at > 0 && role !== undefined) return [text.slice(0, at), role];
  throw new ToolLayerError(
    'E3801',
    `oauth.scopes has ${JSON.stringify(text)}. Write scope=role, with ${ROLES.join(', ')}.`,
  );
}
