import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type OpenedDriver,
  sandboxContainmentConformance,
  sandboxDriverConformance,
} from '../../driver.conformance.ts';
import type { SandboxDriver, SandboxExit, SandboxSpec } from '../../driver.port.ts';
import { sandboxEgressConformance } from '../../egress.conformance.ts';
import { createEgressGate, type EgressGate } from '../../egress-gate.ts';
import { ownFolders } from '../../linux/limits/find-control-groups.ts';
import { runtimeMounts } from '../../runtime-mounts.ts';
import { createWarmPool, type WarmPool } from '../../warm-pool.ts';
import { createBubblewrapDriver } from './bubblewrap-driver.ts';

const probed = await createBubblewrapDriver().probe();
const folder = mkdtempSync(join(tmpdir(), 'warm-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { cpuMillicores: 2000, memoryMb: 256, processesMax: 64, diskMb: 8 };
const specOf = (command: SandboxSpec['command'], more: Partial<SandboxSpec> = {}): SandboxSpec => ({
  label: 'test',
  command,
  environment: {},
  mounts: [],
  network: [],
  limits: LIMITS,
  ...more,
});
const sh = (script: string, more?: Partial<SandboxSpec>): SandboxSpec => specOf(['/bin/sh', '-c', script], more);
const nodeScript = (name: string, lines: string, more: Partial<SandboxSpec> = {}): SandboxSpec => {
  writeFileSync(join(folder, name), lines, { mode: 0o644 });
  const command = [process.execPath, join(folder, name), 'one', 'two words'] as const;
  return specOf([...command], { mounts: [...runtimeMounts(command), { path: folder, mode: 'ro' }], ...more });
};

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: SandboxExit;
}

async function run(driver: SandboxDriver, spec: SandboxSpec, input = ''): Promise<Outcome> {
  const running = await driver.start(spec);
  running.stdin.end(input);
  const [stdout, stderr, exit] = await Promise.all([text(running.stdout), text(running.stderr), running.exited]);
  return { stdout, stderr, exit };
}

/** Runs a program in a sandbox made in advance, and fails if another sandbox is used. */
async function runWarm(pool: WarmPool, spec: SandboxSpec, input?: string): Promise<Outcome> {
  const { warm } = pool.counts();
  expect(await pool.prepare(spec)).toBe(true);
  const outcome = await run(pool, spec, input);
  expect(pool.counts().warm).toBe(warm + 1);
  return outcome;
}

/** A pool that makes in advance only the sandboxes that a test asks for. */
const openPool = (settings: Parameters<typeof createBubblewrapDriver>[0] = {}, gate?: EgressGate): WarmPool =>
  createWarmPool(createBubblewrapDriver(settings, gate), { isBusy: () => true });

/** A driver for the conformance suites that makes each sandbox in advance, where that is possible. */
function pooled(settings: Parameters<typeof createBubblewrapDriver>[0], gate?: EgressGate): OpenedDriver {
  const pool = openPool(settings, gate);
  const start: SandboxDriver['start'] = async (spec) => {
    await pool.prepare(spec);
    return pool.start(spec);
  };
  return { driver: { ...pool, start }, close: () => pool.close() };
}

describe.skipIf(!probed.works)(`warm sandboxes${probed.works ? '' : `, skipped: ${probed.problem}`}`, () => {
  const withGroups = async () => pooled({});
  const withoutGroups = async () => pooled({ controlGroups: false });
  sandboxDriverConformance(test, 'warm bubblewrap', withGroups);
  sandboxDriverConformance(test, 'warm bubblewrap without control groups', withoutGroups);
  sandboxContainmentConformance(test, 'warm bubblewrap', withGroups);
  sandboxEgressConformance(test, 'warm bubblewrap', async (gate) => pooled({}, gate));

  test('SBX-06 a program cannot tell a warm sandbox from a cold one', async () => {
    const pool = openPool();
    const script =
      'env | sort; pwd; umask; ulimit -a; cat; ls -A /tmp / /run 2>&1; ls /proc/self/fd | wc -l; ' +
      'grep -E "^(Sig|Cap|NoNew|Seccomp|Threads|Groups|Uid)" /proc/self/status; echo "$$" "$PPID" "$0" "$@"';
    const command = ['/bin/sh', '-c', script, 'sh', "it's", '"q" $(no) \\', 'é\n\u0081'] as const;
    const environment = { SECRET: 'é\n= "\'$x\\', IFS: 'x', PERL5OPT: '-d', PWD: '/elsewhere', EMPTY: '' };
    const spec = specOf([...command], { environment, workingDirectory: '/usr/lib' });
    const cold = await run(createBubblewrapDriver(), spec, 'input');
    expect(await runWarm(pool, spec, 'input')).toEqual({
      ...cold,
      exit: { ...cold.exit, cpuMs: expect.any(Number), memoryPeakMb: expect.any(Number) },
    });
    expect(cold.stdout).toContain('SECRET=é');
    // Names of variables that shells use for themselves.
    const odd = specOf(['/usr/bin/env'], { environment: { OPTIND: 'x', PPID: 'y', LD_X: 'z', _: 'u', SHLVL: '7' } });
    expect((await runWarm(pool, odd)).stdout.split('\n').sort()).toEqual(
      (await run(createBubblewrapDriver(), odd)).stdout.split('\n').sort(),
    );
    await pool.close();
  });

  test('SBX-06 a script cannot tell a warm Node from a cold one', async () => {
    const pool = openPool();
    const seen =
      'JSON.stringify([process.argv, process.env, process.cwd(), process.execArgv, process.argv0, process.title, ' +
      "require('node:fs').readFileSync(0, 'utf8'), require.main === module, module.parent, Object.keys(require.cache), " +
      "require('node:fs').readdirSync('/tmp'), process.listenerCount('exit'), Object.keys(globalThis)])";
    const order =
      "setTimeout(() => console.log('timer')); Promise.resolve().then(() => console.log('promise')); process.nextTick(() => console.log('tick'));";
    const scripts = [
      nodeScript('seen.cjs', `console.log(${seen}); ${order}`),
      nodeScript(
        'seen.mjs',
        `import { createRequire } from 'node:module'; console.log(import.meta.main, import.meta.url, process.argv); ${order}`,
      ),
      nodeScript('typed.ts', 'const x: number = 1; console.log(x, process.argv); export {};'),
      nodeScript('throws.cjs', "process.on('exit', (code) => console.log('exit', code)); throw new Error('no')"),
      nodeScript('rejects.mjs', "await Promise.reject(new TypeError('no'))"),
      specOf([process.execPath, 'missing.js'], { mounts: [...runtimeMounts([process.execPath])] }),
    ];
    for (const script of scripts) {
      const spec = { ...script, environment: { TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8', SECRET: 'é\n"' } };
      const cold = await run(createBubblewrapDriver(), spec, 'input');
      const warm = await runWarm(pool, spec, 'input');
      expect([warm.stdout, warm.exit.code]).toEqual([cold.stdout, cold.exit.code]);
      const firstLines = (said: string): string[] => said.split('\n').filter((line) => !/^\s+at |^Node/.test(line));
      expect(firstLines(warm.stderr)).toEqual(firstLines(cold.stderr));
    }
    await pool.close();
  }, 60_000);

  test('SBX-06.1 nothing that a job leaves is there for the next', async () => {
    const pool = openPool();
    const leave = sh('echo secret >/tmp/left; (sleep 60 &) ; echo $$; ls /tmp; ps x 2>/dev/null | wc -l; env | wc -l');
    const first = await runWarm(pool, { ...leave, environment: { SECRET: 'x' } });
    const second = await runWarm(pool, leave);
    expect(first.stdout).toContain('left');
    expect((await runWarm(pool, sh('ls -A /tmp; env | grep -c SECRET'))).stdout).toBe('0\n');
    expect(second.exit.code).toBe(0);
    expect(pool.counts()).toEqual({ standing: 0, warm: 3, cold: 0 });
    await pool.close();
  });

  test('SBX-05.2 SBX-06.1 what a call brings is on no command line, and in nothing that stands ready', async () => {
    const pool = openPool();
    const secret = `secret-${process.pid}-${Date.now()}`;
    const spec = sh('echo ready; read line', { environment: { SECRET: secret } });
    expect(await pool.prepare({ ...spec, command: ['/bin/sh', '-c', secret] })).toBe(true);
    await using running = await pool.start(spec);
    await once(running.stdout, 'data');
    expect(readdirSync('/proc').filter((pid) => commandOf(pid).includes(secret))).toEqual([]);
    await pool.close();
  });

  test('SBX-03 the limits of the call hold, and not those of the call before', async () => {
    const pool = openPool();
    const bomb = specOf(['/usr/bin/perl', '-e', 'my $m = "x" x 1e8; print length $m;']);
    const large = await runWarm(pool, bomb);
    expect([large.stdout, large.exit.violation]).toEqual(['100000000', undefined]);
    const small = await runWarm(pool, { ...bomb, limits: { ...LIMITS, memoryMb: 32 } });
    expect(small.exit.violation).toBe('memory');
    await pool.close();
  });

  test('SBX-07 the time and the memory of waiting are not counted', async () => {
    const pool = openPool();
    const cold = await run(createBubblewrapDriver(), nodeScript('nothing.cjs', ''));
    const { exit } = await runWarm(pool, nodeScript('nothing.cjs', ''));
    expect(exit.cpuMs).toBeGreaterThan(0);
    expect(exit.cpuMs).toBeLessThan(cold.exit.cpuMs);
    expect(exit.memoryPeakMb).toBeLessThan(64);
    const busy = await runWarm(
      pool,
      nodeScript('busy.cjs', 'const b = Buffer.alloc(6e7, 1); const u = process.cpuUsage; while (u().user < 3e5);'),
    );
    expect(busy.exit.cpuMs).toBeGreaterThan(100);
    expect(busy.exit.memoryPeakMb).toBeGreaterThan(57);
    await pool.close();
  });

  test('SBX-06 what the key holds is not shared: folders, network, languages, sizes', async () => {
    const gate = createEgressGate();
    const pool = openPool({}, gate);
    const spec = sh('ls; wc -c /etc/hosts', { mounts: [{ path: folder, mode: 'ro' }] });
    const others: readonly SandboxSpec[] = [
      { ...spec, mounts: [{ path: folder, mode: 'rw' }] },
      { ...spec, mounts: [] },
      { ...spec, network: [{ host: 'example.org', port: 443 }] },
      { ...spec, limits: { ...LIMITS, diskMb: 4 } },
      { ...spec, limits: { ...LIMITS, cpuSecondsMax: 4 } },
      nodeScript('key.cjs', ''),
    ];
    expect(await pool.prepare(spec)).toBe(true);
    for (const other of others) await run(pool, other);
    expect(pool.counts()).toEqual({ standing: 1, warm: 0, cold: others.length });
    // The key does not depend on command, environment, working directory or the other limits.
    await run(pool, {
      ...specOf(['/bin/true']),
      mounts: spec.mounts,
      environment: { A: 'b' },
      workingDirectory: '/usr',
    });
    expect(pool.counts().warm).toBe(1);
    await pool.close();
  });

  test('SBX-06 a folder that took the place of another is seen, not the one before', async () => {
    const pool = openPool();
    const [place, other] = [join(folder, 'place'), join(folder, 'other')];
    for (const [path, name] of [
      [place, 'old'],
      [other, 'new'],
    ] as const) {
      mkdirSync(path);
      writeFileSync(join(path, name), '');
    }
    const spec = sh('ls', { mounts: [{ path: place, mode: 'ro' }], workingDirectory: place });
    expect(await pool.prepare(spec)).toBe(true);
    renameSync(place, `${place}-away`);
    renameSync(other, place);
    expect((await run(pool, spec)).stdout).toBe('new\n');
    await pool.close();
  });

  test('code that a variable names does not run before its call', async () => {
    const pool = openPool();
    writeFileSync(join(folder, 'early.cjs'), "require('node:fs').writeFileSync('/tmp/early', '')");
    const spec = nodeScript('late.cjs', "console.log(require('node:fs').existsSync('/tmp/early'))", {
      environment: { NODE_OPTIONS: `--require ${join(folder, 'early.cjs')}` },
    });
    expect((await runWarm(pool, spec)).stdout).toBe('true\n');
    await pool.close();
  });

  test('a sandbox that was ended while it waited is not given to a call', async () => {
    const pool = openPool();
    expect(await pool.prepare(sh('echo x'))).toBe(true);
    const waiting = pidsIn(process.pid).filter((pid) => commandOf(pid).startsWith('/usr/bin/perl\0'));
    expect(waiting).toHaveLength(1);
    process.kill(Number(waiting[0]), 'SIGKILL');
    // The pool looks for ended sandboxes some ms after each call; a call of another key takes none.
    for (const other = nodeScript('other.cjs', ''); pool.counts().standing > 0; await sleep(50)) await run(pool, other);
    expect((await run(pool, sh('echo x'))).stdout).toBe('x\n');
    expect(pool.counts().warm).toBe(0);
    await pool.close();
  });

  test('SBX-08 a pool that is closed leaves nothing, and its calls start cold', async () => {
    const pool = createWarmPool(createBubblewrapDriver({ launchersReady: 2 }), { isBusy: () => false });
    await pool.probe();
    await run(pool, sh('echo x'));
    await until(() => pool.counts().standing === 1);
    await run(pool, nodeScript('nothing.cjs', ''));
    await until(() => pool.counts().standing === 2);
    await pool.close();
    await until(() => groupsOf(process.pid).length === 0);
    expect((await run(pool, sh('echo x'))).stdout).toBe('x\n');
    expect(pool.counts()).toMatchObject({ standing: 0, warm: 0 });
    await pool.close();
  });

  test('SBX-08.4 nothing survives a layer that is killed with a full pool', async () => {
    const layer = startLayer();
    await once(layer.stdout, 'data');
    const mark = `SALLYPORT_LAYER\0`;
    const own = (): string[] =>
      readdirSync('/proc').filter((pid) => commandOf(pid).includes(mark) && commandOf(pid).includes(`-${layer.pid}-`));
    expect(own().length).toBeGreaterThan(0);
    const groups = groupsOf(layer.pid).length;
    expect(groups).toBeGreaterThan(0);
    const pids = pidsIn(layer.pid);
    expect(pids.length).toBeGreaterThan(4);
    layer.kill('SIGKILL');
    await once(layer, 'exit');
    await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)));
    await createBubblewrapDriver().probe();
    await until(() => groupsOf(layer.pid).length === 0);
  });

  test('a pool with something ready does not keep the layer from ending', async () => {
    const layer = startLayer();
    await once(layer.stdout, 'data');
    layer.stdin.end();
    expect(await once(layer, 'exit')).toEqual([0, null]);
  });
});

