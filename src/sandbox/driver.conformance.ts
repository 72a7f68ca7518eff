import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FilesystemPermission } from '../../api/schemas/tool-manifest.ts';
import { KiB } from '../std/bytes.ts';
import { type CollectedOutput, collectOutput } from './collect-output.ts';
import type { SandboxDriver, SandboxExit, SandboxLimits, SandboxProcess, SandboxSpec } from './driver.port.ts';
import { HOSTILE_PROGRAMS } from './hostile-programs.ts';
import { runtimeMounts } from './runtime-mounts.ts';

/** A driver under test. */
export interface OpenedDriver {
  readonly driver: SandboxDriver;
  /** Mounts that every sandbox of the suite gets, for drivers that treat sandboxes with host folders differently. */
  readonly mounts?: readonly FilesystemPermission[];
  close(): Promise<void>;
}

const LIMITS: SandboxLimits = { cpuMillicores: 2000, memoryMb: 128, processesMax: 32, diskMb: 8 };

type Test = (name: string, run: () => Promise<void>) => void;
type Open = () => Promise<OpenedDriver>;

/** What no program may do in any sandbox. The host must have sh and perl in /usr. */
export function sandboxContainmentConformance(test: Test, adapter: string, open: Open): void {
  const check = checkWith(test, adapter, open);
  for (const { name, command } of HOSTILE_PROGRAMS) {
    check(`a program that ${name} is contained`, async ({ run }) => {
      const { stdout, stderr } = await run(command);
      equal(stdout, 'contained\n', stderr);
    });
  }
  networkCases(check);
}

/** What every SandboxDriver does. The host must have sh and perl in /usr. */
export function sandboxDriverConformance(test: Test, adapter: string, open: Open): void {
  const check = checkWith(test, adapter, open);
  contractCases(check);
  fileCases(check);
  limitCases(check);
  endCases(check);
}

function checkWith(test: Test, adapter: string, open: Open): Check {
  return (name, run) =>
    test(`${name} (${adapter})`, async () => {
      const opened = await open();
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-suite-')));
      try {
        await run(sandboxesOf(opened, folder));
      } finally {
        rmSync(folder, { recursive: true, force: true });
        await opened.close();
      }
    });
}

/** The sandboxes of one case. */
interface Sandboxes {
  readonly driver: SandboxDriver;
  /** A folder of the host, removed after the case. */
  readonly folder: string;
  start(command: SandboxSpec['command'], changes?: Partial<SandboxSpec>): Promise<SandboxProcess>;
  run(
    command: SandboxSpec['command'],
    changes?: Partial<SandboxSpec>,
  ): Promise<CollectedOutput & { exit: SandboxExit }>;
}

type Check = (name: string, run: (sandboxes: Sandboxes) => Promise<void>) => void;

function sandboxesOf({ driver, mounts = [] }: OpenedDriver, folder: string): Sandboxes {
  const start: Sandboxes['start'] = (command, changes = {}) =>
    driver.start({
      label: 'suite',
      environment: {},
      network: [],
      limits: LIMITS,
      ...changes,
      command,
      mounts: [...mounts, ...(changes.mounts ?? [])],
    });
  return {
    driver,
    folder,
    start,
    async run(command, changes) {
      const process = await start(command, changes);
      process.stdin.end();
      const bounds = { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB };
      const [output, exit] = await Promise.all([collectOutput(process, bounds), process.exited]);
      return { ...output, exit };
    },
  };
}

const sh = (script: string, ...args: string[]): SandboxSpec['command'] => ['/bin/sh', '-c', script, 'sh', ...args];

