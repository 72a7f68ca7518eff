import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { exportJWK } from 'jose';
import type { AuthorizationTerms } from '../../doors/rest/authorization-server/authorization-settings.ts';
import type { RestDoor } from '../../doors/rest/create-rest-door.ts';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { createGuardedFetch } from '../../external/guarded-fetch.ts';
import { createOutboundHttp } from '../../external/outbound-http.ts';
import { loadSigningKeys } from '../../identity/keys/signing-keys.ts';
import type { Log } from '../../telemetry/log.ts';
import { resourceAudiences, resourceOf, serverAudience, toolScopesOf } from '../parts/from-settings/resource.ts';
import { derivedKey } from '../parts/gateway/state-key.ts';
import { developmentFolder } from '../settings/development-settings.ts';
import type { Settings } from '../settings.ts';

/** The authorization server for development, as the one who started it needs to know it. */
export interface DevelopmentServer extends AsyncDisposable {
  /** What users log in with; another one at each start. */
  readonly loginCode: string;
  /** File with the same, for its owner alone. */
  readonly loginCodeFile: string;
  readonly users: readonly string[];
}

const LOGIN_CODE_FILE = 'login-code';
const CLIENT_SECRET_FILE = 'program-client-secret';
const PRIVATE = { mode: 0o600 };

/**
 * Adds the authorization server to the doors of a layer.
 * @param settings those of `withDevelopmentServer`
 */
export async function openDevelopmentServer(
  settings: Settings,
  rest: Pick<RestDoor, 'app' | 'bodies'>,
  log: Log,
): Promise<DevelopmentServer> {
  // Loaded only here: oidc-provider is an optional dependency.
  const [{ mountAuthorizationServer }, { openStoredState }] = await Promise.all([
    import('../../doors/rest/authorization-server/mount-authorization-server.ts'),
    import('../../doors/rest/authorization-server/stored-state.ts'),
  ]);
  await using opened = new AsyncDisposableStack();
  const folder = developmentFolder(settings);
  const keys = await loadSigningKeys(folder);
  const secret = (purpose: string): Uint8Array => derivedKey(keys, `sallyport: ${purpose} of the authorization server`);
  const text = (purpose: string): string => Buffer.from(secret(purpose)).toString('base64url');
  const terms = termsOf(settings, newLoginCode(), text('program client'));
  const loginCodeFile = join(folder, LOGIN_CODE_FILE);
  await writeFile(loginCodeFile, `${terms.loginCode}\n`, PRIVATE);
  await writeFile(join(folder, CLIENT_SECRET_FILE), `${terms.clientSecret}\n`, PRIVATE);
  const state = opened.use(await openStoredState(join(folder, 'state.json')));
  const outbound = opened.use(createOutboundHttp({ guard: createEgressGuard() }));
  mountAuthorizationServer(rest.app, {
    terms,
    state,
    log,
    bodies: rest.bodies,
    signingKey: { ...(await exportJWK(keys.privateKey)), kid: keys.kid, use: 'sig', alg: 'RS256' },
    cookieKey: text('cookies'),
    formKey: secret('forms'),
    fetch: createGuardedFetch(outbound, [{ host: '*', port: 443 }], { silenceMs: 5_000 }),
  });
  log.warn('development-authorization-server', { issuer: terms.issuer });
  const kept = opened.move();
  return {
    loginCode: terms.loginCode,
    loginCodeFile,
    users: terms.users,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function termsOf(settings: Settings, loginCode: string, clientSecret: string): AuthorizationTerms {
  const users = settings['auth.dev_users'];
  const resources = resourceAudiences(settings);
  const serverOf = serverAudience(settings);
  return {
    issuer: settings['oauth.issuer'],
    // A client of the MCP gateway need not name it.
    resources: resources.toSorted((a, b) => Number(b.endsWith('/mcp')) - Number(a.endsWith('/mcp'))),
    isResource: (address) => resources.includes(address) || serverOf(address) !== undefined,
    scopes: resourceOf(settings).scopes,
    toolScopes: toolScopesOf(settings),
    users: users.length === 0 ? [ownName()] : users,
    loginCode,
    clientSecret,
  };
}

/** The owner of the data folder, as the machine calls them. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'developer';
  }
}

/** Letters and digits that are not taken for one another. */
const CODE_ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
const CODE_LENGTH = 10;

/** 49 bits, of which five can be tried a minute. */
function newLoginCode(): string {
  const code = Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET.charAt(randomInt(CODE_ALPHABET.length)));
  return `${code.slice(0, 5).join('')}-${code.slice(5).join('')}`;
}
