import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import type { ToolManifest } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import { openLayer } from '../../../packages/sallyport/src/compose/open-layer.ts';
import { readRunningLayers } from '../../../packages/sallyport/src/compose/running-layer/running-layer-file.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type Server,
  serve,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { UNASKED } from './hostile-calls.ts';

const { works } = await createBubblewrapDriver().probe();
/** Program that prints whether it could connect to a unix socket, and which files it sees in the socket's folder. */
const CONNECT = `
use IO::Socket::UNIX;
my $path = shift;
my $socket = IO::Socket::UNIX->new(Peer => $path);
print $socket ? "connected" : "failed: $!";
my ($folder) = $path =~ m{^(.*)/};
print " saw $_" for glob("$folder/*");`;

let home: string;
let layer: EmbeddedToolLayer;
let server: Server;

/**
 * Starts a layer and its server on a data folder inside a project that tools are granted. @returns the path of the
 * folder
 */
async function serveIn(name: string): Promise<string> {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'operators-socket-')));
  const data = join(home, name);
  mkdirSync(data);
  // The file of settings must exist: when the working folder of the tests is granted too, its absence would be refused.
  const file = join(home, 'settings.toml');
  writeFileSync(file, '');
  await prepareDatabase(data);
  layer = await createToolLayer({
    settings: { data_folder: data, 'agent.mounts': ['/:rw'], ...UNASKED, 'shell.allowed': ['perl'] },
    log: silentLog,
    environment: { SALLYPORT_CONFIG: file },
  });
  server = await serve(layer, { port: 0 });
  return data;
}
afterEach(async () => {
  await server.close();
  await layer.close();
  rmSync(home, { recursive: true, force: true });
});

test('PRM-10 no file of a layer that is served holds a key of its API, and the operator can ask it all the same', async () => {
  const data = await serveIn('.sallyport');
  const holders = filesBelow(data).filter((file) => /\bsp_[\w-]{43}\b/.test(readFileSync(file, 'latin1')));
  expect(holders).toEqual([]);
  expect(statSync(data).mode & 0o022).toBe(0);

  const opened = await openLayer({ dataFolder: data }, { environment: {} });
  const minted = await opened.layer.ask('tokens.mint', { roles: ['operator', 'approver', 'admin'] }, opened.caller);
  const admin = { door: 'cli', token: minted.capability_token } as const;
  expect((await opened.layer.ask('tokens.inspect', {}, admin)).roles).toEqual(['operator', 'approver', 'admin']);
  const called = await opened.layer.ask('tools.invoke', { tool_id: 'x' }, opened.caller);
  expect(called).toMatchObject({ status: 'permission_denied', error: { e_code: 'E3212' } });
  await opened.close();

  const [{ socket } = { socket: '' }] = await readRunningLayers(data);
  await server.close();
  expect(existsSync(socket)).toBe(false);
  expect(await readRunningLayers(data)).toEqual([]);
});

test.skipIf(!works).each([
  ['in its data folder', '.sallyport'],
  ['in the folder for temporary files', 'x'.repeat(100)],
])(
  "SBX-05 a tool that is granted the folders around the operator's socket %s does not reach it",
  async (_where, name) => {
    const data = await serveIn(name);
    const [{ socket } = { socket: '' }] = await readRunningLayers(data);
    expect(existsSync(socket)).toBe(true);
    const around = socket.startsWith(home) ? home : dirname(dirname(socket));
    const manifest: ToolManifest = {
      tool_id: 'connects',
      tool_name: 'Connects',
      version: '1.0.0',
      description: 'Connects to a socket.',
      side_effect_policy: 'pure',
      parameters_schema: { type: 'object' },
      permissions: { filesystem: [{ path: around, mode: 'rw' }] },
      executor: { kind: 'shell', config: { command: ['/usr/bin/perl', '-e', CONNECT, socket] } },
    };
    await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
    const { capability_token } = await layer.mintToken({ paths: [around], mode: 'rw' });
    const answer = await layer.invoke({ tool_id: 'connects', parameters: {} }, { token: capability_token });
    expect(answer).toMatchObject({ status: 'success' });
    expect(JSON.stringify(answer.result)).toMatch(/failed: /);
    expect(JSON.stringify(answer.result)).not.toContain('saw');
  },
);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