function contractCases(check: Check): void {
  check('the probe says that the driver works', async ({ driver }) => {
    const probe = await driver.probe();
    equal(probe.works, true, probe.problem);
  });

  check('the tool gets its arguments and its input, and its output and exit code come back', async ({ start }) => {
    const process = await start(sh('cat; echo "$1"; echo err >&2; exit 7', 'two words; $(no) "shell"'));
    process.stdin.end('input\n');
    const output = collectOutput(process, { stdoutBytesMax: 1000, stderrBytesMax: 1000 });
    equal((await process.exited).code, 7);
    deepEqual(await output, {
      stdout: 'input\ntwo words; $(no) "shell"\n',
      stderr: 'err\n',
      truncated: false,
      flooded: false,
    });
  });

  check('the environment is the one of the spec and nothing else', async ({ run }) => {
    const { stdout } = await run(['/usr/bin/env'], { environment: { SECRET: 'one\ntwo = "€"' } });
    const names = [...stdout.matchAll(/^(\w+)=/gm)].map(([, name]) => name).sort();
    deepEqual(names, ['PATH', 'PWD', 'SECRET']);
    ok(stdout.includes('SECRET=one\ntwo = "€"\n'));
  });

  check('the environment is on no command line of the host', async ({ start }) => {
    const secret = `secret-${process.pid}-${Date.now()}`;
    await using running = await start(sh('echo ready; sleep 60'), { environment: { SECRET: secret } });
    await firstOutput(running);
    deepEqual(hostProcesses(secret), []);
  });

  check('the tool starts in /tmp, or where the spec says', async ({ run, folder }) => {
    equal((await run(['/bin/pwd'])).stdout, '/tmp\n');
    const mounts: FilesystemPermission[] = [{ path: folder, mode: 'ro' }];
    equal((await run(['/bin/pwd'], { mounts, workingDirectory: folder })).stdout, `${folder}\n`);
  });

  check('a working directory that is not there is no run of the tool', async ({ run }) => {
    const { exit, stdout } = await run(sh('echo ran'), { workingDirectory: '/nowhere' });
    equal(exit.notStarted, true);
    ok(exit.code !== 0);
    equal(stdout, '');
  });

  check('a program that is not there ends with 127', async ({ run }) => {
    equal((await run(['no-such-program'])).exit.code, 127);
    equal((await run(['/usr/bin/no-such-program'])).exit.code, 127);
  });

  check('a signal that ends the tool is named', async ({ run }) => {
    const { exit } = await run(sh('kill -SEGV $$'));
    deepEqual([exit.signal, exit.code], ['SIGSEGV', undefined]);
  });

  check('what the tool used is measured', async ({ run }) => {
    const { exit } = await run(['/usr/bin/perl', '-e', 'my $m = "x" x 3e7; my $i = 0; $i++ while $i < 8e6;']);
    ok(exit.cpuMs > 50, `${exit.cpuMs} ms`);
    ok(exit.memoryPeakMb > 25 && exit.memoryPeakMb < 128, `${exit.memoryPeakMb} MB`);
    equal(exit.violation, undefined);
  });

  check('the runtime that runs us works inside', async ({ run }) => {
    const command = [process.execPath, '-p', '[6 * 7, os.userInfo().username, os.hostname()].join()'] as const;
    const { stdout, stderr } = await run([...command], {
      mounts: runtimeMounts(command),
      limits: { ...LIMITS, memoryMb: 512 },
    });
    equal(stdout, '42,sandbox,sandbox\n', stderr);
  });

  check('names and NUL characters that no environment can hold are refused', async ({ start }) => {
    for (const environment of [{ 'A=B': 'x' }, { '': 'x' }, { A: 'x\0y' }]) {
      await rejects(start(['/bin/true'], { environment }), { code: 'E3101' });
    }
    await rejects(start(sh('echo \0')), { code: 'E3101' });
  });

  check('network that the driver cannot grant is refused', async ({ driver, start }) => {
    if (driver.supports.egress) return;
    await rejects(start(['/bin/true'], { network: [{ host: 'example.org', port: 443 }] }), { code: 'E3104' });
  });
}

