import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PolicyQuestion } from '../policy-engine.port.ts';

/** A question about a call of a tool of `files`; `over` replaces members of the question. */
export const policyQuestion = (over: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  principal: { tenantId: 'acme', agentDid: 'did:a', roles: ['agent'], trust: 'trusted' },
  toolId: 'files__read',
  toolVersion: '1.0.0',
  contentHash: 'h',
  source: 'files',
  executor: 'mcp',
  category: 'file_system',
  tags: ['disk'],
  sideEffect: 'pure',
  argumentFindings: [],
  trust: 'trusted',
  grant: {
    filesystem: [{ path: '/work', mode: 'rw' }],
    network: [{ host: 'api.example.com', port: 443 }],
    credentials: ['key'],
    limits: { timeoutMs: 1000, cpuMillicores: 500, memoryMb: 64, outputBytesMax: 1 },
  },
  ...over,
});

/** A stand-in for a policy server. */
export interface PolicyServer extends AsyncDisposable {
  readonly url: string;
  /** The requests that the server received, oldest first. */
  readonly requests: { readonly method: string; readonly path: string; readonly body: unknown }[];
  /** Answers the next requests; may be changed at any time. */
  reply: (response: ServerResponse, body: unknown) => void;
}

/** Starts a policy server on a free port. */
export async function policyServer(reply: PolicyServer['reply']): Promise<PolicyServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: unknown = JSON.parse((await text(request)) || 'null');
    standIn.requests.push({ method: request.method ?? '', path: request.url ?? '', body });
    standIn.reply(response, body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const standIn: PolicyServer = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    reply,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

/** Answers with JSON. */
export const sendJson = (response: ServerResponse, value: unknown): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
