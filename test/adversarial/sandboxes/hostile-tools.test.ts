import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runtimeMounts, type SandboxDriver } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { isContained } from '@sallyport/sandbox/conformance';
import { createGvisorDriver } from '@sallyport/sandbox/gvisor';
import {
  HOSTILE_PROGRAMS,
  HOSTILE_RUNS,
  type HostileProgram,
  type HostileRun,
} from '@sallyport/sandbox/hostile-programs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../packages/sallyport/api/schemas/invocation.ts';
import type { IsolationLevel } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  serve,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { prepareDatabase } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { hostState, isPostgres, leftSince } from '../host-state.ts';
import {
  DISK_MB,
  type Expected,
  escapeScript,
  faultsOf,
  type HostileTool,
  hostileManifest,
  limitsOf,
  PROCESSES_MAX,
  reportsOf,
  runScript,
  scriptIn,
  stdoutOf,
  type Told,
  UNASKED,
} from './hostile-calls.ts';

/** Calls at the same time; with more of them the speed of the machine would decide the result. */
const LANES = 3;
/** Calls that one agent may run at the same time. */
const SLOTS = 4;
/**
 * Where each start takes long, one of so many programs is run; another test runs all of them with the driver itself.
 */
const SAMPLED = 12;
const NODE = runtimeMounts([process.execPath]);
/** The name of this machine, which on most machines resolves to the loopback, where no tool may connect. */
const MACHINE = hostname();
const leadsToThisMachine = await lookup(MACHINE).then(
  ({ address }) => address.startsWith('127.'),
  () => false,
);

const DRIVERS: readonly {
  readonly driver: SandboxDriver;
  readonly isolation?: IsolationLevel;
  readonly every: number;
}[] = [
  { driver: createBubblewrapDriver(), every: 1 },
  { driver: createGvisorDriver(), isolation: 'user_kernel', every: SAMPLED },
];

let layer: EmbeddedToolLayer;
let token: string;
let home: string;
/** Folder of the scripts; every user may read it, because the tools run with a uid of their own. */
let scripts: string;
/** Folder that tools may write. */
let shared: string;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-tools-')));
  [scripts, shared] = [join(home, 'scripts'), join(home, 'shared')];
  for (const folder of [scripts, shared]) mkdirSync(folder);
  for (const folder of [home, scripts, shared]) chmodSync(folder, 0o755);
  await prepareDatabase(join(home, 'data'));
  layer = await createToolLayer({
    settings: {
      data_folder: join(home, 'data'),
      // No warm sandboxes: they come and go, and this test counts every process that is left.
      'sandbox.warm_max': 0,
      'sandbox.warm_launchers': 0,
      'calls.processes_max': PROCESSES_MAX,
      'calls.disk_mb': DISK_MB,
      ...UNASKED,
      'calls.per_agent_max': SLOTS,
      'agent.allowed_hosts': ['*.example.com', MACHINE],
      'agent.mounts': [`${scripts}:ro`, `${shared}:rw`, ...NODE.map(({ path }) => `${path}:ro`)],
    },
    log: silentLog,
    environment: {},
  });
  ({ capability_token: token } = await layer.mintToken({ paths: ['/'], mode: 'rw', hosts: ['*'], ports: [443] }));
  await warmUp({ id: 'first', folders: readable() });
});
afterAll(async () => {
  await layer.close();
  rmSync(home, { recursive: true, force: true });
});

const readable = (): HostileTool['folders'] => [{ path: scripts, mode: 'ro' }];

async function register(tool: HostileTool): Promise<void> {
  await layer.ask('tools.register', { manifest: hostileManifest(tool) }, LOCAL_CALLER);
}

/** Makes calls until pools of connections have their full size, and the processes that a driver shares have started. */
async function warmUp(tool: HostileTool): Promise<void> {
  await register(tool);
  const script = scriptIn(scripts, 'exit 0');
  await inLanes([...Array(2 * LANES).keys()], async () => {
    const { answer } = await call({ tool_id: tool.id, parameters: { script } });
    expect(answer).toMatchObject({ status: 'success' });
  });
}

async function call(request: ToolInvokeRequest): Promise<Told> {
  const answer = await layer.invoke(request, { token });
  const { invocation_id } = answer;
  return { answer, record: await layer.ask('invocations.get', { invocation_id }, { door: 'library', token }) };
}