/** A layer with warm sandboxes and launchers, which reports when they are ready and ends when its input ends. */
function startLayer() {
  const module = (path: string): string => JSON.stringify(join(import.meta.dirname, path));
  const script = `
    const { createBubblewrapDriver } = await import(${module('bubblewrap-driver.ts')});
    const { createWarmPool } = await import(${module('../../warm-pool.ts')});
    const { runtimeMounts } = await import(${module('../../runtime-mounts.ts')});
    const pool = createWarmPool(createBubblewrapDriver({ launchersReady: 2 }), { isBusy: () => false });
    const spec = { label: 'test', command: ['/bin/true'], environment: {}, mounts: [], network: [], limits: ${JSON.stringify(LIMITS)} };
    const tool = { ...spec, command: [process.execPath, '/tmp/x.cjs'], mounts: runtimeMounts([process.execPath]) };
    for (const one of [spec, tool]) { await pool.prepare(one); await pool.prepare(one); }
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.stdout.write(String(pool.counts().standing));
    process.stdin.resume();`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

function commandOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Control groups of a layer that still exist. */
function groupsOf(pid: number | undefined): string[] {
  const places = {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    memberships: readFileSync('/proc/self/cgroup', 'utf8'),
  };
  return [...new Set(ownFolders(places).values())]
    .filter((parent) => existsSync(parent))
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .filter((path) => path.split('/').at(-1)?.split('-')[2] === String(pid));
}

/** Pids of the processes in the control groups of a layer. */
function pidsIn(pid: number | undefined): string[] {
  const lists = groupsOf(pid).map((path) => readFileSync(join(path, 'cgroup.procs'), 'utf8'));
  return [...new Set(lists.join('\n').split('\n').filter(Boolean))];
}