function fileCases(check: Check): void {
  check('a file of the host that is not mounted does not exist', async ({ run, folder }) => {
    writeFileSync(join(folder, 'secret'), 'secret');
    equal((await run(['/bin/cat', join(folder, 'secret')])).stdout, '');
  });

  check('a read-only mount can be read and not written', async ({ run, folder }) => {
    writeFileSync(join(folder, 'note'), 'text\n');
    const mounts: FilesystemPermission[] = [{ path: folder, mode: 'ro' }];
    const { stdout, exit } = await run(sh('cat note; echo x >note'), { mounts, workingDirectory: folder });
    equal(stdout, 'text\n');
    ok(exit.code !== 0);
    equal(readFileSync(join(folder, 'note'), 'utf8'), 'text\n');
  });

  check('a writable mount can be written, and its files belong to the owner of the layer', async ({ run, folder }) => {
    writeFileSync(join(folder, 'old'), 'old', { mode: 0o600 });
    chmodSync(folder, 0o700);
    const mounts: FilesystemPermission[] = [{ path: folder, mode: 'rw' }];
    const { exit, stderr } = await run(sh('echo new >new && echo more >>old && rm old'), {
      mounts,
      workingDirectory: folder,
    });
    equal(exit.code, 0, stderr);
    equal(readFileSync(join(folder, 'new'), 'utf8'), 'new\n');
    equal(statSync(join(folder, 'new')).uid, process.getuid?.());
    deepEqual(readdirSync(folder), ['new']);
  });

  check('a mount inside another keeps its own mode', async ({ run, folder }) => {
    mkdirSync(join(folder, 'in'));
    const mounts: FilesystemPermission[] = [
      { path: join(folder, 'in'), mode: 'rw' },
      { path: folder, mode: 'ro' },
    ];
    const { exit } = await run(sh('echo x >in/file && ! echo x >file'), { mounts, workingDirectory: folder });
    equal(exit.code, 0);
  });

  check('links and dots lead nowhere outside a mount', async ({ run, folder }) => {
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'secret'), 'secret');
    symlinkSync(join(folder, 'secret'), join(folder, 'in', 'link'));
    symlinkSync('../secret', join(folder, 'in', 'dots'));
    const mounts: FilesystemPermission[] = [{ path: join(folder, 'in'), mode: 'rw' }];
    const script = 'cat link; cat dots; cat ../secret; cat /proc/self/cwd/../secret; ln /proc/1/root/etc/shadow hard';
    equal((await run(sh(script), { mounts, workingDirectory: join(folder, 'in') })).stdout, '');
  });

  check(
    'mounts that do not exist, or that would show the kernel or everything, are refused',
    async ({ start, folder }) => {
      symlinkSync('/proc', join(folder, 'link'));
      for (const path of [
        join(folder, 'missing'),
        '/',
        '/proc',
        '/sys',
        '/dev/shm',
        '/usr/../etc',
        'relative',
        join(folder, 'link'),
      ]) {
        await rejects(start(['/bin/true'], { mounts: [{ path, mode: 'ro' }] }), { code: 'E3105' }, path);
      }
    },
  );
}

function networkCases(check: Check): void {
  check('a server on the loopback of the host is not reached', async ({ run }) => {
    for (const host of ['127.0.0.1', '::1']) {
      const server = await listen(
        createServer((socket) => socket.end('ESCAPED')),
        { host, port: 0 },
      );
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const [family, pack] = host === '::1' ? ['AF_INET6', 'pack_sockaddr_in6'] : ['AF_INET', 'pack_sockaddr_in'];
      const code = `use Socket qw(:all); socket(my $s, ${family}, SOCK_STREAM, 0) or die; connect($s, ${pack}(${port}, inet_pton(${family}, "${host}"))) and print "ESCAPED"`;
      equal((await run(['/usr/bin/perl', '-e', code])).stdout, '');
      await close(server);
    }
  });

  check('an abstract unix socket of the host is not reached', async ({ run }) => {
    const name = `sandbox-suite-${process.pid}`;
    const server = await listen(
      createServer((socket) => socket.end('ESCAPED')),
      { path: `\0${name}` },
    );
    const code = `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; connect($s, pack_sockaddr_un("\\0${name}")) and print "ESCAPED"`;
    equal((await run(['/usr/bin/perl', '-e', code])).stdout, '');
    await close(server);
  });

  check('names do not resolve and metadata addresses are unreachable', async ({ run }) => {
    const code = `use Socket; print "ESCAPED" if gethostbyname("example.org"); socket(my $s, AF_INET, SOCK_STREAM, 0) or die; connect($s, pack_sockaddr_in(80, inet_aton("169.254.169.254"))) and print "ESCAPED"`;
    equal((await run(['/usr/bin/perl', '-e', code])).stdout, '');
  });
}

