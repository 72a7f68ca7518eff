import { equal, rejects } from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import type { Dialect } from './dialect.ts';
import { type Check, type OpenedDriver, type Sandboxes, sandboxesOf } from './suite.ts';

/** Opens a driver whose layer keeps these paths private. */
export type OpenClosed = (closed: readonly string[]) => Promise<OpenedDriver>;

/** No sandbox sees the layer's own files, whatever was granted around them. */
export function closedCases(check: Check, open: OpenClosed, dialect: Dialect): void {
  check('a place of the layer is refused as a mount, and so is what lies in it', async ({ folder }) => {
    const { home, keys, alias } = planted(folder);
    await using closed = await closing(open, folder, [home]);
    for (const path of [home, keys, join(keys, 'secret'), alias]) {
      const mounts: FilesystemPermission[] = [{ path, mode: 'ro' }];
      await rejects(closed.start(dialect.nothing, { mounts }), { code: 'E3105' }, path);
    }
  });

  check.with(
    dialect.sh,
    'a mount above a place of the layer shows it empty, and it stays where it is',
    async ({ folder }, sh) => {
      const { work, home, keys, policy } = planted(folder);
      await using closed = await closing(open, folder, [home, policy]);
      const script = `cat ${keys}/secret ${policy}; for f in ${home}/* ${home}/.[a-z]*; do test -e "$f" && echo "$f"; done; echo planted >${policy}; echo planted >${home}/planted;
      rm -rf ${home} ${policy}; mv ${work}/deep ${work}/away; cat ${work}/*/home/keys/secret; cat ${work}/open`;
      for (const mode of ['ro', 'rw'] as const) {
        const mounts: FilesystemPermission[] = [{ path: work, mode }];
        const { stdout } = await closed.run(sh(script), { mounts });
        equal(stdout, 'open');
      }
      equal(readFileSync(join(keys, 'secret'), 'utf8'), 'SECRET');
      equal(readFileSync(policy, 'utf8'), 'POLICY');
      equal(existsSync(join(home, 'planted')), false);
    },
  );

  check('a tool may not make a file that the layer reads', async ({ folder }) => {
    const { work } = planted(folder);
    await using closed = await closing(open, folder, [join(work, 'hooks.toml')]);
    const start = (mode: 'ro' | 'rw') => closed.start(dialect.nothing, { mounts: [{ path: work, mode }] });
    await rejects(start('rw'), { code: 'E3105' });
    await using running = await start('ro');
    await running.exited;
  });

  check.with(
    dialect.sh,
    'what the layer itself shows of its own is seen, and nothing beside it',
    async ({ folder }, sh) => {
      const { work, home, keys } = planted(folder);
      const skill = join(home, 'skills', 'one');
      mkdirSync(skill, { recursive: true });
      writeFileSync(join(skill, 'run'), 'SKILL');
      await using closed = await closing(open, folder, [home]);
      const script = `cat ${skill}/run ${keys}/secret; true >${skill}/planted; cd ${home} && echo *`;
      for (const mounts of [[], [{ path: work, mode: 'rw' }]] as const) {
        const { stdout } = await closed.run(sh(script), { mounts: [...mounts], own: [skill] });
        equal(stdout, 'SKILLskills\n');
      }
      equal(existsSync(join(skill, 'planted')), false);
    },
  );
}

interface Planted {
  readonly work: string;
  /** In two folders of `work`, so that one between them could be renamed. */
  readonly home: string;
  readonly keys: string;
  readonly policy: string;
  /** A link beside, to `home`. */
  readonly alias: string;
}

function planted(folder: string): Planted {
  const work = join(folder, 'work');
  const home = join(work, 'deep', 'home');
  const [keys, policy, alias] = [join(home, 'keys'), join(work, 'deep', 'policy.toml'), join(folder, 'alias')];
  mkdirSync(keys, { recursive: true });
  writeFileSync(join(keys, 'secret'), 'SECRET');
  writeFileSync(policy, 'POLICY');
  writeFileSync(join(work, 'open'), 'open');
  symlinkSync(home, alias);
  return { work, home, keys, policy, alias };
}

async function closing(
  open: OpenClosed,
  folder: string,
  closed: readonly string[],
): Promise<Sandboxes & AsyncDisposable> {
  const opened = await open(closed);
  return { ...sandboxesOf(opened, folder), [Symbol.asyncDispose]: () => opened.close() };
}
