import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the layer asks about. */
interface Question {
  readonly type: string;
  readonly arguments: { readonly text?: string };
}

/** A server of the operator that a webhook, as Standard Webhooks describe it, calls with what goes out. */
export interface OutgoingPost extends AsyncDisposable {
  readonly url: string;
  /** The key of both ends, for the layer's secrets. */
  readonly secret: string;
  readonly asked: readonly Question[];
  /** Whether it signs what it answers. */
  signs: boolean;
}

/** Listens on a free port of this machine. Lets a text go out unless it names a customer. */
export async function startOutgoingPost(): Promise<OutgoingPost> {
  const key = randomBytes(32);
  const asked: Question[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (!isSigned(request, body, key)) return void response.writeHead(401).end();
    const question = JSON.parse(body) as Question;
    asked.push(question);
    const refused = /customer/i.test(question.arguments.text ?? '');
    const answer = JSON.stringify(
      refused ? { outcome: 'refuse', reason: 'It names a customer.' } : { outcome: 'allow' },
    );
    const headers = post.signs ? signedHeaders(header(request, 'webhook-id'), answer, key) : {};
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const post: OutgoingPost = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret: `whsec_${key.toString('base64')}`,
    asked,
    signs: true,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return post;
}

const header = (request: IncomingMessage, name: string): string => String(request.headers[name]);

function signatureOf(id: string, timestamp: string, body: string, key: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

function isSigned(request: IncomingMessage, body: string, key: Buffer): boolean {
  const expected = signatureOf(header(request, 'webhook-id'), header(request, 'webhook-timestamp'), body, key);
  const given = header(request, 'webhook-signature');
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

function signedHeaders(id: string, body: string, key: Buffer): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = signatureOf(id, timestamp, body, key);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}