for (const { driver, isolation, every } of DRIVERS) {
  const probe = await driver.probe();
  const name = (kind: string): string => `${kind}-${driver.name}`;
  const kept = isolation === undefined ? {} : { isolation };

  describe.skipIf(!probe.works)(`tools under ${driver.name}${probe.works ? '' : `, skipped: ${probe.problem}`}`, () => {
    beforeAll(async () => {
      const folders = readable();
      await warmUp({ id: name('plain'), folders, ...kept });
      await register({ id: name('node'), folders: [...folders, ...NODE], ...kept });
      await register({ id: name('writing'), folders: [...folders, { path: shared, mode: 'rw' }], ...kept });
    });

    test('SBX-03.4 SBX-03.5 SBX-03.8 SBX-08.2 a tool that tries to leave is told as failed (E3108), and nothing is left', async () => {
      const before = hostState(isPostgres);
      const wrong: string[] = [];
      await inLanes(sampled(HOSTILE_PROGRAMS, every), async (program) => {
        const told = await call({
          tool_id: name('plain'),
          parameters: { script: scriptIn(scripts, escapeScript(program)) },
        });
        const mayEscape = program.ownKernelMay === true && isolation !== undefined;
        const expected: Expected[] = [{ code: 'E3108' }, ...(mayEscape ? [{ code: 'success' } as const] : [])];
        const faults = [...faultsOf(told, expected), ...escapeIn(program, driver, told)];
        wrong.push(...faults.map((fault) => `${program.name}: ${fault}`));
      });
      expect(wrong).toEqual([]);
      expect(await leftSince(before, isPostgres)).toEqual([]);
    }, 120_000);

    for (const [group, runs] of Object.entries(HOSTILE_RUNS)) {
      test(`SBX-03.1 SBX-03.3 SBX-03.6 SBX-08.2 ${group}: the answer and the record name the limit, and nothing is left`, async () => {
        const before = hostState(isPostgres);
        const wrong: string[] = [];
        await inLanes(every === 1 ? runs : sampled(runs.filter(isShort), every / 3), async (run) => {
          const told = await runAsTool(name, run, kept);
          wrong.push(...faultsOf(told, reportsOf(run)).map((fault) => `${run.name}: ${fault}`));
        });
        expect(wrong).toEqual([]);
        expect(await leftSince(before, isPostgres)).toEqual([]);
      }, 120_000);
    }

    test('SBX-03.8 SBX-08.2 a sandbox that somebody ends from outside is told as lost (E3107)', async () => {
      const before = hostState(isPostgres);
      const folder = mkdtempSync(join(shared, 'of-'));
      const script = scriptIn(scripts, ': >"$1/began"; while :; do sleep 1; done');
      const running = call({ tool_id: name('writing'), parameters: { script, folder } });
      while (!existsSync(join(folder, 'began'))) await sleep(20);
      for (const pid of sandboxesSince(before)) endNow(pid);
      const told = await running;
      expect(faultsOf(told, [{ code: 'E3107' }])).toEqual([]);
      expect(await leftSince(before, isPostgres)).toEqual([]);
    });
  });
}

