import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { PublishedServer } from './servers.ts';

const NODE = realpathSync(process.execPath);
const SYSTEM = ['/usr', '/bin', '/lib', '/lib64', '/sbin', '/etc/alternatives'].filter(existsSync);

/**
 * Connects the official client to a server without the layer. The server runs in a sandbox with the same view as the
 * layer's sandbox gives: the system's programs, the packages, the folder, an empty /tmp; and no network.
 */
export async function connectDirectly(server: PublishedServer, modules: string, folder: string): Promise<Client> {
  const { program, args = [], env = {} } = server;
  const shown = [...SYSTEM, dirname(dirname(NODE)), modules, folder];
  const variables = { PATH: `${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`, HOME: '/tmp', LANG: 'C.UTF-8', ...env };
  const sandbox = [
    ...['--unshare-all', '--die-with-parent', '--clearenv', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--chdir', '/tmp'],
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
    ...[NODE, join(modules, program), ...args],
  ];
  // The same capabilities as the layer declares: servers offer some tools only to clients that can ask their users.
  const capabilities = { elicitation: { form: {}, url: {} } };
  const client = new Client(
    { name: 'direct', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: 'auto' as const } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
  await client.connect(new StdioClientTransport({ command: 'bwrap', args: sandbox, stderr: 'ignore' }));
  return client;
}
