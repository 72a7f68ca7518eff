import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { linkLibraries, locateBinaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { claimFolder } from './holder.ts';
import { hasEnded, isAlive, isServerOf, startOf } from './processes.ts';
import type { ServerProcess } from './server-process.ts';
import { serverArguments } from './server-settings.ts';
import { openSocketFolder, socketFolderOf } from './socket-folder.ts';
import { folderError, startError } from './start-problem.ts';
import { supervise } from './supervisor.ts';

const isLinux = process.platform === 'linux';

let folder: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-parts-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await rm(folder, { recursive: true });
});

/** A process that does nothing, in the folder; with what its script printed. */
async function idle(script = 'echo; exec sleep 600'): Promise<{ readonly pid: number; readonly said: string }> {
  const child = spawn('/bin/sh', ['-c', script], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid ?? 0, said: String(said).trim() };
}
/** An id that no process has: ids end at 2^22. */
const NOBODY = 2 ** 22 + 1;

/** The E3812 of a start, by its problem, with what it says. */
const problem = (name: string, ...words: string[]) => ({
  code: 'E3812',
  message: expect.stringMatching(words.join('.*')),
  failure: { details: expect.objectContaining({ problem: name }) },
});

describe('why a start failed', () => {
  test.each([
    ['EACCES', 'folder-unusable', 'not writable; make it writable'],
    ['EPERM', 'folder-unusable', 'not writable; make it writable'],
    ['EROFS', 'folder-unusable', 'read-only file system'],
    ['ENOENT', 'folder-unusable', 'cannot be made there'],
    ['ENOTDIR', 'folder-unusable', 'is a file, not a folder'],
    ['EEXIST', 'folder-unusable', 'a file of this name'],
    ['ENOSPC', 'disk-full', 'the disk is full'],
    ['EDQUOT', 'disk-full', 'disk quota is used up'],
    ['EIO', 'folder-unusable', 'cannot be used \\(EIO\\)'],
    ['', 'folder-unusable', 'unknown reason'],
  ])('%s of a data folder', (code, name, words) => {
    const cause = Object.assign(new Error('no'), { code });
    const error = folderError('/data', cause);
    expect(error).toMatchObject({ ...problem(name, '/data', words), cause });
    expect(error.failure.details).toEqual({ problem: name, folder: '/data' });
  });

  test('an error without a cause has none, and its places are details', () => {
    const error = startError('folder-in-use', 'words', { folder: '/data', pid: 7 });
    expect(error.failure.details).toEqual({ problem: 'folder-in-use', folder: '/data', pid: 7 });
    expect('cause' in error).toBe(false);
  });
});

describe('the command line of the server', () => {
  test('AUD-02.1 what is committed synchronously is on the disk, and nothing listens on an address', () => {
    const [flag, cluster, ...settings] = serverArguments('/data/postgres', '/a "b", c');
    expect([flag, cluster]).toEqual(['-D', '/data/postgres']);
    expect(settings.filter((_, at) => at % 2 === 0).every((name) => name === '-c')).toBe(true);
    expect(settings).toEqual(
      expect.arrayContaining([
        ...['fsync=on', 'full_page_writes=on', 'synchronous_commit=on', 'listen_addresses='],
        ...['unix_socket_permissions=0700', 'log_min_error_statement=panic'],
        'unix_socket_directories="/a ""b"", c"',
      ]),
    );
  });
});

describe('processes', () => {
  test('one that runs is alive, one that never was or has ended is not', async () => {
    const { pid } = await idle();
    expect([await isAlive(process.pid), await isAlive(pid), await isAlive(NOBODY)]).toEqual([true, true, false]);
    expect(await hasEnded(pid, 0)).toBe(false);
    const ending = hasEnded(pid, 60_000);
    await sleep(20);
    process.kill(pid, 'SIGKILL');
    expect(await ending).toBe(true);
    expect([await startOf(NOBODY), await isServerOf(NOBODY, folder)]).toEqual([undefined, false]);
  });

  test.runIf(isLinux)('one that has ended and was not waited for is not alive', async () => {
    const { said } = await idle('sleep 0.05 & echo $!; exec sleep 600');
    await expect.poll(() => isAlive(Number(said))).toBe(false);
    expect(process.kill(Number(said), 0)).toBe(true);
  });

  test.runIf(isLinux)('two are distinguished by when they began, and a server by its folder', async () => {
    const { pid } = await idle();
    const { said } = await idle('cut -d" " -f22 /proc/$$/stat; exec sleep 600');
    expect(await startOf(children.at(-1)?.pid ?? 0)).toBe(said);
    expect(await startOf(pid)).toMatch(/^\d+$/);
    expect([await isServerOf(pid, folder), await isServerOf(pid, `${folder}/other`)]).toEqual([true, false]);
  });
});

