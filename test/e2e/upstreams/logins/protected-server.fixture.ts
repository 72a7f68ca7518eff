import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AccessToken, AuthorizationServer } from './authorization-server.fixture.ts';

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const TOOLS = [tool('read', 'Reads the notes.'), tool('write', 'Writes a note.')];
/** Scope that a method, or a tool, needs. */
const NEEDS: Readonly<Record<string, string>> = { write: 'notes:write' };

/**
 * An MCP server that asks for tokens of an authorization server. `read` says whose token came and how, `write` needs
 * another scope.
 */
export async function startProtectedServer(authorization: AuthorizationServer) {
  const http = createServer();
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const metadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const state = { asksDpop: false };
  const sent: string[] = [];
  http.on('request', async (request, response) => {
    const json = (status: number, body: object, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.url !== '/mcp') {
      const metadata = {
        resource: url,
        authorization_servers: [authorization.issuer],
        scopes_supported: ['notes:read'],
      };
      return request.url === new URL(metadataUrl).pathname ? json(200, metadata) : json(404, {});
    }
    const { id, method, params } = JSON.parse((await text(request)) || '{}') as Message;
    const [scheme = '', value = ''] = (request.headers.authorization ?? '').split(' ');
    const token = value === '' ? undefined : await authorization.tokenOf(value);
    sent.push(value);
    const isBound = scheme === 'DPoP' && request.headers['dpop'] !== undefined;
    if (token === undefined || token.aud !== url || (token.jkt !== undefined) !== isBound) {
      const asked = state.asksDpop ? 'DPoP' : 'Bearer';
      return json(401, {}, { 'www-authenticate': `${asked} resource_metadata="${metadataUrl}"` });
    }
    const needed = NEEDS[String(params?.name)];
    if (needed !== undefined && token.scope?.split(' ').includes(needed) !== true) {
      const challenge = `Bearer error="insufficient_scope", scope="${needed}", resource_metadata="${metadataUrl}"`;
      return json(403, {}, { 'www-authenticate': challenge });
    }
    if (id === undefined) return response.writeHead(method === undefined ? 405 : 202).end();
    return json(200, { jsonrpc: '2.0', id, ...answerTo(method, token, `${scheme} ${value}`) });
  });
  return {
    url,
    state,
    /** Tokens that came, in order; empty where none came. */
    sent,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

function answerTo(method: string | undefined, { accountId, clientId }: AccessToken, sent: string): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'notes', version: '1.0.0' };
    return {
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo,
      },
    };
  }
  if (method === 'tools/list') return { result: { tools: TOOLS } };
  if (method === 'resources/list') return { result: { resources: [{ uri: 'notes://a', name: 'a' }] } };
  if (method === 'resources/subscribe') return { result: {} };
  // It says the credential too, as careless servers do.
  const said = `${accountId ?? clientId} with ${sent}`;
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: said }] } };
  return { error: { code: -32601, message: 'Method not found' } };
}
