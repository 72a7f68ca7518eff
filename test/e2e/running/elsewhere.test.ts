import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rememberLayer } from '../../../packages/sallyport/src/compose/running-layer/last-layer.ts';
import { DOUBLE, double, openLayer } from '../layer.fixture.ts';
import { MAIN, runSallyport } from './sallyport-program.fixture.ts';

let folder: string;
let empty: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-elsewhere-'));
  empty = await mkdtemp(join(folder, 'empty-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['tools list'],
  ['tools show add'],
  ['audit tail'],
  ['audit verify'],
  ['token inspect x'],
  ['upstreams list'],
  ['calls list'],
  ['calls show 6f9619ff-8b86-4d01-b42d-00cf4fc964ff'],
  ['approvals list'],
  ['api-keys list'],
  ['policy list'],
])('API-05 %s says that there is no layer, ends with 3 and makes nothing', async (command) => {
  const run = await runSallyport(command.split(' '), { cwd: empty });
  expect(run).toMatchObject({ code: 3, out: '', err: expect.stringContaining('No layer has used the data folder') });
  expect(run.err).toContain(join(empty, '.sallyport'));
  expect(await readdir(empty)).toEqual([]);
});

test('API-05 doctor and what judges a file leave no data folder behind', async () => {
  const doctor = await runSallyport(['doctor'], { cwd: empty });
  expect(doctor.out).toContain('which the first start makes');
  const file = join(import.meta.dirname, '../../../examples/starter/count-words.json');
  expect(await runSallyport(['tools', 'check', file], { cwd: empty })).toMatchObject({ code: 0 });
  expect(await readdir(empty)).toEqual([]);
}, 60_000);

/**
 * Starts `sallyport mcp` in a folder, as a client does. Returns the tools that the client sees and what the program
 * logs.
 */
async function desktop(
  cwd: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly tools: string[]; readonly err: string }> {
  const { PATH = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    cwd,
    env: { PATH, HOME: cwd, XDG_STATE_HOME: join(folder, 'state'), ...env },
    stderr: 'pipe',
  });
  let err = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const client = new Client({ name: 'desktop', version: '1.0.0' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return { tools: tools.map(({ name }) => name), err };
}

test('VIS-06 DOC-01.4 STA-04.3 sallyport mcp finds the layer that is named, else the one that its user started last, and says which', async () => {
  const cwd = await mkdtemp(join(folder, 'desktop-'));
  await using open = await openLayer();
  await open.layer.registerFunction(DOUBLE, double);
  const { url } = open.server;
  await rememberLayer(open.folder, { XDG_STATE_HOME: join(folder, 'state') });
  expect((await stat(join(folder, 'state', 'sallyport'))).mode & 0o777).toBe(0o700);
  const tools = ['double'];
  const said = (how: string) =>
    expect.stringContaining(`data folder ${open.folder} (${how}). The layer at ${url} serves it`);

  expect(await desktop(cwd)).toEqual({ tools, err: said('of the layer that was started last') });
  await rememberLayer(cwd, { XDG_STATE_HOME: join(folder, 'state') });
  expect(await desktop(cwd, ['--data-folder', open.folder])).toEqual({ tools, err: said('from --data-folder') });
  const named = { SALLYPORT_DATA_FOLDER: open.folder };
  expect(await desktop(cwd, [], named)).toEqual({ tools, err: said('from the settings') });
  expect(await readdir(cwd)).toEqual([]);

  // A remembered layer is not used when other users may write to the folder where it is remembered.
  await rememberLayer(open.folder, { XDG_STATE_HOME: join(folder, 'state') });
  await chmod(join(folder, 'state', 'sallyport'), 0o777);
  const alone = await desktop(cwd);
  expect(alone.err).toContain(`data folder ${join(cwd, '.sallyport')} (of the working folder). No layer had used it`);
  // Its own layer, which has nothing but the servers that ship with it.
  const servers = new Set(alone.tools.map((name) => name.split('__')[0]));
  expect([...servers].sort()).toEqual(['context', 'documents']);
}, 240_000);