describe('the claim of a data folder', () => {
  const file = () => join(folder, 'postgres.lock');
  const claimOf = async () => JSON.parse(await readFile(file(), 'utf8')) as Record<string, unknown>;

  test('one process at a time has it, and others learn which; it ends with its release', async () => {
    const claims = await Promise.allSettled(Array.from({ length: 8 }, () => claimFolder(folder)));
    const releases = claims.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(releases).toHaveLength(1);
    const details = { problem: 'folder-in-use', folder, pid: process.pid };
    const words = expect.stringContaining(`in use by process ${process.pid}`);
    await expect(claimFolder(folder)).rejects.toMatchObject({ code: 'E3812', message: words, failure: { details } });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    await releases[0]?.();
    expect(await readdir(folder)).toEqual([]);
    await (await claimFolder(folder))();
  });

  test('a claim is left to a process that lives, and taken from one that does not', async () => {
    await (await claimFolder(folder))();
    const release = await claimFolder(folder);
    const { machine, ...own } = await claimOf();
    await release();
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    expect(machine).toBe(`${hostname()} ${boot}`.trim());
    expect(own).toEqual({ pid: process.pid, start: await startOf(process.pid) });
    const { pid } = await idle();
    const start = await startOf(pid);
    for (const held of [
      { pid, start, machine },
      { pid, machine },
      { ...own, machine },
    ]) {
      await writeFile(file(), JSON.stringify(held));
      await expect(claimFolder(folder)).rejects.toMatchObject({ failure: { details: { pid: held.pid } } });
      expect(await claimOf()).toEqual(JSON.parse(JSON.stringify(held)));
    }
    for (const gone of [
      { pid: NOBODY, machine },
      { pid, start: '7', machine },
      { pid, start, machine: 'other' },
      {},
      7,
    ]) {
      await writeFile(file(), JSON.stringify(gone));
      await (await claimFolder(folder))();
    }
    await writeFile(file(), 'rubbish');
    const late = await claimFolder(folder);
    // Another process has it by now.
    await writeFile(file(), 'of another');
    await late();
    expect(await readFile(file(), 'utf8')).toBe('of another');
  });

  test('a folder that cannot hold a claim says what to change', async () => {
    await expect(claimFolder(join(folder, 'absent'))).rejects.toMatchObject(problem('folder-unusable', 'absent'));
    // A claim that cannot be taken away: its holder cannot be read either.
    await mkdir(join(file(), 'inside'), { recursive: true });
    await expect(claimFolder(folder)).rejects.toMatchObject(problem('folder-in-use', 'perhaps in another container'));
  });
});

