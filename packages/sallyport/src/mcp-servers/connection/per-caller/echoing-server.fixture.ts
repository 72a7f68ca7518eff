import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';

/** A call that the server received. */
export interface SeenCall {
  readonly session: string;
  /** Authorization header of the request. */
  readonly authorization: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** An MCP server with a session for each connection, which records the requests of each session. */
export interface EchoingServer extends AsyncDisposable {
  /** Definition of the upstream; its header `Authorization: Bearer {{KEY}}` is filled for each caller. */
  readonly definition: UpstreamDefinition;
  /** The first authorization of each session; ended sessions stay in the map. */
  readonly sessions: Map<string, string>;
  readonly open: Set<string>;
  readonly calls: SeenCall[];
  /** Requests whose authorization is not that of their session. */
  readonly mixed: string[];
  /** Authorizations by the socket on which they were sent. */
  readonly overSockets: Map<Socket, Set<string>>;
  /** The largest number of sessions that were open at one time. */
  readonly openMax: () => number;
  /** Authorizations that are answered with HTTP 401. */
  readonly refused: Set<string>;
  /** Calls are answered only after this promise resolves. */
  hold: Promise<unknown> | undefined;
  /** Subscriptions end only after this promise resolves. */
  holdEnds: Promise<unknown> | undefined;
  /** The tools that are listed for an authorization. */
  toolsFor: (authorization: string) => readonly object[];
  /** What is offered beside tools for an authorization; undefined: nothing, and no capability for it. */
  offersFor: ((authorization: string) => EchoedOffers) | undefined;
  /** The resources that each session subscribed to; one that ended has none. */
  readonly subscribed: Map<string, Set<string>>;
  /** Says to the sessions of an authorization that subscribed to a resource that it changed. */
  update(authorization: string, uri: string): void;
  /** The requests of each method, as the authorization that sent them. */
  readonly asked: { readonly method: string; readonly authorization: string }[];
}

/** What the server offers to one authorization. */
export interface EchoedOffers {
  readonly instructions?: string;
  readonly resources?: readonly object[];
  readonly prompts?: readonly object[];
}

export const WHO_AM_I = { name: 'who', description: 'Says who asks.', inputSchema: { type: 'object' } };

const ALL_CAPABILITIES = {
  tools: {},
  resources: { subscribe: true },
  prompts: { listChanged: true },
  completions: {},
};

async function listening(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

/** Starts the server on a free port of the loopback. Every tool returns the authorization of the request. */
export async function echoingServer(name = 'notes'): Promise<EchoingServer> {
  let most = 0;
  let count = 0;
  const overSockets = new Map<Socket, Set<string>>();
  const streams = new Map<string, ServerResponse>();
  const http = createServer(async (request, response) => {
    const authorization = request.headers.authorization ?? 'nobody';
    overSockets.set(request.socket, (overSockets.get(request.socket) ?? new Set()).add(authorization));
    const body = await text(request);
    if (self.refused.has(authorization)) response.writeHead(401).end(`not you, ${authorization}`);
    else if (request.method === 'GET') openStream(self, streams, request, response);
    else await answer(request, response, authorization, body === '' ? {} : JSON.parse(body));
  });
  const url = await listening(http);
  const self: EchoingServer = {
    definition: {
      name,
      per_caller: true,
      transport: { type: 'http', url, headers: { Authorization: 'Bearer {{KEY}}' } },
    },
    sessions: new Map(),
    open: new Set(),
    calls: [],
    mixed: [],
    overSockets,
    openMax: () => most,
    refused: new Set(),
    hold: undefined,
    holdEnds: undefined,
    toolsFor: () => [WHO_AM_I],
    offersFor: undefined,
    asked: [],
    subscribed: new Map(),
    update(authorization, uri) {
      const message = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } };
      for (const [session, uris] of self.subscribed)
        if (self.sessions.get(session) === authorization && uris.has(uri))
          streams.get(session)?.write(`data: ${JSON.stringify(message)}\n\n`);
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    authorization: string,
    { id, method, params }: Record<string, unknown>,
  ): Promise<void> => {
    const session = String(request.headers['mcp-session-id'] ?? '');
    if (method === 'server/discover') {
      reply(response, { id, error: { code: -32601, message: 'Method not found' } });
      return;
    }
    if (method === 'initialize') {
      count += 1;
      const made = `session-${count}`;
      self.sessions.set(made, authorization);
      self.open.add(made);
      most = Math.max(most, self.open.size);
      const result = greeting(name, self.offersFor?.(authorization));
      reply(response.setHeader('mcp-session-id', made), { id, result });
      return;
    }
    await answerIn(self, request, response, { id, method, params, authorization, session });
  };
  return self;
}

/** The stream for messages that no request waits for; a server that offers nothing has none to send. */
function openStream(
  { offersFor, open }: EchoingServer,
  streams: Map<string, ServerResponse>,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const session = String(headers['mcp-session-id']);
  if (offersFor === undefined || !open.has(session)) return void response.writeHead(405).end();
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  streams.set(session, response);
}

interface AskedInSession {
  readonly id: unknown;
  readonly method: unknown;
  readonly params: unknown;
  readonly authorization: string;
  readonly session: string;
}

/** Answers a request within a session. */
async function answerIn(
  self: EchoingServer,
  request: IncomingMessage,
  response: ServerResponse,
  { id, method, params, authorization, session }: AskedInSession,
): Promise<void> {
  self.asked.push({ method: String(method), authorization });
  const offers = self.offersFor?.(authorization) ?? {};
  if (self.sessions.get(session) !== authorization) self.mixed.push(`${session}: ${authorization}`);
  if (!self.open.has(session)) response.writeHead(404).end('no such session');
  else if (request.method === 'DELETE') {
    self.subscribed.delete(session);
    response.writeHead(self.open.delete(session) ? 200 : 404).end();
  } else if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
    const { uri } = params as { uri: string };
    if (method === 'resources/unsubscribe') await self.holdEnds;
    const uris = self.subscribed.get(session) ?? new Set();
    if (method === 'resources/subscribe') self.subscribed.set(session, uris.add(uri));
    else uris.delete(uri);
    reply(response, { id, result: {} });
  } else if (method === 'tools/list') reply(response, { id, result: { tools: self.toolsFor(authorization) } });
  else if (method === 'tools/call') {
    const { arguments: args } = params as { arguments: Record<string, unknown> };
    self.calls.push({ session, authorization, args });
    await self.hold;
    answerCall(response, id, authorization, args);
  } else if (method === 'prompts/list') {
    await self.hold;
    reply(response, { id, result: { prompts: offers.prompts ?? [] } });
  } else {
    const result = offerResult(method, offers, authorization);
    if (result === undefined) response.writeHead(202).end();
    else reply(response, { id, result });
  }
}

