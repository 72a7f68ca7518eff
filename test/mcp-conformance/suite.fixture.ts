import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as requestTo } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const SUITE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** One check of a scenario that did not succeed. */
export interface FailedCheck {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** The suite sends no credential: a proxy on the loopback adds it. */
export async function openTokenProxy(target: string, token: string): Promise<AsyncDisposable & { readonly url: string }> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = requestTo({
      ...{ hostname, port, method, path },
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      // A stream's head says that it is open; nothing may wait for its first event.
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs one scenario of the public suite against a server. @returns the checks that failed */
export async function runScenario(url: string, scenario: string, version: string): Promise<readonly FailedCheck[]> {
  const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', version, '--verbose'];
  const suite = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said] = await Promise.all([text(suite.stdout), text(suite.stderr), once(suite, 'close')]);
  const checks = checksIn(said);
  if (checks === undefined) throw new Error(`The suite gave no checks of ${scenario}: ${said.slice(0, 2_000)}`);
  return checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
}

/** The checks as JSON in what the suite prints. */
function checksIn(said: string): readonly FailedCheck[] | undefined {
  const list = /^\[\n[\s\S]*?^\]$/m.exec(said)?.[0];
  return list === undefined ? undefined : (JSON.parse(list) as readonly FailedCheck[]);
}
