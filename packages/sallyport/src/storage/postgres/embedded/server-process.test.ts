import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { passwordOf, restrictAccess } from './access.ts';
import { isAlive } from './processes.ts';
import { chooseUser, giveTo, identity, letThrough } from './run-as.ts';
import { runSingleUser, type ServerCommand, ServerStillEnding, startServer, stopOrphan } from './server-process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-server-'));
});
afterEach(() => rm(folder, { recursive: true }));

const pidFile = () => join(folder, 'postmaster.pid');
const logged: string[] = [];
beforeEach(() => void logged.splice(0));
const log = Object.fromEntries(
  (['debug', 'info', 'warn', 'error'] as const).map((level) => [
    level,
    (event: string, fields?: object) => void logged.push(`${level} ${event} ${JSON.stringify(fields)}`),
  ]),
) as unknown as ServerCommand['log'];

/** The command of a program in place of PostgreSQL, whose first argument is the folder. */
async function command(script: string, changes: Partial<ServerCommand> = {}): Promise<ServerCommand> {
  const postgres = join(folder, 'program');
  await writeFile(postgres, `#!/bin/sh\n${script}\n`);
  await chmod(postgres, 0o755);
  return {
    ...{ postgres, args: [folder], clusterFolder: folder, runAs: { prefix: [] }, log },
    ...{ pidFileIsVoid: false, startTimeoutMs: 20_000, onWaiting: () => undefined },
    ...changes,
  };
}
/** Says in its file how far it is, and runs until it is stopped. */
const serve = (status: string, pid = '$$') =>
  `printf '%s\\n1\\n2\\n3\\n4\\n5\\n6\\n%s\\n' ${pid} '${status}' > "$1/postmaster.pid"; trap 'exit 0' INT; while :; do sleep 0.01; done`;
const failed = (...words: string[]) => ({
  code: 'E3812',
  message: expect.stringMatching(words.join('.*')),
  failure: { details: { problem: 'server-failed', folder } },
});

test('a server is ready when its own file says so, and stops when it is asked to', async () => {
  const onWaiting = vi.fn();
  const environment = `[ "$TZ$LC_ALL" = UTCC ] && [ -z "$HOME" ] || exit 1`;
  const server = await startServer(await command(`${environment}; ${serve('ready  ')}`, { onWaiting }));
  expect(onWaiting).toHaveBeenCalledOnce();
  expect(Number.parseInt(await readFile(pidFile(), 'utf8'), 10)).toBe(server.pid);
  await Promise.all([server.stop(), server.stop()]);
  expect(await server.ended).toBe('exit code 0');
  // Its watcher, too.
  expect(await processesNaming(folder)).toEqual([]);
  await server.stop();
});

/** Other processes with the text in their arguments. */
async function processesNaming(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    if ((await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).includes(text)) found.push(name);
  }
  return found;
}

test('how it ended is known, and what it said is logged by its weight', async () => {
  const lines = ['FATAL:  one', 'WARNING:  two', 'LOG:  three', 'FATAL:  due to administrator command', 'PANIC:  four'];
  const said = lines.map((line) => `echo '${line}' >&2`).join('; ');
  const server = await startServer(await command(`${said}; ${serve('ready')}`));
  await expect.poll(() => logged).toHaveLength(5);
  expect(logged).toEqual(
    ['warn', 'warn', 'debug', 'debug', 'warn'].map((level, at) => `${level} postgres-said {"line":"${lines[at]}"}`),
  );
  process.kill(server.pid, 'SIGKILL');
  expect(await server.ended).toBe('signal SIGKILL');
  await server.stop();
});

test.each([
  ['that is starting', serve('starting')],
  ['whose file is of another', serve('ready', '1')],
])('a server %s is not ready, and is ended in the end', async (_which, script) => {
  const starting = startServer(await command(script, { startTimeoutMs: 300 }));
  await expect(starting).rejects.toMatchObject(
    failed(folder, 'It was not ready after 300 ms', 'SALLYPORT_DATABASE_URL'),
  );
  await expect.poll(() => processesNaming(folder)).toEqual([]);
});

