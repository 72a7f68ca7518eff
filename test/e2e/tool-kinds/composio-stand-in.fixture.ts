import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the service received. */
export interface SeenRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A stand-in for Composio's API, made from its OpenAPI document 3.0.0. */
export interface ComposioService {
  readonly port: number;
  readonly baseUrl: string;
  readonly seen: SeenRequest[];
  /** The tools that the service lists, two on a page. */
  tools: Record<string, unknown>[];
  /** Answers that are sent to the next requests in place of the usual ones, whatever the requests are. */
  readonly instead: { status: number; headers?: Record<string, string>; body: unknown }[];
  close(): Promise<void>;
}

const PAGE = 2;

/** Starts the service on a free port of this machine. */
export async function startComposioService(key: string): Promise<ComposioService> {
  const server = createServer(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://service');
    const query = Object.fromEntries(searchParams);
    const body = await bodyOf(request);
    service.seen.push({ path, query, body });
    const instead = service.instead.shift();
    if (instead !== undefined) return send(response, instead.status, instead.body, instead.headers);
    if (request.headers['x-api-key'] !== key)
      return send(response, 401, { error: { message: `Invalid API key ${key}` } });
    if (path === '/api/v3/tools') return send(response, 200, page(service.tools, query));
    return send(response, 200, executed(path, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const service: ComposioService = {
    port,
    baseUrl: `http://127.0.0.1:${port}/api/v3`,
    seen: [],
    tools: [],
    instead: [],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const part of request) text += String(part);
  return text === '' ? undefined : JSON.parse(text);
}

function page(tools: readonly Record<string, unknown>[], query: Readonly<Record<string, string>>): object {
  const asked = query['tool_slugs']?.split(',');
  const listed = tools.filter(({ slug, toolkit }) => {
    if (asked !== undefined) return asked.includes(String(slug));
    return query['toolkit_slug'] === undefined || (toolkit as { slug: string }).slug === query['toolkit_slug'];
  });
  const from = Number(query['cursor'] ?? 0);
  const rest = from + PAGE;
  return { items: listed.slice(from, rest), next_cursor: rest < listed.length ? String(rest) : null };
}

/** Each tool answers with the arguments that it received; one tool says that it failed. */
function executed(path: string, body: unknown): object {
  const { arguments: given, user_id } = body as { arguments: Record<string, unknown>; user_id?: string };
  if (path.endsWith('/MAIL_FAIL'))
    return { data: {}, error: 'The mailbox is full.', successful: false, log_id: 'log_2' };
  return { data: { id: 7, given, user: user_id ?? null }, error: null, successful: true, log_id: 'log_1' };
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