describe('what else a hostile tool is told', () => {
  test('SBX-01.2 more than the agent may have is refused before anything runs (E3102), with both values', async () => {
    await register({ id: 'greedy', folders: readable() });
    const script = scriptIn(scripts, 'exit 0');
    const told = await call({ tool_id: 'greedy', parameters: { script }, resource_limits: { memory_mb_limit: 1e6 } });
    expect(told.answer.error).toMatchObject({ e_code: 'E3102', message: expect.stringMatching(/1000000.*4096/) });
    expect(told.record).toMatchObject({ status: told.answer.status, error: { e_code: 'E3102' } });
  });

  test('SBX-04 SBX-01.3 a host outside of the agent is refused before anything runs (E3104)', async () => {
    await register({ id: 'stranger', folders: readable(), network: [{ host: 'other.test', port: 443 }] });
    const told = await call({ tool_id: 'stranger', parameters: { script: scriptIn(scripts, 'exit 0') } });
    expect(told.record).toMatchObject({ state: 'DENIED', error: { e_code: 'E3104' } });
    expect(told.answer.error?.e_code).toBe('E3104');
  });

  test.skipIf(!leadsToThisMachine)(
    'SBX-04.3 SBX-03.7 a granted name that leads to the machine itself is refused, and the answer says so (E3104)',
    async () => {
      await register({ id: 'rebound', folders: readable(), network: [{ host: MACHINE, port: 443 }] });
      const before = hostState(isPostgres);
      const told = await call({ tool_id: 'rebound', parameters: { script: scriptIn(scripts, ASKS_THE_MACHINE) } });
      expect(told.answer.error).toMatchObject({ e_code: 'E3104', message: expect.stringContaining(MACHINE) });
      expect(told.record).toMatchObject({ state: 'FAILED', error: { e_code: 'E3104' } });
      expect(await leftSince(before, isPostgres)).toEqual([]);
    },
  );

  test('SBX-01.5 SBX-01.7 SBX-03.7 a granted folder that has become a link to what the agent must not see is refused (E3105)', async () => {
    const [inner, secret] = [join(shared, 'inner'), join(home, 'secret')];
    for (const folder of [inner, secret]) mkdirSync(folder);
    await register({ id: 'linked', folders: [...readable(), { path: inner, mode: 'rw' }] });
    const request = { tool_id: 'linked', parameters: { script: scriptIn(scripts, 'ls "$1"'), folder: inner } };
    expect((await call(request)).answer.status).toBe('success');
    renameSync(inner, join(shared, 'moved'));
    symlinkSync(secret, inner);
    const told = await call(request);
    expect(told.answer.error?.e_code).toBe('E3105');
    expect(told.record).toMatchObject({ status: told.answer.status, error: { e_code: 'E3105' } });
  });

  test('SBX-08.3 PIPE-06.2 a tool that is cancelled leaves nothing', async () => {
    await register({ id: 'busy', folders: readable() });
    const before = hostState(isPostgres);
    const invocation_id = randomUUID();
    const script = scriptIn(scripts, 'while :; do :; done');
    const running = call({ tool_id: 'busy', invocation_id, parameters: { script } });
    while (sandboxesSince(before).length < 2) await sleep(20);
    await sleep(200);
    await layer.ask('invocations.cancel', { invocation_id }, { door: 'library', token });
    const { answer, record } = await running;
    expect([answer.status, record.state]).toEqual(['cancelled', 'ABORTED']);
    expect(await leftSince(before, isPostgres)).toEqual([]);
  });

  test('PIPE-08.3 SBX-08 tools that never end hold the slots of their own agent alone (E3106), until they are ended', async () => {
    await register({ id: 'endless', folders: [...readable(), { path: shared, mode: 'rw' }] });
    const server = await serve(layer, { port: 0 });
    const before = hostState(isPostgres);
    const folder = mkdtempSync(join(shared, 'of-'));
    const endless = scriptIn(scripts, `trap "" TERM INT HUP; mktemp -p "$1"; while :; do sleep 1; done`);
    const invoke = async (own: string, script: string, more: Partial<ToolInvokeRequest> = {}): Promise<Response> =>
      fetch(`${server.url}/v1/invocations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${own}` },
        body: JSON.stringify({ tool_id: 'endless', parameters: { script, folder }, ...more }),
      });
    const ids = Array.from({ length: SLOTS }, () => randomUUID());
    const holding = ids.map((invocation_id) => invoke(token, endless, { invocation_id }));
    const began = (): number => readdirSync(folder).length;
    try {
      while (began() < SLOTS) await sleep(20);

      // With all slots taken the call waits for one until its timeout.
      const refused = await invoke(token, scriptIn(scripts, 'exit 0'), { resource_limits: { timeout_seconds: 0.5 } });
      const told = (await refused.json()) as ToolInvokeResponse;
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(told.error).toMatchObject({ e_code: 'E3106', code: 'resource_exhausted', retryable: true });
      const { invocation_id } = told;
      const record = await layer.ask('invocations.get', { invocation_id }, { door: 'library', token });
      expect(record).toMatchObject({ status: told.status, error: { e_code: 'E3106' } });
      const { capability_token: other } = await layer.mintToken({
        agent_did: 'did:web:example.org:other',
        paths: ['/'],
        mode: 'rw',
      });
      expect((await invoke(other, scriptIn(scripts, 'exit 0'))).status).toBe(200);
    } finally {
      for (const id of ids) await layer.ask('invocations.cancel', { invocation_id: id }, { door: 'library', token });
      await Promise.all(holding);
    }
    expect((await invoke(token, scriptIn(scripts, 'exit 0'))).status).toBe(200);
    await server.close();
    expect(await leftSince(before, isPostgres)).toEqual([]);
  }, 60_000);

  test('SBX-07.1 PIPE-11.2 what a tool used is in the answer and on record', async () => {
    await register({ id: 'worker', folders: readable() });
    const code = 'my $m = "x" x 3e7; my $n = 0; $n++ while $n < 2e6;';
    const told = await call({
      tool_id: 'worker',
      parameters: { script: scriptIn(scripts, `exec /usr/bin/perl -e '${code}'`) },
    });
    const { cpu_used_millicore_seconds: cpu, memory_peak_mb: memory } = told.answer.execution_metadata;
    expect([told.answer.status, cpu > 30, memory > 25 && memory <= 64]).toEqual(['success', true, true]);
    const same = { cpu_used_millicore_seconds: cpu, memory_peak_mb: memory };
    expect(told.record.execution_metadata).toMatchObject(same);
  });

  test('SBX-03.6 the REST door tells the limit in its answer and in the status of the call', async () => {
    await register({ id: 'bomb', folders: readable() });
    const server = await serve(layer, { port: 0 });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const script = scriptIn(scripts, `exec /usr/bin/perl -e 'my @m; push @m, "x" x 1e6 while 1;'`);
    const body = JSON.stringify({ tool_id: 'bomb', parameters: { script } });
    const response = await fetch(`${server.url}/v1/invocations`, { method: 'POST', headers, body });
    const told = (await response.json()) as { invocation_id: string; error: { e_code: string; details: object } };
    expect(told.error).toMatchObject({ e_code: 'E3102', details: { limit: 'memory' } });
    const status = await fetch(`${server.url}/v1/invocations/${told.invocation_id}`, { headers });
    expect(await status.json()).toMatchObject({
      state: 'FAILED',
      error: { e_code: 'E3102', details: { limit: 'memory' } },
    });
    await server.close();
  });
});

