import type { DiscoveryServer } from './discovery.fixture.ts';

/** The body of an answer. */
export type Body = { result?: Record<string, unknown>; error?: { code: number; message: string; data?: unknown } };
type Headers = Record<string, string>;

/** A session's open stream. */
export interface OpenStream {
  readonly status: number;
  /** The text received so far. */
  text(): string;
  close(): void;
}

/** Sends requests to the discovery server without a client library. */
export interface Wire {
  /** Sends a request of the 2026 era. */
  modern(method: string, params?: Record<string, unknown>, headers?: Headers): Promise<Response>;
  /** Opens a session; resolves with the headers for its requests. */
  openSession(headers?: Headers): Promise<Headers>;
  /** Sends a request in a session. */
  ask(session: Headers, method: string, params?: object): Promise<Body>;
  openStream(session: Headers): Promise<OpenStream>;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function wireTo(server: DiscoveryServer): Wire {
  return {
    modern: (method, params = {}, headers = {}) => {
      const { uri } = params;
      // Encoded in Base64, because a URI may contain characters that a header must not.
      const named = method === 'resources/read' && typeof uri === 'string' ? { 'mcp-name': base64(uri) } : {};
      const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named };
      return server.post({ id: 7, method, params: { _meta: META, ...params } }, { ...standard, ...headers });
    },
    openSession: async (headers = {}) => {
      const params = { protocolVersion: '2025-11-25' };
      const response = await server.post({ id: 1, method: 'initialize', params }, headers);
      await response.body?.cancel();
      return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', ...headers };
    },
    ask: async (session, method, params = {}) => {
      return (await server.post({ id: 2, method, params }, session)).json() as Promise<Body>;
    },
    openStream: (session) => openStream(server.url, session),
  };
}

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

async function openStream(url: string, session: Headers): Promise<OpenStream> {
  const stop = new AbortController();
  const headers = { accept: 'text/event-stream', authorization: 'Bearer agent', ...session };
  const response = await fetch(url, { headers, signal: stop.signal });
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const pump = async (): Promise<void> => {
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) return;
      text += part.value;
    }
  };
  pump().catch(() => {});
  return { status: response.status, text: () => text, close: () => stop.abort() };
}
