import { hash, randomBytes } from 'node:crypto';
import type { Settings } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';
import { freePort } from './authorization-server.fixture.ts';
import { Browser, type Page } from './browser.fixture.ts';
import { CALLBACK } from './client-state.fixture.ts';

/** A layer with its authorization server for development, on a port of its own, with the tool `double`. */
export async function developmentLayer(settings: Partial<Settings> = {}): Promise<OpenLayer> {
  const port = settings['server.port'] ?? (await freePort());
  const mine = { 'auth.dev': true, 'auth.dev_users': ['alice'], ...settings, 'server.port': port };
  const open = await openLayer(mine, {}, port);
  await open.layer.registerFunction(DOUBLE, double);
  return open;
}

/** Registers a client, as every program of the machine may. */
export async function register(
  url: string,
  more: object = {},
): Promise<{ status: number; client_id: string; client_secret: string }> {
  const metadata = {
    client_name: 'Raw client',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...more,
  };
  const response = await fetch(`${url}/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  return { ...((await response.json()) as { client_id: string; client_secret: string }), status: response.status };
}

/** A login that a client began: the address for the browser, and what the client keeps. */
export interface BegunLogin {
  readonly address: string;
  readonly verifier: string;
}

/** Begins a login. @param more parameters in place of the honest ones; an empty one is left out */
export function begin(url: string, client_id: string, more: Readonly<Record<string, string>> = {}): BegunLogin {
  const verifier = randomBytes(32).toString('base64url');
  const honest = {
    client_id,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'tools:call',
    resource: `${url}/mcp`,
    state: 'kept',
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  };
  const parameters = Object.entries({ ...honest, ...more }).filter(([, value]) => value !== '');
  return { address: `${url}/auth/authorize?${new URLSearchParams(parameters)}`, verifier };
}

/** Logs alice in and allows what is asked. */
export async function allow({ server }: OpenLayer, address: string, browser = new Browser(server.url)): Promise<Page> {
  const login = await browser.visit(address);
  const consent = await browser.send(login, { user: 'alice', code: server.development?.loginCode ?? '' });
  return browser.send(consent, { decision: 'allow' });
}

/** Asks for tokens. */
export async function tokens(
  url: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; error?: string; access_token: string; refresh_token: string; token_type: string }> {
  const response = await fetch(`${url}/auth/token`, { method: 'POST', body: new URLSearchParams(form), headers });
  const said = (await response.json()) as { access_token: string; refresh_token: string; token_type: string };
  return { ...said, status: response.status };
}
