import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isOwnersSocket, localSocketFolder, openLocalSocket } from './local-socket.ts';
import { readRunningLayers, writeRunningLayer } from './running-layer-file.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'local-socket-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

test('the socket lies in a folder of its owner alone, which goes when it is empty', async () => {
  const { path, close } = await openLocalSocket(data);
  expect(dirname(path)).toBe(join(data, 'local'));
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  await close();
  expect(existsSync(dirname(path))).toBe(false);
});

test('where a path would be too long for a socket, it lies in the folder for temporary files', async () => {
  const deep = join(data, 'x'.repeat(100));
  mkdirSync(deep);
  const { path, close } = await openLocalSocket(deep);
  expect(dirname(dirname(path))).toBe(tmpdir());
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
  expect(localSocketFolder(deep)).not.toBe(localSocketFolder(`${deep}y`));
  expect(await isOwnersSocket(deep, path)).toBe(true);
  await close();
  // What is not there belongs to nobody.
  expect([await isOwnersSocket(deep, path), await isOwnersSocket(join(deep, 'none'), path)]).toEqual([false, false]);
});

test('sockets of processes that are gone are removed; others and what is no socket stay', async () => {
  const folder = join(data, 'local');
  mkdirSync(folder, { mode: 0o700 });
  const [gone, alive, other] = [
    join(folder, '4194305-00000000.sock'),
    join(folder, `${process.pid}-00000000.sock`),
    join(folder, 'notes'),
  ];
  for (const file of [gone, alive, other]) writeFileSync(file, '');
  const { close } = await openLocalSocket(data);
  await close();
  expect([gone, alive, other].map((file) => existsSync(file))).toEqual([false, true, true]);
});

test.each([
  ['others may look into', (folder: string) => mkdirSync(folder)],
  ['is a link', (folder: string) => symlinkSync(dirname(folder), folder)],
  ['is a file', (folder: string) => writeFileSync(folder, '')],
])('a folder that %s is refused with E3900, and asked by nobody', async (_what, make) => {
  const folder = join(data, 'local');
  make(folder);
  if (statSync(folder).isDirectory()) chmodSync(folder, 0o755);
  await expect(openLocalSocket(data)).rejects.toMatchObject({
    code: 'E3900',
    message: expect.stringContaining('TMPDIR'),
  });
  expect(await isOwnersSocket(data, join(folder, 'a.sock'))).toBe(false);
});

test('PRM-10 the file of a running layer holds no credential, and what names no layer that is alive is not read', async () => {
  const running = { url: 'http://127.0.0.1:1', pid: process.pid, socket: join(data, 'a.sock') };
  await writeRunningLayer(data, running);
  expect(statSync(join(data, 'running-a.sock.json')).mode & 0o777).toBe(0o600);
  expect(await readRunningLayers(data)).toEqual([running]);
  for (const other of [
    { url: running.url, pid: process.pid, token: 'sp_key' },
    { ...running, pid: 4_194_305 },
    'x',
    null,
  ]) {
    writeFileSync(join(data, 'running-a.sock.json'), JSON.stringify(other));
    expect(await readRunningLayers(data)).toEqual([]);
  }
});
