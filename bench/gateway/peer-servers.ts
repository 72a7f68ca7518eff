import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonCaller } from '../load/callers/json-caller.ts';
import { openConnection } from '../load/http-connection.ts';
import type { Conversation, Target } from '../load/target.ts';
import { ECHO_SCRIPT } from '../peers/echo-script.ts';
import { peerProgram } from '../peers/installed.ts';
import type { Listening } from '../peers/own-server.ts';
import { freePort } from '../processes/free-port.ts';
import { type ServerProcess, startProgram } from '../processes/server-process.ts';
import { untilItWorks } from '../processes/until-it-works.ts';
import { type Contestant, ECHO_ARGUMENTS, ECHO_EXPECTED, echoCall, type RunningServer } from './subject.ts';

/** Names of the peers as the report shows them. */
export const PEER = {
  floor: 'node:http (floor)',
  sdk: 'MCP SDK server (tool in process)',
  proxy: 'mcp-proxy',
  leanProxy: 'mcp-proxy --no-eventStore',
  hub: 'mcp-hub',
  hubRest: 'mcp-hub REST',
} as const;

const PEERS_FOLDER = join(import.meta.dirname, '..', 'peers');

/** Whom the gateway is measured beside; the proxies have the same stdio upstream behind them as we do. */
export const PEER_SERVERS: readonly Contestant[] = [
  { names: [PEER.floor], start: startFloor },
  { names: [PEER.sdk], start: startSdk },
  { names: [PEER.proxy], start: (folder) => startProxy(PEER.proxy, folder) },
  { names: [PEER.leanProxy], start: (folder) => startProxy(PEER.leanProxy, folder, ['--no-eventStore']) },
  { names: [PEER.hub, PEER.hubRest], start: startHub },
];

async function startFloor(folder: string): Promise<RunningServer> {
  const { process, port } = await startOwn('bare-server.ts', folder);
  const request = JSON.stringify({ arguments: ECHO_ARGUMENTS });
  return { process, targets: { [PEER.floor]: target(port, '/', 'json', request) } };
}

async function startSdk(folder: string): Promise<RunningServer> {
  const { process, port } = await startOwn('sdk-server.ts', folder);
  return { process, targets: { [PEER.sdk]: target(port, '/mcp', 'mcp', echoCall('echo')) } };
}

async function startProxy(name: string, folder: string, options: readonly string[] = []): Promise<RunningServer> {
  const port = await freePort();
  const address = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  const args = [...address, ...options, '--', process.execPath, ECHO_SCRIPT];
  const server = startProgram({ script: peerProgram('mcp-proxy'), args, folder });
  await listening(server, port);
  return { process: server, targets: { [name]: target(port, '/mcp', 'mcp', echoCall('echo')) } };
}

async function startHub(folder: string): Promise<RunningServer> {
  const port = await freePort();
  const config = join(folder, 'servers.json');
  await writeFile(
    config,
    JSON.stringify({ mcpServers: { bench: { command: process.execPath, args: [ECHO_SCRIPT] } } }),
  );
  await keepFromCatalogue(folder);
  const args = ['--port', String(port), '--config', config];
  const server = startProgram({ script: peerProgram('mcp-hub'), args, folder });
  await listening(server, port);
  const request = JSON.stringify({ server_name: 'bench', tool: 'echo', arguments: ECHO_ARGUMENTS });
  const rest = target(port, '/api/servers/tools', 'json', request);
  await answering(server, rest);
  return {
    process: server,
    targets: { [PEER.hub]: target(port, '/mcp', 'mcp-sse', echoCall('bench__echo')), [PEER.hubRest]: rest },
  };
}

/** mcp-hub fetches a catalogue from the internet when it has none of the last hour; a benchmark stays on this machine. */
async function keepFromCatalogue(home: string): Promise<void> {
  const cache = join(home, '.local', 'share', 'mcp-hub', 'cache');
  await mkdir(cache, { recursive: true });
  const registry = { version: '1', generatedAt: 0, totalServers: 1, servers: [{ id: 'none', name: 'none' }] };
  await writeFile(
    join(cache, 'registry.json'),
    JSON.stringify({ registry, lastFetchedAt: Date.now(), serverDocumentation: {} }),
  );
}

function target(port: number, path: string, conversation: Conversation, request: string): Target {
  return { port, path, conversation, headers: {}, request, expected: ECHO_EXPECTED };
}

async function startOwn(script: string, folder: string): Promise<{ process: ServerProcess; port: number }> {
  const server = startProgram({ script: join(PEERS_FOLDER, script), folder });
  const { port } = await orStop(server, server.ready as Promise<Listening>);
  return { process: server, port };
}

/** Waits until somebody listens on the port. */
function listening(server: ServerProcess, port: number): Promise<void> {
  return orStop(
    server,
    untilItWorks(server, async () => (await openConnection(port)).close()),
  );
}

/** Waits until a call is answered as it should be. */
function answering(server: ServerProcess, rest: Target): Promise<void> {
  return orStop(
    server,
    untilItWorks(server, async () => {
      const caller = await jsonCaller(rest);
      await caller.call(0).finally(caller.close);
    }),
  );
}

async function orStop<T>(server: ServerProcess, ready: Promise<T>): Promise<T> {
  try {
    return await ready;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
