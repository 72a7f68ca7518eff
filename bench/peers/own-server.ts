import type { IncomingMessage, Server } from 'node:http';

/** What a server program of ours says when it listens. */
export interface Listening {
  readonly port: number;
  readonly [fact: string]: unknown;
}

/** Listens on a free loopback port, reports it to the program that started this one, and ends with it. */
export function tellPort(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') report({ port: address.port });
  });
}

/** Tells whoever started the program that it listens; from then on the program ends when its starter does. */
export function report(listening: Listening): void {
  process.send?.(listening);
  process.on('disconnect', () => process.exit());
}

/** The whole body as text. */
export function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => resolve(text));
    request.on('error', reject);
  });
}
