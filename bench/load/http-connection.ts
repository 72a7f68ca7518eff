import { connect } from 'node:net';
import { type HttpResponse, responseReader } from './response-reader.ts';

/** A keep-alive connection with one request at a time. Written by hand: a library would cost more CPU than some servers. */
export interface HttpConnection {
  exchange(request: string): Promise<HttpResponse>;
  close(): void;
}

const ANSWER_MS_MAX = 10_000;

/** Opens a connection to a loopback port. */
export async function openConnection(port: number): Promise<HttpConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const reader = responseReader();
  let waiting: PromiseWithResolvers<HttpResponse> | undefined;
  let broken: Error | undefined;
  const fail = (error: Error) => {
    broken ??= error;
    waiting?.reject(error);
    waiting = undefined;
    socket.destroy();
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.setTimeout(ANSWER_MS_MAX, () => fail(new Error(`no answer for ${ANSWER_MS_MAX} ms`)));
  socket.on('data', (chunk) => {
    const response = reader.feed(chunk);
    if (response === undefined || waiting === undefined) return;
    const { resolve } = waiting;
    waiting = undefined;
    resolve(response);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    exchange(request) {
      if (broken !== undefined) return Promise.reject(broken);
      waiting = Promise.withResolvers();
      socket.write(request, 'latin1');
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

/** The head of requests that differ in their body only; the length of the body is to follow. */
export function postHead(path: string, port: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, 'content-type': 'application/json', ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}content-length: `;
}

/** A whole request. @param body ASCII only */
export function postRequest(head: string, body: string): string {
  return `${head}${body.length}\r\n\r\n${body}`;
}