/** The result of `initialize`. */
function greeting(name: string, offered: EchoedOffers | undefined): object {
  return {
    protocolVersion: '2025-11-25',
    capabilities: offered === undefined ? { tools: {} } : ALL_CAPABILITIES,
    serverInfo: { name, version: '1.0.0' },
    instructions: offered?.instructions,
  };
}

/** The result of a request about what the server offers beside tools; undefined for any other request. */
function offerResult(method: unknown, { resources = [] }: EchoedOffers, authorization: string): object | undefined {
  if (method === 'resources/list') return { resources };
  if (method === 'resources/templates/list') return { resourceTemplates: [] };
  if (method === 'completion/complete') return { completion: { values: ['one'] } };
  if (method !== 'prompts/get') return undefined;
  return { messages: [{ role: 'user', content: { type: 'text', text: authorization } }] };
}

function answerCall(response: ServerResponse, id: unknown, authorization: string, args: SeenCall['args']): void {
  if (args['change'] === true) {
    const changed = { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' };
    const result = { jsonrpc: '2.0', id, result: { content: [] } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end([changed, result].map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
  } else if (args['fail'] === true) reply(response, { id, error: { code: -32000, message: `no, ${authorization}` } });
  else reply(response, { id, result: { content: [{ type: 'text', text: authorization }] } });
}

function reply(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}
