import { deepEqual, equal, ok } from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import { collectOutput } from '../collect-output.ts';
import type { Dialect } from './dialect.ts';
import { type Check, LIMITS } from './suite.ts';

/** What ends a tool that exceeds its limits, and how that is reported. */
export function limitsCases(check: Check, dialect: Dialect): void {
  check('a memory bomb is stopped, and memory is named', async ({ run }) => {
    const { exit } = await run(dialect.memoryBomb);
    equal(exit.violation, 'memory');
    ok(exit.code !== 0);
  });

  check.with(dialect.manyHolding, 'memory that many processes hold together is bounded', async ({ run }, command) => {
    equal((await run(command)).exit.violation, 'memory');
  });

  check.with(dialect.forkBomb, 'a fork bomb is stopped, and processes are named', async ({ run }, command) => {
    const { exit, stdout } = await run(command, { limits: { ...LIMITS, processesMax: 16 } });
    equal(exit.violation, 'processes');
    ok(stdout === '' || Number(stdout) < 100, stdout);
  });

  check('a tool that spends its processor time is stopped, and the processor is named', async ({ run }) => {
    const { exit } = await run(dialect.spin, { limits: { ...LIMITS, cpuSecondsMax: 1 } });
    equal(exit.violation, 'cpu');
  });

  check('a flood of output is cut by the collector and the tool is stopped', async ({ start }) => {
    const process = await start(dialect.flood);
    const bounds = { stdoutBytesMax: 10, stderrBytesMax: 10, drainedBytesMax: 512 * KiB };
    const output = await collectOutput(process, bounds);
    deepEqual(output, { stdout: 'y\ny\ny\ny\ny\n', stderr: '', truncated: true, flooded: true });
    equal((await process.exited).signal, 'SIGKILL');
  });

  diskCases(check, dialect);
}

function diskCases(check: Check, dialect: Dialect): void {
  check.with(dialect.sh, 'a full disk is an error of the tool, in /tmp and in /dev/shm', async ({ run }, sh) => {
    for (const path of ['/tmp', '/dev/shm']) {
      const script =
        'i=0; while head -c 1000000 /dev/zero >"$1/$i"; do i=$((i+1)); test $i -gt 40 && break; done; echo $i';
      const { stdout } = await run(sh(script, path));
      ok(Number(stdout) <= 8, `${stdout} MB in ${path}`);
    }
  });

  check.with(
    dialect.sh,
    'a file beyond the disk limit ends the tool, in a mount of the host too',
    async ({ driver, run, folder }, sh) => {
      const { exit } = await run(sh('exec head -c 9000000 /dev/zero'));
      equal(exit.code, 0);
      if (!driver.supports.mounts) return;
      const mounts: FilesystemPermission[] = [{ path: folder, mode: 'rw' }];
      const written = await run(sh('exec head -c 9000000 /dev/zero >"$1/file"', folder), { mounts });
      equal(written.exit.violation, 'disk');
      equal(statSync(join(folder, 'file')).size, 8 * MiB);
    },
  );
}
