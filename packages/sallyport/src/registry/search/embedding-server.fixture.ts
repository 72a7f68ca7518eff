import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the stand-in received. */
export interface EmbeddingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model?: string; readonly input?: readonly string[] } & Record<string, unknown>;
}

/** A stand-in for an embedding server; the test decides what it answers. */
export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: EmbeddingRequest[];
  reply: (request: EmbeddingRequest, response: ServerResponse) => void;
}

/** Starts the server on a free port of the loopback. */
export async function embeddingServer(reply: EmbeddingServer['reply']): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: url, headers, body: JSON.parse(Buffer.concat(parts).toString()) };
    requests.push(request);
    standIn.reply(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: EmbeddingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    reply,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A vector computed from the letters of a text. */
export function letterVector(text: string): number[] {
  const counts = new Array<number>(27).fill(0);
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    counts[at >= 0 && at < 26 ? at : 26] = (counts[at >= 0 && at < 26 ? at : 26] as number) + 1;
  }
  return counts;
}