function limitCases(check: Check): void {
  check('a memory bomb is stopped, and memory is named', async ({ run }) => {
    const { exit } = await run(['/usr/bin/perl', '-e', 'my @m; push @m, "x" x 1e6 while 1;']);
    equal(exit.violation, 'memory');
    ok(exit.code !== 0);
  });

  check('memory that many processes hold together is bounded', async ({ run }) => {
    const code = 'for (1..8) { fork and next; my $m = "x" x 4e7; sleep 1; exit } wait for 1..8; exit 1';
    equal((await run(['/usr/bin/perl', '-e', code])).exit.violation, 'memory');
  });

  check('a fork bomb is stopped, and processes are named', async ({ run }) => {
    const code =
      'my $n = 0; while (defined(my $p = fork)) { $p or do { sleep 60; exit }; last if ++$n > 500 } print $n; sleep 1; exit 1';
    const { exit, stdout } = await run(['/usr/bin/perl', '-e', code], { limits: { ...LIMITS, processesMax: 16 } });
    equal(exit.violation, 'processes');
    ok(stdout === '' || Number(stdout) < 100, stdout);
  });

  check('a full disk is an error of the tool, in /tmp and in /dev/shm', async ({ run }) => {
    for (const path of ['/tmp', '/dev/shm']) {
      const script =
        'i=0; while head -c 1000000 /dev/zero >"$1/$i"; do i=$((i+1)); test $i -gt 40 && break; done; echo $i';
      const { stdout } = await run(sh(script, path));
      ok(Number(stdout) <= 8, `${stdout} MB in ${path}`);
    }
  });

  check('a file beyond the disk limit ends the tool, in a mount of the host too', async ({ run, folder }) => {
    const mounts: FilesystemPermission[] = [{ path: folder, mode: 'rw' }];
    const { exit } = await run(['/usr/bin/head', '-c', '9000000', '/dev/zero'], {});
    equal(exit.code, 0);
    const written = await run(sh('exec head -c 9000000 /dev/zero >"$1/file"', folder), { mounts });
    equal(written.exit.violation, 'disk');
    equal(statSync(join(folder, 'file')).size, 8 * KiB * KiB);
  });

  check('a tool that spends its processor time is stopped, and the processor is named', async ({ run }) => {
    const { exit } = await run(sh('while :; do :; done'), { limits: { ...LIMITS, cpuSecondsMax: 1 } });
    equal(exit.violation, 'cpu');
  });

  check('a flood of output is cut by the collector and the tool is stopped', async ({ start }) => {
    const process = await start(['/usr/bin/yes']);
    const bounds = { stdoutBytesMax: 10, stderrBytesMax: 10, drainedBytesMax: 512 * KiB };
    const output = await collectOutput(process, bounds);
    deepEqual(output, { stdout: 'y\ny\ny\ny\ny\n', stderr: '', truncated: true, flooded: true });
    equal((await process.exited).signal, 'SIGKILL');
  });
}

