import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createToolLayer, LOCAL_CALLER, silentLog } from '../../../index.ts';

const FIXTURE = join(import.meta.dirname, 'exchange-race.fixture.ts');
const USER = 65_534;
const ROUNDS = 300;
const CALLS = 60;
/** System call number of renameat2; its flag 2 is RENAME_EXCHANGE, -100 is AT_FDCWD. */
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;
const EXCHANGE = `
  my ($call, $one, $other) = @ARGV;
  $| = 1; print "exchanging\\n";
  while (getppid() != 1) { syscall($call + 0, -100, $one, -100, $other, 2); select(undef, undef, undef, 0.0002); }`;

const { works } = await createBubblewrapDriver().probe();

let home: string;
/** The granted folder. */
let sub: string;
/** A folder that is not granted. */
let outside: string;
let neighbour: ChildProcess | undefined;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'exchange-race-')));
  chmodSync(home, 0o755);
  const work = join(home, 'work');
  [sub, outside] = [join(work, 'sub'), join(home, 'outside')];
  for (const folder of [work, sub, outside]) mkdirSync(folder);
  symlinkSync(outside, join(work, 'link'));
  writeFileSync(join(outside, 'old'), 'of somebody else');
  writeFileSync(join(sub, 'old'), 'granted');
});
afterEach(async () => {
  if (neighbour !== undefined) {
    const exited = once(neighbour, 'exit');
    neighbour.kill('SIGKILL');
    await exited;
    neighbour = undefined;
  }
  rmSync(home, { recursive: true, force: true });
});

async function startNeighbour(): Promise<void> {
  const link = join(home, 'work', 'link');
  neighbour = spawn('perl', ['-e', EXCHANGE, String(RENAMEAT2), sub, link], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(neighbour.stdout as NonNullable<ChildProcess['stdout']>, 'data');
}

/** In each round a file is added outside the granted folder; a restore must not remove it. */
test.skipIf(process.getuid?.() !== 0).each([
  ['root', 0],
  ['an ordinary user', USER],
])(
  'SBX-08 EXE-03 as %s, a granted folder that is exchanged for a link is restored as itself or not at all',
  async (_, uid) => {
    const snapshots = join(home, 'snapshots');
    mkdirSync(snapshots);
    for (const each of [sub, outside, snapshots, join(outside, 'old'), join(sub, 'old')]) chownSync(each, uid, uid);
    await startNeighbour();
    const { stdout, stderr } = spawnSync(process.execPath, [FIXTURE, sub, outside, snapshots, String(ROUNDS)], {
      encoding: 'utf8',
      uid,
      gid: uid,
    });
    expect(stderr).toBe('');
    const ends = JSON.parse(stdout) as Record<string, number>;
    expect(ends['lost']).toBe(0);
    for (const end of ['restored', 'refused', 'another']) expect(ends[end], end).toBeGreaterThan(0);
    expect(readdirSync(outside)).toContain('old');
  },
  120_000,
);

test.skipIf(!works)(
  'SBX-08 EXE-03 the rollback of a failed command never follows a link that a neighbour puts in place of its folder',
  async () => {
    await using layer = await openLayer();
    await startNeighbour();
    const seen: string[] = [];
    for (let round = 0; round < CALLS; round += 1) {
      const running = layer.call();
      // Another program adds files while the call runs; a rollback of that folder would remove them.
      let added = 0;
      const adding = setInterval(() => {
        writeFileSync(join(outside, `precious-${round}-${added}`), '');
        added += 1;
      }, 2);
      seen.push(await running);
      clearInterval(adding);
      const left = readdirSync(outside).filter((name) => name.startsWith(`precious-${round}-`));
      expect(left, seen.at(-1)).toHaveLength(added);
    }
    expect(readdirSync(outside)).not.toContain('planted');
    expect(seen.filter((code) => !/^E3(?:108|105|110|203|804|101)$/.test(code))).toEqual([]);
  },
  120_000,
);

async function openLayer(): Promise<{ call(): Promise<string> } & AsyncDisposable> {
  const layer = await createToolLayer({
    settings: { data_folder: join(home, 'data'), 'agent.mounts': [`${home}:rw`], 'shell.allowed': ['sh'] },
    log: silentLog,
    environment: {},
  });
  // The command check does not see what a script does.
  const scripts = join(home, 'scripts');
  const { capability_token: token } = await layer.mintToken({ paths: [join(home, 'work'), scripts], mode: 'rw' });
  const script = join(scripts, 'fails.sh');
  mkdirSync(scripts);
  writeFileSync(script, `echo x >${sub}/made; sleep 0.03; exit 1`);
  await layer.ask(
    'tools.register',
    {
      manifest: {
        tool_id: 'fails',
        tool_name: 'fails',
        version: '1.0.0',
        description: 'Changes files, and fails.',
        side_effect_policy: 'idempotent',
        parameters_schema: { type: 'object' },
        permissions: {
          filesystem: [
            { path: sub, mode: 'rw' },
            { path: scripts, mode: 'ro' },
          ],
        },
        execution_config: { retry_policy: { max_attempts: 1 } },
        executor: {
          kind: 'shell',
          config: {
            command: ['/bin/sh', script],
            transaction: { snapshot_required: true },
          },
        },
      },
    },
    LOCAL_CALLER,
  );
  return {
    async call() {
      const answer = await layer.ask('tools.invoke', { tool_id: 'fails', parameters: {} }, { door: 'library', token });
      return /E3\d{3}/.exec(JSON.stringify(answer))?.[0] ?? JSON.stringify(answer);
    },
    [Symbol.asyncDispose]: () => layer.close(),
  };
}
