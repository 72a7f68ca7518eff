import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Members = Record<string, unknown>;

/** An answer; `hang` gives none. */
export type Answer = { readonly status?: number; readonly body: unknown } | 'hang';

/** A request as it came. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

/** How an upstream and its authorization server behave; members are changed by tests. */
export interface Behaviour {
  resource: Members;
  server: Members;
  token: (request: SeenRequest) => Answer | Promise<Answer>;
  /** Tokens that the upstream accepts. */
  accepted: Set<string>;
}

/**
 * An upstream and its authorization server, in one process, that follow the rules except where a test changes them. The
 * upstream has one tool, and answers without sessions.
 */
export async function standIns() {
  const seen: SeenRequest[] = [];
  const http = createServer();
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const behaviour: Behaviour = {
    resource: { resource: url, authorization_servers: [origin], scopes_supported: ['read'] },
    server: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
    },
    token: () => ({ body: { access_token: 'first-token', token_type: 'Bearer', expires_in: 3600 } }),
    accepted: new Set(['first-token']),
  };
  const answerOf = async (request: SeenRequest, body: string): Promise<Answer> => {
    const { path } = request;
    if (path === '/.well-known/oauth-protected-resource/mcp') return { body: behaviour.resource };
    if (path === '/.well-known/oauth-authorization-server') return { body: behaviour.server };
    if (path === '/register') return { status: 201, body: { ...JSON.parse(body), client_id: 'made' } };
    if (path === '/token') return behaviour.token(request);
    return path === '/mcp' ? upstreamAnswer(request, body, behaviour) : { status: 404, body: {} };
  };
  http.on('request', async (request, response) => {
    const body = await text(request);
    const one = seenOf(request, body);
    seen.push(one);
    const answer = await answerOf(one, body);
    if (answer === 'hang') return;
    const { status = 200, body: said } = answer;
    const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 401 ? { 'www-authenticate': challenge } : {}),
    });
    response.end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  return {
    origin,
    url,
    seen,
    behaviour,
    /** Requests at a path. */
    at: (path: string) => seen.filter((request) => request.path === path),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

function seenOf({ method = '', url = '', headers }: IncomingMessage, body: string): SeenRequest {
  return {
    method,
    path: url.split('?')[0] ?? '',
    form: new URLSearchParams(body),
    authorization: headers.authorization,
  };
}

function upstreamAnswer({ authorization = '' }: SeenRequest, body: string, { accepted }: Behaviour): Answer {
  if (!accepted.has(authorization.replace('Bearer ', ''))) return { status: 401, body: {} };
  const { id, method } = JSON.parse(body === '' ? '{}' : body) as { id?: number; method?: string };
  const tools = [{ name: 't', inputSchema: { type: 'object' } }];
  const serverInfo = { name: 's', version: '1' };
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: `ok ${authorization}` }] },
  };
  if (id === undefined) return { status: method === undefined ? 405 : 202, body: '' };
  const result = results[method ?? ''];
  const end = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  return { body: { jsonrpc: '2.0', id, ...end } };
}