describe('the cluster', () => {
  const cluster = () => join(folder, 'postgres');

  /** Makes the cluster with a program in place of initdb. */
  async function make(initdb: string, onWaiting: () => void = () => undefined): Promise<void> {
    const program = join(folder, 'initdb');
    await writeFile(program, `#!/bin/sh\n${initdb}\n`);
    await chmod(program, 0o755);
    const binaries = { initdb: program, postgres: '/nowhere', majorVersion: '18' };
    await ensureCluster(cluster(), binaries, { prefix: [] }, onWaiting);
  }

  test('it appears when it is whole, and only once', async () => {
    await mkdir(join(folder, 'postgres.new', 'rest'), { recursive: true });
    const waiting = vi.fn();
    await make('[ "$1" = -D ] && [ "$TZ$LC_ALL" = UTCC ] && [ ! -e "$2/rest" ] && echo 18 > "$2/PG_VERSION"', waiting);
    expect((await readdir(folder)).toSorted()).toEqual(['initdb', 'postgres']);
    expect((await stat(cluster())).mode & 0o777).toBe(0o700);
    expect(waiting).toHaveBeenCalledOnce();
    await make('exit 1');
  });

  test.each([
    [
      'echo "initdb: error: it broke" >&2; echo "removing data" >&2; exit 1',
      'server-failed',
      'initdb: error: it broke$',
    ],
    ['printf "first\\nlast\\n\\n" >&2; exit 1', 'server-failed', 'last$'],
    ['echo "write: No space left on device" >&2; exit 1', 'disk-full', 'the disk is full'],
    ['echo "Disk quota exceeded" >&2; exit 1', 'disk-full', 'the disk is full'],
    ['exit 1', 'folder-unusable', 'cannot be used'],
  ])('one that cannot be made leaves nothing: %s', async (initdb, name, words) => {
    const failing = make(`mkdir "$2/rest"; ${initdb}`);
    await expect(failing).rejects.toMatchObject({ ...problem(name, words), cause: expect.anything() });
    await expect(failing).rejects.toMatchObject({ failure: { details: { folder: cluster() } } });
    expect(await readdir(folder)).toEqual(['initdb']);
  });

  test('one that another process made meanwhile stays, and the start is refused', async () => {
    const other = 'made=$(dirname "$2")/postgres; mkdir "$made" && echo 18 > "$made/PG_VERSION"';
    await expect(make(other)).rejects.toMatchObject(problem('folder-unusable', 'cannot be used'));
    expect((await readdir(folder)).toSorted()).toEqual(['initdb', 'postgres']);
    const binaries = { initdb: '/nowhere', postgres: '/nowhere', majorVersion: '18' };
    const nowhere = ensureCluster(join(folder, 'absent', 'postgres'), binaries, { prefix: [] }, () => undefined);
    await expect(nowhere).rejects.toMatchObject(problem('folder-unusable', 'cannot be made there'));
  });

  test('one of another version, or a folder that is none, stays as it is', async () => {
    await mkdir(cluster());
    await expect(make('exit 0')).rejects.toMatchObject(problem('folder-unusable', 'is not a PostgreSQL data folder'));
    await writeFile(join(cluster(), 'PG_VERSION'), '17\n');
    await expect(make('exit 0')).rejects.toMatchObject(
      problem('other-major-version', 'PostgreSQL 17', 'PostgreSQL 18'),
    );
    await rm(cluster(), { recursive: true });
    await writeFile(cluster(), 'a file');
    await expect(make('exit 0')).rejects.toMatchObject(problem('folder-unusable', 'a file, not a folder'));
    expect(await readFile(cluster(), 'utf8')).toBe('a file');
  });
});

describe('what is found on the machine', () => {
  test('the binaries, with links that are made where they are missing', async () => {
    const platform = `${process.platform}-${process.arch}`;
    const { initdb, postgres, majorVersion } = await locateBinaries(platform);
    expect([(await stat(initdb)).isFile(), (await stat(postgres)).isFile()]).toEqual([true, true]);
    expect(majorVersion).toMatch(/^\d\d$/);
    await expect(locateBinaries('plan9-x64')).rejects.toMatchObject(problem('platform-unsupported', 'for plan9-x64'));
  });

  test('links of libraries that npm dropped are made, once, also by several starts at the same time', async () => {
    await mkdir(join(folder, 'native', 'lib'), { recursive: true });
    const list = (target: string) =>
      writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify([{ source: 'native/lib/a.so.1', target }]));
    await list('native/lib/a.so');
    await Promise.all([1, 2, 3].map(() => linkLibraries(folder)));
    await linkLibraries(folder);
    expect(await readlink(join(folder, 'native/lib/a.so'))).toBe('a.so.1');
    await list('native/absent/a.so');
    const missing = problem('platform-unsupported', 'native/absent/a.so', 'npm rebuild');
    await expect(linkLibraries(folder)).rejects.toMatchObject({ ...missing, cause: { code: 'ENOENT' } });
  });

  test('a folder for the socket that others made is refused', async () => {
    const socket = await openSocketFolder(folder, undefined);
    expect(socket.path).toBe(socketFolderOf(folder));
    await socket.remove();
    expect(await readdir(folder)).toEqual([]);
    await mkdir(socket.path, { mode: 0o755 });
    await expect(openSocketFolder(folder, undefined)).rejects.toMatchObject(problem('folder-unusable', 'not private'));
    await rm(socket.path, { recursive: true });
    await expect(openSocketFolder(join(folder, 'absent'), undefined)).rejects.toMatchObject(
      problem('folder-unusable', 'cannot be made'),
    );
  });
});

