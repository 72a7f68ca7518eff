import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SandboxSpec } from '../../../driver.port.ts';
import { createBubblewrapDriver } from '../../bubblewrap/bubblewrap-driver.ts';
import { jobOf, LAUNCHER_COMMAND, readHeader } from './launcher.ts';

const spec = (changes: Partial<SandboxSpec>): SandboxSpec => ({
  label: 'test',
  command: ['true'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 100, diskMb: 8 },
  ...changes,
});

const BUBBLEWRAP = 'bwrap';
const { works } = await createBubblewrapDriver().probe();
const SHELLS = [['/bin/sh'], ['/bin/dash'], ['/bin/bash', '--posix'], ['/bin/busybox', 'sh']] as const;

/** Runs the launcher in a pid namespace of its own, because it ends all processes that it sees. */
function launch(
  [shell, ...rest]: readonly string[],
  given: SandboxSpec,
  input = '',
): { stdout: string; stderr: string; code: number | null } {
  const job = jobOf(given);
  const own = [
    '--unshare-all',
    '--unshare-user',
    '--uid',
    '1000',
    '--cap-drop',
    'ALL',
    '--ro-bind',
    '/usr',
    '/usr',
    '--proc',
    '/proc',
  ];
  const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]);
  const image = ['--dev', '/dev', '--tmpfs', '/tmp', '--setenv', 'FROM_IMAGE', 'one\nexport TWO=2\ntwo'];
  const { stdout, stderr, status } = spawnSync(
    BUBBLEWRAP,
    [...own, ...links, ...image, shell ?? '', ...rest, ...LAUNCHER_COMMAND.slice(1)],
    { input: `${job.line}${input}` },
  );
  const found = readHeader(stdout, job.word);
  const rest2 = typeof found === 'object' ? found.rest : stdout;
  return { stdout: rest2.toString('utf8'), stderr: stderr.toString('utf8'), code: status };
}

for (const shell of SHELLS) {
  const isHere = works && existsSync(shell[0]);
  const name = isHere ? shell[0] : `${shell[0]}, skipped: it or bubblewrap is missing`;

  test.skipIf(!isHere)(`SBX-05 any text reaches the tool as it is (${name})`, () => {
    const odd = `it's "two"\nlines; $(no) \`no\` \\ € \t*`;
    const command = ['/bin/sh', '-c', 'printf "%s|%s|%s|%s" "$1" "$ODD" "$n" "$d"; cat', 'sh', odd] as const;
    const { stdout, stderr, code } = launch(
      shell,
      spec({ command, environment: { n: 'N\nN', ODD: odd, d: 'D', IFS: 'x' } }),
      'rest\n',
    );
    expect([stdout, stderr, code]).toEqual([`${odd}|${odd}|N\nN|Drest\n`, '', 0]);
  });

  test.skipIf(!isHere)(`nothing of the image's environment is left (${name})`, () => {
    const { stdout } = launch(shell, spec({ command: ['/usr/bin/env'] }));
    const names = [...stdout.matchAll(/^(\w+)=/gm)].map(([, found]) => found).filter((found) => found !== '_');
    expect(names.sort()).toEqual(['PATH', 'PWD']);
  });

  test.skipIf(!isHere)(`SBX-03 limits hold for the tool (${name})`, () => {
    const { stdout } = launch(
      shell,
      spec({
        command: ['/bin/sh', '-c', 'ulimit -f; ulimit -c; ulimit -n; ulimit -t'],
        limits: { ...spec({}).limits, cpuSecondsMax: 3 },
      }),
    );
    expect(stdout.split('\n').slice(0, 4)).toEqual(['16384', '0', '1024', '3']);
  });

  test.skipIf(!isHere)(
    `a folder that is not there is no start, and a program that is not there is 127 (${name})`,
    () => {
      expect(launch(shell, spec({ workingDirectory: '/nowhere' })).code).toBe(125);
      expect(launch(shell, spec({ command: ['no-such-program'] })).code).toBe(127);
      expect(launch(shell, spec({ command: ['/bin/sh', '-c', 'kill -TERM $$'] })).code).toBe(143);
    },
  );
}

test('a job that is too large is refused', () => {
  expect(() => jobOf(spec({ command: ['true', 'x'.repeat(300_000)] }))).toThrow(/larger than/);
});

test.each<[string, object | 'wait' | undefined]>([
  ['abc 12 34\nrest', { header: { pid: 12, cpuUs: 34 }, rest: Buffer.from('rest') }],
  ['abc 12 \n', { header: { pid: 12, cpuUs: 0 }, rest: Buffer.alloc(0) }],
  ['abc 12', 'wait'],
  ['abd 12 34\n', undefined],
  ['abc x 34\n', undefined],
  ['\n', undefined],
  ['x'.repeat(200), undefined],
])('the first line %j is read', (text, expected) => {
  expect(readHeader(Buffer.from(text), 'abc')).toEqual(expected);
});
