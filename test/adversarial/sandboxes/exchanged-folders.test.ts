import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDriver } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { createGvisorDriver } from '@sallyport/sandbox/gvisor';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  FilesystemPermission,
  IsolationLevel,
  ToolManifest,
} from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { UNASKED } from './hostile-calls.ts';

/** How long a second tool exchanges folders in each trial. */
const TRIAL_SECONDS = 3;
const DRIVERS: readonly { readonly driver: SandboxDriver; readonly isolation?: IsolationLevel }[] = [
  { driver: createBubblewrapDriver() },
  { driver: createGvisorDriver(), isolation: 'user_kernel' },
];
/** System call number of renameat2; its flag 2 is RENAME_EXCHANGE, -100 is AT_FDCWD. */
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;
const EXCHANGE = `
my ($seconds, $pause, $call, $sub) = @ARGV;
(my $link = $sub) =~ s{sub$}{link};
my $end = time + $seconds;
while (time < $end) {
  syscall($call + 0, -100, $sub, -100, $link, 2);
  select(undef, undef, undef, $pause) if $pause > 0;
}`;

let home: string;
/** The folder of two tools: one tool may write all of it, the other is granted only `sub`. */
let work: string;
let sub: string;
/** A folder that no tool was granted. */
let outside: string;
let layer: EmbeddedToolLayer;
let token: string;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'exchanged-folders-')));
  await openLayer();
});
beforeEach(() => {
  const place = mkdtempSync(join(home, 'trial-'));
  [work, outside] = [join(place, 'work'), join(place, 'outside')];
  sub = join(work, 'sub');
  for (const folder of [work, sub, outside]) mkdirSync(folder);
  writeFileSync(join(outside, 'secret'), 'SECRET');
  writeFileSync(join(sub, 'secret'), 'its own');
});
afterAll(async () => {
  await layer.close();
  rmSync(home, { recursive: true, force: true });
});

async function openLayer(): Promise<void> {
  await prepareDatabase(join(home, 'data'));
  layer = await createToolLayer({
    settings: {
      data_folder: join(home, 'data'),
      'agent.mounts': [`${home}:rw`],
      ...UNASKED,
      'shell.allowed': ['sh', 'perl'],
    },
    log: silentLog,
    environment: {},
  });
  ({ capability_token: token } = await layer.mintToken({ paths: [home], mode: 'rw' }));
}

/** Number of trials so far: each registers its tools in a version of its own. */
let trials = 0;
for (const { driver, isolation } of DRIVERS) {
  const probe = await driver.probe();
  describe.skipIf(!probe.works)(`${driver.name}${probe.works ? '' : `, skipped: ${probe.problem}`}`, () => {
    for (const pauseUs of [0, 200, 20_000]) {
      test(`SBX-01 a tool that exchanges a folder for a link every ${pauseUs} µs shows the tool beside it nothing more`, async () => {
        trials += 1;
        symlinkSync(outside, join(work, 'link'));
        const exchange = join(work, 'exchange.pl');
        writeFileSync(exchange, EXCHANGE);
        const told = [TRIAL_SECONDS, pauseUs / 1e6, RENAMEAT2].map(String);
        const kept = isolation === undefined ? {} : { isolation };
        await register('neighbour', ['/usr/bin/perl', exchange, ...told, sub], [{ path: work, mode: 'rw' }], {});
        const [alone, both]: readonly [readonly FilesystemPermission[], readonly FilesystemPermission[]] = [
          [{ path: sub, mode: 'rw' }],
          [
            { path: work, mode: 'rw' },
            { path: sub, mode: 'ro' },
          ],
        ];
        const [reading, writing] = [`${sub}/secret`, `${sub}/planted`];
        await register('reads', ['/bin/cat', reading], alone, kept);
        await register('writes', ['/bin/touch', writing], alone, kept);
        await register('reads-both', ['/bin/cat', reading], both, kept);
        for (const id of ['reads', 'reads-both']) expect(await call(id)).toContain('its own');

        let isOver = false;
        const exchanging = call('neighbour').finally(() => {
          isOver = true;
        });
        const seen: string[] = [];
        while (!isOver) seen.push(...(await Promise.all(['reads', 'writes', 'reads-both'].map((id) => call(id)))));
        expect(await exchanging).toContain('success');
        expect(seen.filter((answer) => answer.includes('SECRET'))).toEqual([]);
        expect(seen.length).toBeGreaterThan(0);
        expect(existsSync(join(outside, 'planted'))).toBe(false);
      }, 60_000);
    }
  });
}

describe('an upstream', () => {
  test('SBX-01.7 that starts again, when its mount has become a link, sees nothing that it was not given', async () => {
    const transport: UpstreamDefinition['transport'] = {
      type: 'stdio',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', sub],
      mounts: [{ path: sub, mode: 'rw' }],
    };
    await layer.ask(
      'upstreams.add',
      { upstream: { name: 'files', transport, overrides: { '*': { timeout_seconds: 10 } } } },
      LOCAL_CALLER,
    );
    const read = { path: join(sub, 'secret') };
    expect(await call('files__read_text_file', read)).toContain('its own');

    await layer.close();
    renameSync(sub, join(work, 'moved'));
    symlinkSync(outside, sub);
    await openLayer();
    const answer = await call('files__read_text_file', read);
    expect(answer).not.toContain('SECRET');
    expect(answer).not.toContain('success');
  }, 60_000);
});

async function register(
  id: string,
  command: readonly string[],
  filesystem: readonly FilesystemPermission[],
  execution: ToolManifest['execution_config'],
): Promise<void> {
  const manifest: ToolManifest = {
    tool_id: id,
    tool_name: id,
    version: `${trials}.0.0`,
    description: 'Looks around.',
    side_effect_policy: 'idempotent',
    parameters_schema: { type: 'object' },
    permissions: { filesystem: [...filesystem] },
    execution_config: { ...execution, default_timeout_seconds: 30, retry_policy: { max_attempts: 1 } },
    executor: { kind: 'shell', config: { command: [...command] } },
  };
  await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
}

/** The whole answer to a call, as text. */
async function call(tool_id: string, parameters: Record<string, unknown> = {}): Promise<string> {
  const answer = await layer.ask('tools.invoke', { tool_id, parameters }, { door: 'library', token });
  return JSON.stringify(answer);
}