function endCases(check: Check): void {
  check(
    'kill ends the whole tree, also what ignores TERM, stopped itself or made its own session',
    async ({ start }) => {
      const mark = `mark-${process.pid}-tree`;
      const script =
        'trap "" TERM HUP; for i in 1 2 3; do setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1" & done; setsid sh -c "kill -STOP \\$\\$" "$1" & echo ready; while :; do sleep 1; done';
      const running = await start(sh(script, mark));
      await firstOutput(running);
      ok(hostProcesses(mark).length >= 4);
      running.kill(50);
      const exit = await running.exited;
      deepEqual(hostProcesses(mark), []);
      equal(exit.signal, 'SIGKILL');
      running.kill();
    },
  );

  check('kill with a grace lets the tool end in order', async ({ start }) => {
    const running = await start(sh('trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done'));
    await firstOutput(running);
    const output = collectOutput(running, { stdoutBytesMax: 100, stderrBytesMax: 100 });
    running.kill(20_000);
    running.kill(20_000);
    equal((await running.exited).code, 3);
    equal((await output).stdout, 'bye\n');
  });

  check('a later kill without grace does not wait for an earlier grace', async ({ start }) => {
    const running = await start(sh('trap "" TERM; echo ready; while :; do sleep 1; done'));
    await firstOutput(running);
    running.kill(600_000);
    running.kill();
    equal((await running.exited).signal, 'SIGKILL');
  });

  check('what a tool leaves in the background ends with it and holds no pipe open', async ({ run }) => {
    const mark = `mark-${process.pid}-left`;
    const script =
      'setsid sh -c "trap \\"\\" TERM HUP; echo started; while :; do sleep 1; done" "$1" & while ! test -e /tmp/x; do echo done; : >/tmp/x; done';
    const { exit, stdout } = await run(sh(script, mark));
    equal(exit.code, 0);
    match(stdout, /done\n/);
    deepEqual(hostProcesses(mark), []);
  });

  check('kill right after the start leaves nothing', async ({ start }) => {
    const mark = `mark-${process.pid}-early`;
    const all = await Promise.all([1, 2, 3, 4].map(() => start(sh('while :; do sleep 1; done', mark))));
    for (const running of all) running.kill(10);
    for (const exit of await Promise.all(all.map(({ exited }) => exited))) ok(exit.code !== 0);
    deepEqual(hostProcesses(mark), []);
  });

  check('what a tool wrote before anybody read it is kept', async ({ start }) => {
    const running = await start(sh('echo out; echo err >&2'));
    await running.exited;
    await sleep(20);
    const { stdout, stderr } = await collectOutput(running, { stdoutBytesMax: 100, stderrBytesMax: 100 });
    deepEqual([stdout, stderr], ['out\n', 'err\n']);
  });

  check('leaving a scope ends the sandbox', async ({ start }) => {
    const mark = `mark-${process.pid}-scope`;
    {
      await using running = await start(sh('echo ready; while :; do sleep 1; done', mark));
      await firstOutput(running);
    }
    deepEqual(hostProcesses(mark), []);
  });

  check('a tool that does not read its input does no harm', async ({ start }) => {
    const running = await start(['/bin/true']);
    running.stdin.write(Buffer.alloc(1024 * KiB));
    running.stdin.end();
    running.stdout.resume();
    running.stderr.resume();
    equal((await running.exited).code, 0);
  });

  check('sandboxes side by side do not see each other', async ({ run }) => {
    const script = 'echo "$1" >/tmp/mine; sleep 0.2; cat /tmp/*; ls /proc | grep -c "^[0-9]"';
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => run(sh(script, name))));
    deepEqual(
      all.map(({ stdout }) => stdout.split('\n')[0]),
      ['a', 'b', 'c', 'd'],
    );
    for (const { stdout } of all) ok(Number(stdout.split('\n')[1]) <= 5, stdout);
  });

  check('nothing stays in /tmp for the next sandbox', async ({ run }) => {
    await run(sh('echo x >/tmp/left; echo x >/dev/shm/left'));
    equal((await run(sh('ls -A /tmp /dev/shm | grep left'))).stdout, '');
  });
}

async function firstOutput({ stdout }: SandboxProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stdout.once('data', () => resolve());
  stdout.once('close', () => reject(new Error('the sandbox ended before it wrote anything')));
  await promise;
}

/** Pids of the host whose command line holds a text. */
function hostProcesses(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

async function listen(server: Server, where: { host: string; port: number } | { path: string }): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', reject);
  server.listen(where, () => resolve(server));
  return promise;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
  await sleep(0);
}