/** Connects to the one host that it was granted, and fails when no server answers. */
const ASKS_THE_MACHINE = `exec /usr/bin/perl -MSocket -e '
  socket(my $s, AF_INET, SOCK_STREAM, 0); my $said;
  connect($s, pack_sockaddr_in(443, inet_aton("${MACHINE}"))) or exit 8;
  exit(sysread($s, $said, 1) ? 0 : 1)'`;

async function runAsTool(
  name: (kind: string) => string,
  run: HostileRun,
  kept: Pick<HostileTool, 'isolation'>,
): Promise<Told> {
  let tool_id = name(run.command[0] === process.execPath ? 'node' : run.folder === true ? 'writing' : 'plain');
  if (run.environment !== undefined) {
    tool_id = name('environment');
    await register({ id: tool_id, folders: readable(), environment: run.environment, ...kept });
  }
  const folder = run.folder === true ? { folder: mkdtempSync(join(shared, 'of-')) } : {};
  const parameters = { script: scriptIn(scripts, runScript(run)), ...folder };
  return call({ tool_id, parameters, resource_limits: limitsOf(run) });
}

function escapeIn(program: HostileProgram, driver: SandboxDriver, told: Told): readonly string[] {
  const said = stdoutOf(told);
  return isContained(program, driver, said) ? [] : [`it said ${JSON.stringify(said)}`];
}

/** Whether a program ends soon: output beyond the limit takes seconds to read. */
const isShort = ({ seen }: HostileRun): boolean => seen.flooded !== true;

const sampled = <Item>(items: readonly Item[], every: number): readonly Item[] =>
  items.filter((_, index) => index % every === 0);

function endNow(pid: string): void {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // The process ended together with an earlier one.
  }
}

function sandboxesSince(before: ReturnType<typeof hostState>): readonly string[] {
  return hostState(isPostgres).processes.filter((pid) => !before.processes.includes(pid));
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
