import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, SignJWT } from 'jose';

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

/**
 * Starts an authorization server with the client credentials grant; its tokens are for the resource that the client
 * asked for.
 */
export async function authorizationServer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'as', use: 'sig', alg: 'RS256' }];
  const asked: URLSearchParams[] = [];
  const tokenFor = async (form: URLSearchParams): Promise<object> => {
    asked.push(form);
    const now = Math.floor(Date.now() / 1000);
    const resources = form.getAll('resource');
    const aud = resources.length > 1 ? resources : (resources[0] ?? '');
    const claims = { sub: 'desk', client_id: 'desk', aud, scope: form.get('scope') ?? '' };
    const access_token = await new SignJWT({ ...claims, iss: issuer, iat: now, exp: now + 60 })
      .setProtectedHeader({ alg: 'RS256', kid: 'as', typ: 'at+jwt' })
      .sign(privateKey);
    return { access_token, token_type: 'Bearer', expires_in: 60 };
  };
  const answerTo = async (path: string, body: string): Promise<object | undefined> => {
    if (path === '/jwks') return { keys };
    if (path === '/token') return tokenFor(new URLSearchParams(body));
    if (path !== '/.well-known/oauth-authorization-server') return undefined;
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const grants = { response_types_supported: ['code'], grant_types_supported: ['client_credentials'] };
    const auth = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    return { issuer, ...endpoints, ...grants, ...auth, code_challenge_methods_supported: ['S256'] };
  };
  const http = createServer((request, response) => {
    void text(request).then(async (body) => {
      const answer = await answerTo(request.url ?? '', body);
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { issuer, asked, close: () => new Promise((done) => http.close(done).closeAllConnections()) };
}
