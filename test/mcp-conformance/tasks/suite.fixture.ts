import { spawn } from 'node:child_process';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const SUITE = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** How a scenario of the public suite ended. */
export interface Scenario {
  readonly code: number | null;
  readonly out: string;
}

/** Runs one scenario of the public suite against a server. */
export function runScenario(name: string, url: string): Promise<Scenario> {
  return new Promise((resolve, reject) => {
    const args = [SUITE, 'server', '--url', url, '--scenario', name, '--spec-version', '2026-07-28', '--force'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out }));
  });
}

/** A proxy in front of the layer that adds the token which the suite does not send. */
export interface TokenProxy extends AsyncDisposable {
  readonly url: string;
}

/** @param target address of the MCP endpoint */
export async function openTokenProxy(target: string, token: string): Promise<TokenProxy> {
  const server: Server = createServer((request, response) => {
    const { host: _host, ...headers } = request.headers;
    const passed = httpRequest(
      target,
      { method: request.method ?? 'GET', headers: { ...headers, authorization: `Bearer ${token}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
