import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import { collectOutput } from '../collect-output.ts';
import { runtimeMounts } from '../runtime-mounts.ts';
import type { Dialect } from './dialect.ts';
import { type Check, firstOutput, hostProcesses, LIMITS } from './suite.ts';

/** Inputs and outputs of every sandbox. */
export function contractCases(check: Check, dialect: Dialect): void {
  check('the probe says that the driver works', async ({ driver }) => {
    const probe = await driver.probe();
    equal(probe.works, true, probe.problem);
  });

  check(
    'SBX-02.1 the tool gets its arguments and its input, and its output and exit code come back',
    async ({ start }) => {
      const process = await start(dialect.echo('two words; $(no) "shell"'));
      process.stdin.end('input\n');
      const output = collectOutput(process, { stdoutBytesMax: 1000, stderrBytesMax: 1000 });
      equal((await process.exited).code, 7);
      deepEqual(await output, {
        stdout: 'input\ntwo words; $(no) "shell"\n',
        stderr: 'err\n',
        truncated: false,
        flooded: false,
      });
    },
  );

  check(
    'STA-01.5 the tool asks on stderr, waits for the answer on stdin, and ends while stdin is open',
    async ({ start }) => {
      await using process = await start(dialect.asks);
      process.stderr.once('data', () => process.stdin.write('answer\n'));
      const output = collectOutput(process, { stdoutBytesMax: 1000, stderrBytesMax: 1000 });
      equal((await process.exited).code, 0);
      const { stdout, stderr } = await output;
      deepEqual([stdout, stderr], ['answer\n', 'ask\n']);
    },
  );

  environmentCases(check, dialect);
  startCases(check, dialect);

  check.with(dialect.segfault, 'a signal that ends the tool is named', async ({ run }, segfault) => {
    const { exit } = await run(segfault);
    deepEqual([exit.signal, exit.code], ['SIGSEGV', undefined]);
  });

  check('what the tool used is measured', async ({ run }) => {
    const { exit } = await run(dialect.work);
    ok(exit.cpuMs > 50, `${exit.cpuMs} ms`);
    ok(exit.memoryPeakMb > 25 && exit.memoryPeakMb < 128, `${exit.memoryPeakMb} MB`);
    equal(exit.violation, undefined);
  });

  check.with(dialect.runtime, 'the runtime that runs us works inside', async ({ run }, command) => {
    const { stdout, stderr } = await run(command, {
      mounts: runtimeMounts(command),
      limits: { ...LIMITS, memoryMb: 512 },
    });
    equal(stdout, '42,sandbox,sandbox\n', stderr);
  });

  check('network that the driver cannot grant is refused', async ({ driver, start }) => {
    if (driver.supports.egress) return;
    await rejects(start(dialect.nothing, { network: [{ host: 'example.org', port: 443 }] }), { code: 'E3104' });
  });
}

function environmentCases(check: Check, dialect: Dialect): void {
  check('the environment is the one of the spec and nothing else', async ({ run }) => {
    const { stdout } = await run(dialect.environment, { environment: { SECRET: 'one\ntwo = "€"' } });
    const names = [...stdout.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    // Variables that every program may get: where programs are, where it is, and where it may write.
    deepEqual(
      names.filter((name = '') => !['PATH', 'PWD', 'HOME'].includes(name)),
      ['SECRET'],
    );
    ok(stdout.includes('SECRET=one\ntwo = "€"\n'));
  });

  check('the environment is on no command line of the host', async ({ start }) => {
    const secret = `secret-${process.pid}-${Date.now()}`;
    await using running = await start(dialect.hold('environment'), { environment: { SECRET: secret } });
    await firstOutput(running);
    deepEqual(hostProcesses(secret), []);
  });

  check('names and NUL characters that no environment can hold are refused', async ({ start }) => {
    for (const environment of [{ 'A=B': 'x' }, { '': 'x' }, { A: 'x\0y' }]) {
      await rejects(start(dialect.nothing, { environment }), { code: 'E3101' });
    }
    await rejects(start([...dialect.nothing, 'x\0y']), { code: 'E3101' });
  });
}

function startCases(check: Check, dialect: Dialect): void {
  check.with(
    dialect.workingDirectory,
    'the tool starts in /tmp, or where the spec says',
    async ({ driver, run, folder }, pwd) => {
      equal((await run(pwd)).stdout, '/tmp\n');
      equal((await run(pwd, { workingDirectory: '/usr' })).stdout, '/usr\n');
      if (!driver.supports.mounts) return;
      const mounts: FilesystemPermission[] = [{ path: folder, mode: 'ro' }];
      equal((await run(pwd, { mounts, workingDirectory: folder })).stdout, `${folder}\n`);
    },
  );

  check.with(
    dialect.workingDirectory,
    'a working directory that is not there is no run of the tool',
    async ({ run }, pwd) => {
      const { exit, stdout } = await run(pwd, { workingDirectory: '/nowhere' });
      equal(exit.notStarted, true);
      ok(exit.code !== 0);
      equal(stdout, '');
    },
  );

  check('a program that is not there ends with 127', async ({ run }) => {
    for (const command of dialect.missing) equal((await run(command)).exit.code, 127, command[0]);
  });
}
