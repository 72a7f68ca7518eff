import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as requestTo } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The public suite's program. */
export const SUITE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** One check of a scenario that did not succeed. */
export interface FailedCheck {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** What a proxy changes beside the credential. */
export interface ProxyOptions {
  /** Added to the names of tools on their way in, and taken away on their way out. */
  readonly prefix?: string;
  /** Answers a client that asks for 2026-07-28 as an older server does. */
  readonly olderOnly?: boolean;
}

/** The suite sends no credential: a proxy on the loopback adds it. */
export async function openTokenProxy(
  target: string,
  token: string,
  { prefix = '', olderOnly = false }: ProxyOptions = {},
): Promise<AsyncDisposable & { readonly url: string }> {
  const { hostname, port } = new URL(target);
  const server = createServer(async (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const body = prefixed(await text(incoming), prefix);
    if (olderOnly && body.includes('"server/discover"')) {
      outgoing.writeHead(400, { 'content-type': 'application/json' }).end(UNKNOWN);
      return;
    }
    const { 'mcp-name': name, 'content-length': _length, ...rest } = headers;
    const named = typeof name === 'string' ? { 'mcp-name': `${prefix}${name}` } : {};
    const onward = requestTo({
      ...{ hostname, port, method, path },
      headers: {
        ...rest,
        ...named,
        ...(body === '' ? {} : { 'content-length': Buffer.byteLength(body) }),
        authorization: `Bearer ${token}`,
      },
    });
    onward.on('response', (answer) => {
      const { 'content-length': _old, ...kept } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, prefix === '' ? answer.headers : kept);
      // A stream's head says that it is open; nothing may wait for its first event.
      outgoing.flushHeaders();
      answer.setEncoding('utf8').on('data', (part: string) => outgoing.write(part.replaceAll(`"${prefix}`, '"')));
      answer.on('end', () => outgoing.end());
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(body);
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

const UNKNOWN = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: 'Send initialize first.' },
});

/** A request with the prefix before the name of the tool that it calls. */
function prefixed(body: string, prefix: string): string {
  if (prefix === '' || !body.includes('"tools/call"')) return body;
  const message = JSON.parse(body) as { params: { name: string } };
  return JSON.stringify({ ...message, params: { ...message.params, name: `${prefix}${message.params.name}` } });
}

/** Runs one scenario of the public suite against a server. @returns the checks that failed */
export async function runScenario(url: string, scenario: string, version: string): Promise<readonly FailedCheck[]> {
  const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', version, '--verbose'];
  const suite = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said] = await Promise.all([text(suite.stdout), text(suite.stderr), once(suite, 'close')]);
  return failedIn(scenario, said);
}

/** The checks that did not succeed, in what the suite prints. @throws Error when it printed no checks */
export function failedIn(scenario: string, said: string): readonly FailedCheck[] {
  const list = /^\[\n[\s\S]*?^\]$/m.exec(said)?.[0];
  if (list === undefined) throw new Error(`The suite gave no checks of ${scenario}: ${said.slice(0, 2_000)}`);
  const checks = JSON.parse(list) as readonly FailedCheck[];
  return checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
}