test.each([
  ['echo "FATAL:  first" >&2; echo "LOG:  stopped" >&2; exit 1', 'did not start: FATAL:  first\\.'],
  ['echo one >&2; echo two >&2; exit 1', 'did not start: two\\.'],
  ['exit 1', 'did not start: It ended before it was ready\\.'],
  ['kill -9 $$', 'did not start: It ended before it was ready\\.'],
  [`echo "FATAL:  old" >&2; ${'echo x >&2; '.repeat(20)} exit 1`, 'did not start: x\\.'],
])('a server that ends at once is explained by what it said: %s', async (script, words) => {
  await expect(startServer(await command(script))).rejects.toMatchObject(failed(words));
});

test('a program that is missing is explained', async () => {
  const absent = { ...(await command('')), postgres: join(folder, 'absent') };
  await expect(startServer(absent)).rejects.toMatchObject(failed('absent', 'not found'));
});

test.each(['No space left on device', 'Disk quota exceeded'])(
  'a full disk is no fault of the server: %s',
  async (words) => {
    const starting = startServer(await command(`echo "PANIC: ${words}" >&2; exit 1`));
    await expect(starting).rejects.toMatchObject({ failure: { details: { problem: 'disk-full', folder } } });
  },
);

test.each([
  'exit 97',
  `echo 'FATAL:  lock file "postmaster.pid" already exists' >&2; exit 1`,
  `echo 'FATAL:  pre-existing shared memory block (key 1) is still in use' >&2; exit 1`,
])('an earlier server that is still ending is waited for: %s', async (script) => {
  await expect(startServer(await command(script))).rejects.toBeInstanceOf(ServerStillEnding);
  await expect(runSingleUser(await command(script), [])).rejects.toBeInstanceOf(ServerStillEnding);
});

test.runIf(process.platform === 'linux')('two servers never run on one folder', async () => {
  const first = await startServer(await command(serve('ready')));
  await expect(startServer(await command('exit 0'))).rejects.toBeInstanceOf(ServerStillEnding);
  await first.stop();
});

test('the file of a stranger is removed, and no other', async () => {
  const looks = `[ -e "$1/postmaster.pid" ] && echo "FATAL:  there" >&2; exit 1`;
  await writeFile(pidFile(), '1');
  await expect(startServer(await command(looks))).rejects.toMatchObject(failed('FATAL:  there'));
  await expect(startServer(await command(looks, { pidFileIsVoid: true }))).rejects.toMatchObject(failed('It ended'));
});

test('statements of the superuser are run one on a line, and a failure is explained', async () => {
  const onWaiting = vi.fn();
  await runSingleUser(await command(`printf '%s ' "$@" > "$2/arguments"; cat > "$2/said"`, { onWaiting }), ['a', 'b']);
  expect(await readFile(join(folder, 'said'), 'utf8')).toBe('a\nb\n');
  const settings = '-c exit_on_error=on -c scram_iterations=1';
  expect(await readFile(join(folder, 'arguments'), 'utf8')).toBe(`--single ${folder} ${settings} postgres `);
  expect(onWaiting).toHaveBeenCalledOnce();
  await expect(runSingleUser(await command('exit 3'), ['a'])).rejects.toMatchObject(failed('exit code 3'));
  const slow = await command('exec sleep 600', { startTimeoutMs: 50 });
  await expect(runSingleUser(slow, ['a'])).rejects.toMatchObject(failed('signal SIGKILL'));
});