describe('a server that ends by itself', () => {
  /** A server for the supervisor, which the test ends. */
  function server(pid: number) {
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const stop = vi.fn(async () => end('stopped'));
    return { pid, ended, end, stop } satisfies ServerProcess & { end: unknown };
  }
  function lines() {
    const logged: unknown[] = [];
    return {
      logged,
      log: { ...silentLog, error: (name: string, fields?: object) => void logged.push([name, fields]) },
    };
  }

  test('ORC-06 it is started again, also when that fails at first, and no more once it is stopped', async () => {
    const [first, second, third] = [server(1), server(2), server(3)];
    const pids: unknown[] = [];
    const starts = [() => Promise.resolve(second), () => Promise.reject(new Error('no')), () => Promise.resolve(third)];
    const { logged, log } = lines();
    const start = () => {
      pids.push(supervised.pid());
      return (starts.shift() ?? expect.unreachable)();
    };
    const supervised = supervise(first, start, log, [0, 1]);
    expect(supervised.pid()).toBe(1);
    first.end('signal SIGKILL');
    await expect.poll(supervised.pid).toBe(2);
    second.end('exit code 1');
    await expect.poll(supervised.pid).toBe(3);
    await Promise.all([supervised.stop(), supervised.stop()]);
    expect(third.stop).toHaveBeenCalled();
    expect(supervised.pid()).toBeUndefined();
    expect(pids).toEqual([undefined, undefined, undefined]);
    for (const { stop } of [first, second]) expect(stop).not.toHaveBeenCalled();
    expect(logged).toEqual([
      ['postgres-ended', { how: 'signal SIGKILL', failures: 0 }],
      ['postgres-ended', { how: 'exit code 1', failures: 1 }],
      ['postgres-restart-failed', { error: 'Error: no' }],
      ['postgres-ended', { how: 'exit code 1', failures: 2 }],
    ]);
  });

  test('ORC-06 it is stopped when it has ended and its watcher has, and a restart that waits is given up', async () => {
    const first = server(1);
    const { promise: watcher, resolve: watcherEnds } = Promise.withResolvers<void>();
    const supervised = supervise({ ...first, stop: () => watcher }, expect.unreachable, silentLog);
    let isStopped = false;
    const stopping = supervised.stop().then(() => {
      isStopped = true;
    });
    for (const ends of [() => first.end('exit code 0'), watcherEnds]) {
      await sleep(5);
      expect(isStopped).toBe(false);
      ends();
    }
    await stopping;
    const early = server(2);
    const earlier = supervise({ ...early, stop: async () => undefined }, expect.unreachable, silentLog);
    const stopped = vi.fn();
    const stoppingEarlier = earlier.stop().then(stopped);
    await sleep(5);
    expect(stopped).not.toHaveBeenCalled();
    early.end('exit code 0');
    await stoppingEarlier;

    const { logged, log } = lines();
    const third = server(3);
    const waiting = supervise(third, expect.unreachable, log, [3_600_000]);
    third.end('exit code 1');
    await expect.poll(() => logged).toHaveLength(1);
    await waiting.stop();
    expect(logged).toEqual([['postgres-ended', { how: 'exit code 1', failures: 0 }]]);
  });

  test('ORC-06 one that comes up while it is stopped is stopped too', async () => {
    const [first, late] = [server(1), server(2)];
    const { promise: starting, resolve: started } = Promise.withResolvers<ServerProcess>();
    const asked = vi.fn(() => starting);
    const { logged, log } = lines();
    const supervised = supervise(first, asked, log);
    first.end('signal SIGKILL');
    await expect.poll(() => asked.mock.calls).toHaveLength(1);
    const stopping = supervised.stop();
    await setImmediate();
    let isStopped = false;
    const stop = async () => {
      late.end('stopped');
      await sleep(5);
      isStopped = true;
    };
    started({ ...late, stop });
    await stopping;
    expect(isStopped).toBe(true);
    expect(logged).toHaveLength(1);
  });
});
