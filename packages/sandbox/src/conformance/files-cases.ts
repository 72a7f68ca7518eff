import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import type { Dialect } from './dialect.ts';
import type { Check, Sandboxes } from './suite.ts';

type Shell = NonNullable<Dialect['sh']>;

/** Which files of the host a sandbox sees: the granted ones, in the granted mode. */
export function filesCases(check: Check, dialect: Dialect): void {
  check.with(dialect.sh, 'a file of the host that is not mounted does not exist', async ({ run, folder }, sh) => {
    writeFileSync(join(folder, 'secret'), 'secret');
    equal((await run(sh('cat "$1"', join(folder, 'secret')))).stdout, '');
  });

  check('mounts are refused by a driver that shows no folders of the host', async ({ driver, start, folder }) => {
    if (driver.supports.mounts) return;
    await rejects(start(dialect.nothing, { mounts: [{ path: folder, mode: 'ro' }] }), { code: 'E3105' });
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
        await rejects(start(dialect.nothing, { mounts: [{ path, mode: 'ro' }] }), { code: 'E3105' }, path);
      }
    },
  );

  mountCases((name, run) =>
    check.with(dialect.sh, name, async (sandboxes, sh) => {
      // The refusal is a case of its own.
      if (sandboxes.driver.supports.mounts) await run(sandboxes, sh);
    }),
  );
}

function mountCases(check: (name: string, run: (sandboxes: Sandboxes, sh: Shell) => Promise<void>) => void): void {
  check('a read-only mount can be read and not written', async ({ run, folder }, sh) => {
    writeFileSync(join(folder, 'note'), 'text\n');
    const mounts: FilesystemPermission[] = [{ path: folder, mode: 'ro' }];
    const { stdout, exit } = await run(sh('cat note; echo x >note'), { mounts, workingDirectory: folder });
    equal(stdout, 'text\n');
    ok(exit.code !== 0);
    equal(readFileSync(join(folder, 'note'), 'utf8'), 'text\n');
  });

  check('a read-only mount that every user may read is seen too', async ({ run, folder }, sh) => {
    writeFileSync(join(folder, 'note'), 'text\n', { mode: 0o644 });
    chmodSync(folder, 0o755);
    const mounts: FilesystemPermission[] = [{ path: folder, mode: 'ro' }];
    const { stdout, stderr } = await run(sh('cat "$1" && ! : >"$1"', join(folder, 'note')), { mounts });
    equal(stdout, 'text\n', stderr);
  });

  check(
    'a writable mount can be written, and its files belong to the owner of the layer',
    async ({ run, folder }, sh) => {
      writeFileSync(join(folder, 'old'), 'old', { mode: 0o600 });
      chmodSync(folder, 0o700);
      const mounts: FilesystemPermission[] = [{ path: folder, mode: 'rw' }];
      const script = 'echo new >new && echo more >>old && rm old';
      const { exit, stderr } = await run(sh(script), { mounts, workingDirectory: folder });
      equal(exit.code, 0, stderr);
      equal(readFileSync(join(folder, 'new'), 'utf8'), 'new\n');
      equal(statSync(join(folder, 'new')).uid, process.getuid?.());
      deepEqual(readdirSync(folder), ['new']);
    },
  );

  check('limits that are weaker with a writable mount are named at the end', async ({ driver, run, folder }, sh) => {
    const { weakerLimits = [], weakerWithFolders = [] } = await driver.probe();
    const { exit } = await run(sh(':'), { mounts: [{ path: folder, mode: 'rw' }] });
    deepEqual(exit.weakerLimits ?? [], [...weakerLimits, ...weakerWithFolders]);
  });

  check('a mount inside another keeps its own mode', async ({ run, folder }, sh) => {
    mkdirSync(join(folder, 'in'));
    const mounts: FilesystemPermission[] = [
      { path: join(folder, 'in'), mode: 'rw' },
      { path: folder, mode: 'ro' },
    ];
    const { exit } = await run(sh('echo x >in/file && ! echo x >file'), { mounts, workingDirectory: folder });
    equal(exit.code, 0);
  });

  check('links and dots lead nowhere outside a mount', async ({ run, folder }, sh) => {
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'secret'), 'secret');
    symlinkSync(join(folder, 'secret'), join(folder, 'in', 'link'));
    symlinkSync('../secret', join(folder, 'in', 'dots'));
    const mounts: FilesystemPermission[] = [{ path: join(folder, 'in'), mode: 'rw' }];
    const firstRoot = '/proc/1/root';
    const script = `cat link; cat dots; cat ../secret; cat /proc/self/cwd/../secret; ln ${firstRoot}/etc/shadow hard`;
    equal((await run(sh(script), { mounts, workingDirectory: join(folder, 'in') })).stdout, '');
  });
}