test('a server of nobody is stopped', async () => {
  const child = spawn('/bin/sh', ['-c', `trap 'exit 0' INT; echo; while :; do sleep 0.01; done`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  expect(await stopOrphan(child.pid ?? 0)).toBe(true);
  expect(await isAlive(child.pid ?? 0)).toBe(false);
});

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
/** A program that can be run by anybody, and one that cannot be. */
const [ANY, NONE] = ['/bin/true', '/nowhere'];

test.runIf(isRoot)('root runs the server as nobody but for its files, or as the user who has them', async () => {
  const absent = join(folder, 'absent');
  const [, ...namespace] = (await chooseUser(absent, ANY)).prefix;
  expect(namespace).toEqual([
    '--user',
    expect.stringMatching(/^--map-user=\d+$/),
    expect.stringMatching(/^--map-group=\d+$/),
    '--',
  ]);
  const other = await chooseUser(absent, NONE);
  expect(other).toEqual({ prefix: [], uid: expect.any(Number), gid: expect.any(Number) });
  expect(other.uid).not.toBe(0);
  const refused = { code: 'E3812', failure: { details: { problem: 'no-unprivileged-user' } } };
  await expect(chooseUser(folder, NONE)).rejects.toMatchObject(refused);
  await chown(folder, NOBODY, NOBODY);
  const nobody = { prefix: [], uid: NOBODY, gid: NOBODY };
  expect(await chooseUser(folder, ANY)).toEqual(nobody);
  expect(identity(nobody)).toEqual({ uid: NOBODY, gid: NOBODY });
  for (const part of [{}, { uid: NOBODY }, { gid: NOBODY }]) expect(identity({ prefix: [], ...part })).toEqual({});
});

test('the user of the server gets its folder, and may pass through the one around it', async () => {
  const [uid, gid] = isRoot ? [NOBODY, NOBODY] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const user = { prefix: [], uid, gid };
  const found = async () => {
    const { mode, uid: owner, gid: group } = await stat(folder);
    return [(mode & 0o777).toString(8), owner, group];
  };
  const before = await found();
  for (const each of [giveTo, letThrough]) await each({ prefix: [] }, folder);
  expect(await found()).toEqual(before);
  await letThrough(user, folder);
  expect(await found()).toEqual(['710', before[1], gid]);
  await chmod(folder, 0o701);
  await chown(folder, -1, Number(before[2]));
  await letThrough(user, folder);
  expect(await found()).toEqual(['701', before[1], before[2]]);
  await giveTo(user, folder);
  expect(await found()).toEqual(['701', uid, gid]);
});

test('the password is made once, and again when others could have read or written it', async () => {
  const file = join(folder, 'postgres.password');
  const password = await passwordOf(folder);
  expect(password).toMatch(/^[\w-]{43}$/);
  expect([await passwordOf(folder), await readFile(file, 'utf8')]).toEqual([password, password]);
  const spoilt: (() => Promise<void>)[] = [
    () => chmod(file, 0o604),
    () => writeFile(file, `${password}'`),
    () => rm(file),
    async () => {
      await rename(file, join(folder, 'elsewhere'));
      await symlink(join(folder, 'elsewhere'), file);
    },
  ];
  for (const spoil of spoilt) {
    await spoil();
    await writeFile(`${file}.new`, 'left by a start that was cut off');
    expect(await passwordOf(folder)).not.toBe(password);
    expect(((await lstat(file)).mode & 0o777).toString(8)).toBe('600');
    await writeFile(file, password);
  }
  await rm(file);
  await mkdir(file);
  const refused = { code: 'E3812', failure: { details: { problem: 'folder-unusable', folder } } };
  await expect(passwordOf(folder)).rejects.toMatchObject(refused);
  expect(await readdir(folder)).not.toContain('postgres.password.new');
});

test('a cluster gets its rules after its role, and only when they are not as they should be', async () => {
  const rules = join(folder, 'pg_hba.conf');
  const keep = await command('cat > "$2/said"');
  await expect(restrictAccess(await command('cat > "$2/said"; exit 1'), 'secret')).rejects.toMatchObject(failed());
  expect(await readdir(folder)).not.toContain('pg_hba.conf');
  await restrictAccess(await command('cat > "$2/said"'), 'secret');
  const said = (await readFile(join(folder, 'said'), 'utf8')).trimEnd().split('\n');
  expect(said.at(-1)).toBe("alter role sallyport_layer password 'secret'");
  expect(said.join()).toContain('alter role sallyport_layer login nosuperuser');
  const written = await readFile(rules, 'utf8');
  expect(written).toMatch(/^# .*sha256 [0-9a-f]{64}\nlocal postgres sallyport_layer scram-sha-256\n$/);
  expect(written).not.toContain('secret');
  expect(((await stat(rules)).mode & 0o777).toString(8)).toBe('600');
  await rm(join(folder, 'said'));
  await restrictAccess(keep, 'secret');
  expect(await readdir(folder)).not.toContain('said');
  await restrictAccess(keep, 'another');
  expect(await readFile(rules, 'utf8')).not.toBe(written);
  await rm(rules);
  await mkdir(join(rules, 'inside'), { recursive: true });
  const refused = { code: 'E3812', failure: { details: { problem: 'folder-unusable', folder } } };
  await expect(restrictAccess(keep, 'another')).rejects.toMatchObject(refused);
});

test.runIf(isRoot)('rules belong to the user of the server', async () => {
  const runAs = { prefix: [], uid: NOBODY, gid: NOBODY };
  await chown(folder, NOBODY, NOBODY);
  await restrictAccess(await command('cat > /dev/null', { runAs }), 'secret');
  expect((await stat(join(folder, 'pg_hba.conf'))).uid).toBe(NOBODY);
});
