import { equal, ok, rejects } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import { isAsStrong } from '../choose-driver.ts';
import { exchangingNeighbour } from '../linux/exchanging-neighbour.ts';
import type { Dialect } from './dialect.ts';
import type { Check, Sandboxes } from './suite.ts';

type Shell = NonNullable<Dialect['sh']>;

/** Pauses of the neighbour between two exchanges, in microseconds. */
const PAUSES_US = [0, 200, 20_000];
/** Sandboxes started for each pause; fewer for a driver that starts a kernel of its own. */
const RUNS = { quick: 15, slow: 3 };
/**
 * How long they may take, in ms. Not a number of starts: a refusal takes so little that thousands fit into the moment that a busy
 * machine leaves the link in the folder's place.
 */
const RUNS_MS_MAX = 10_000;

/** A sandbox never sees more than was granted, whatever somebody does to the granted folder meanwhile. */
export function exchangeCases(check: Check, dialect: Dialect): void {
  check(
    'a granted folder that has become a link, or lies behind one, is refused',
    async ({ driver, start, folder }) => {
      if (!driver.supports.mounts) return;
      const { sub } = planted(folder);
      renameSync(sub, join(folder, 'moved'));
      symlinkSync(join(folder, 'outside'), sub);
      for (const path of [sub, join(sub, 'deep')]) {
        await rejects(start(dialect.nothing, { mounts: [{ path, mode: 'rw' }] }), { code: 'E3105' }, path);
      }
    },
  );

  for (const pause of PAUSES_US) {
    check.with(
      dialect.sh,
      `nothing outside a grant is seen while its folder and a link take turns, every ${pause} µs`,
      async (sandboxes, sh) => {
        if (!sandboxes.driver.supports.mounts) return;
        const { work, sub, link, outside } = planted(sandboxes.folder);
        {
          using _neighbour = await exchangingNeighbour(sub, link, pause);
          const wanted = isAsStrong(sandboxes.driver.isolation, 'user_kernel') ? RUNS.slow : RUNS.quick;
          for (const mounts of grantsOf(work, sub)) {
            let ran = 0;
            const endsAt = performance.now() + RUNS_MS_MAX;
            while (ran < wanted && performance.now() < endsAt) {
              if (await lookAround(sandboxes, sh, sub, mounts)) ran += 1;
            }
            equal(ran, wanted, 'too few sandboxes ran at all');
          }
        }
        equal(existsSync(join(outside, 'planted')), false, 'a file was written outside the grant');
        ok(readdirSync(outside).length === 2);
      },
    );
  }
}

/** `sub` is granted; `link` beside it leads to `outside`, which is not granted. */
function planted(folder: string): { work: string; sub: string; link: string; outside: string } {
  const [work, outside] = [join(folder, 'work'), join(folder, 'outside')];
  const [sub, link] = [join(work, 'sub'), join(work, 'link')];
  for (const made of [work, sub, join(sub, 'deep'), outside, join(outside, 'deep')]) mkdirSync(made);
  writeFileSync(join(outside, 'secret'), 'SECRET');
  symlinkSync(outside, link);
  return { work, sub, link, outside };
}

function grantsOf(work: string, sub: string): readonly (readonly FilesystemPermission[])[] {
  return [
    [{ path: sub, mode: 'rw' }],
    [
      { path: work, mode: 'rw' },
      { path: sub, mode: 'ro' },
    ],
  ];
}

/** The start may be refused, as long as nothing ungranted is seen. @returns whether the sandbox ran */
async function lookAround(
  { run }: Sandboxes,
  sh: Shell,
  sub: string,
  mounts: readonly FilesystemPermission[],
): Promise<boolean> {
  const script = 'cat "$1/secret"; : >"$1/planted"';
  const seen = await run(sh(script, sub), { mounts }).catch((refusal: unknown) => {
    equal((refusal as { code?: string }).code, 'E3105');
    return undefined;
  });
  equal(seen?.stdout ?? '', '', 'a file outside the grant was read');
  return seen !== undefined && seen.exit.notStarted !== true;
}
