import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import { expect, onTestFinished, test } from 'vitest';
import { chooseDriver } from '../../../choose-driver.ts';
import { collectOutput } from '../../../collect-output.ts';
import { contractCases } from '../../../conformance/contract-cases.ts';
import { hostDialect } from '../../../conformance/host-dialect.ts';
import { checkWith } from '../../../conformance/suite.ts';
import type { SandboxDriver, SandboxSpec } from '../../../driver.port.ts';
import { createEgressGate, type EgressGate } from '../../../egress-gate.ts';
import { microvmDriver } from '../microvm-driver.ts';
import type { FirecrackerChoices } from '../settings.ts';
import { type FakeFirecracker, type FirecrackerFaults, openFakeFirecracker } from '../testing/fake-firecracker.ts';
import { firecrackerBackend } from './firecracker-backend.ts';

interface Opened {
  readonly driver: SandboxDriver;
  readonly fake: FakeFirecracker;
  close(): void;
}

function open(faults?: FirecrackerFaults, choices: Partial<FirecrackerChoices> = {}, gate?: EgressGate): Opened {
  const fake = openFakeFirecracker(faults);
  const folder = mkdtempSync(join(tmpdir(), 'fake-image-'));
  const files = { kernel: join(folder, 'vmlinux'), initrd: join(folder, 'initrd') };
  for (const path of Object.values(files)) writeFileSync(path, 'x');
  const backend = firecrackerBackend({ ...files, program: fake.program, ...choices }, () => undefined);
  return {
    driver: microvmDriver(backend, gate),
    fake,
    close() {
      expect(fake.running()).toBe(0);
      fake.close();
      rmSync(folder, { recursive: true });
      expect(readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-`))).toEqual([]);
    },
  };
}

function opened(faults?: FirecrackerFaults, choices?: Partial<FirecrackerChoices>, gate?: EgressGate): Opened {
  const one = open(faults, choices, gate);
  onTestFinished(() => one.close());
  return one;
}

// The fake guest runs programs on the host without isolation, so only cases that need no limits use it.
const bare = (name: string, run: () => Promise<void>): void => test(`SBX-02 ${name}`, run);
const suite = Object.assign(bare, { skip: (name: string, run: () => Promise<void>): void => test.skip(name, run) });
const { runtime, ...programsOfFake } = hostDialect;
contractCases(
  checkWith(suite, 'a fake of Firecracker', async () => {
    const { driver, close } = open();
    return { driver, close: async () => close() };
  }),
  programsOfFake,
);

test('a machine is configured in the order that Firecracker asks for, and nothing of the job is in it', async () => {
  const { driver, fake } = opened({}, { snapshots: false });
  await run(driver, ['/bin/true'], { environment: { TOKEN: 'secret-value' } });
  expect(fake.requests.map(({ line }) => line)).toEqual([
    'PUT /machine-config',
    'PUT /boot-source',
    'PUT /vsock',
    'PUT /actions',
  ]);
  expect(fake.requests[0]?.body).toEqual({ vcpu_count: 1, mem_size_mib: 192, smt: false });
  expect(JSON.stringify([fake.requests, fake.commands])).not.toContain('secret-value');
});

test('the second job runs in a copy of the machine that was booted for the first', async () => {
  const { driver, fake } = opened();
  await run(driver, ['/bin/true']);
  const before = fake.requests.length;
  expect((await run(driver, ['echo', 'copied'])).stdout).toBe('copied\n');
  expect(fake.requests.slice(before).map(({ line }) => line)).toEqual(['PUT /snapshot/load']);
  expect(fake.requests.filter(({ line }) => line === 'PUT /actions')).toHaveLength(1);
});

test('SBX-03 without control groups around the machine its share and what a killed one used are weaker, and can be demanded', async () => {
  const { driver } = opened({}, { controlGroups: false, snapshots: false });
  expect((await driver.probe()).weakerLimits).toEqual(['cpu', 'usage']);
  expect((await run(driver, ['/bin/true'])).exit.weakerLimits).toEqual(['cpu', 'usage']);
  const demanding = chooseDriver([driver], 'microvm', { limits: ['cpu'] });
  await expect(run(demanding, ['/bin/true'])).rejects.toMatchObject({ code: 'E3101' });
});

test('a file for the guest is given as a read-only disk', async () => {
  const { driver, fake } = opened({}, { snapshots: false, drive: process.execPath });
  await run(driver, ['/bin/true']);
  const { body } = fake.requests.find(({ line }) => line === 'PUT /drives/drive') ?? {};
  expect(body).toMatchObject({ is_read_only: true, is_root_device: false });
});

test.skipIf(process.getuid?.() !== 0)('with a jailer the files lie in its root (needs root)', async () => {
  const fake = openFakeFirecracker();
  onTestFinished(() => fake.close());
  const { driver } = opened({}, { program: fake.program, jailer: fake.program });
  expect((await run(driver, ['echo', 'jailed'])).stdout).toBe('jailed\n');
  expect(fake.commands[0]).toMatch(
    /^--id sallyport --exec-file \S+ --uid (\d+) --gid \1 --chroot-base-dir \S+ -- --api-sock api\.sock$/,
  );
});

test.each<[string, FirecrackerFaults]>([
  ['a socket that comes late', { socketDelayMs: 100 }],
  ['a guest that boots slowly', { bootDelayMs: 200 }],
  ['a vsock that closes the first connections', { vsock: 'closes at first' }],
])('%s is waited for', async (_, faults) => {
  expect((await run(opened(faults).driver, ['echo', 'there'])).stdout).toBe('there\n');
});

test.each<[string, FirecrackerFaults, RegExp]>([
  [
    'refuses its configuration',
    { refuses: { '/machine-config': { status: 400, body: '{"fault_message":"The vCPU number is invalid."}' } } },
    /400 to PUT \/machine-config: The vCPU number is invalid/,
  ],
  ['answers without words', { refuses: { '/vsock': { status: 500, body: '<html>' } } }, /500 to PUT \/vsock: <html>/],
  ['breaks off its answer', { breaksOffAt: '/boot-source' }, /broke off|aborted|ECONNRESET/],
  ['crashes while it is configured', { crashesAt: '/boot-source' }, /ended with SIGKILL|hang up|ECONN/],
  ['crashes at the start', { crashesAt: '/actions' }, /ended with SIGKILL|hang up|ECONN/],
  ['has an agent of another version', { greeting: 'failed the agent speaks version 2 of the protocol' }, /version 2/],
  ['has a vsock that is none', { vsock: 'garbage' }, /the vsock socket says "HTTP/],
  ['never answers on its vsock', { vsock: 'silence' }, /port 5000 of the guest does not answer/],
  ['never boots its guest', { bootDelayMs: 600_000 }, /port 5000 of the guest does not answer/],
  ['has an agent that does not answer', { greeting: '' }, /does not know/],
  ['has an agent that talks nonsense', { greeting: 'HTTP/1.1 200 OK' }, /what the protocol does not know/],
])('E3101 a Firecracker that %s makes no sandbox, and leaves nothing', async (_, faults, cause) => {
  const { driver } = opened(faults, { bootTimeoutMs: 2000 });
  const failed = await driver.start(spec(['/bin/true'])).then(
    () => undefined,
    (error: unknown) => error as { code: string; failure: { cause: Error } },
  );
  expect(failed?.code).toBe('E3101');
  expect(failed?.failure.cause.message).toMatch(cause);
});

test('a job that the agent cannot start is no run of the tool, and its reason is on stderr', async () => {
  const { driver } = opened({ refusal: 'the working directory /nowhere does not exist' });
  const { exit, stderr } = await run(driver, ['/bin/true']);
  expect(exit).toMatchObject({ notStarted: true, code: 1 });
  expect(stderr).toBe('the working directory /nowhere does not exist\n');
});

test('a machine that crashes in the middle of a job loses it, and what it wrote before is kept', async () => {
  const { driver } = opened({ onJob: (crash) => setTimeout(crash, 300) });
  const { exit, stdout } = await run(driver, ['/bin/sh', '-c', 'echo before; sleep 60']);
  expect(exit).toMatchObject({ lost: true });
  expect([exit.code, exit.signal]).toEqual([undefined, undefined]);
  expect(stdout).toBe('before\n');
});

test('SBX-08 a kill ends machine, sockets and folder; a kill with a grace lets the tool end in order', async () => {
  const { driver, fake } = opened();
  const held = await driver.start(spec(hostDialect.hold('kill')));
  await once(held.stdout, 'data');
  held.kill();
  expect((await held.exited).signal).toBe('SIGKILL');
  expect(fake.running()).toBe(0);
  const orderly = await driver.start(
    spec(['/bin/sh', '-c', 'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done']),
  );
  await once(orderly.stdout, 'data');
  orderly.kill(20_000);
  expect((await orderly.exited).code).toBe(3);
});

test('SBX-04 a job goes out through the socket of the gate, to what it was granted and nowhere else', async () => {
  const server = createServer((socket) => socket.end('granted'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { driver } = opened({}, {}, createEgressGate());
  expect(driver.supports.egress).toBe(true);
  const network = [{ host: '127.0.0.1', port }];
  const granted = await run(driver, ['fetch', '127.0.0.1', String(port)], { network });
  expect(granted.stdout).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\ngranted$/s);
  expect(granted.exit.network).toMatchObject({ bytesReceived: 7, connections: 1 });
  const refused = await run(driver, ['fetch', '127.0.0.1', '1'], { network });
  expect(refused.stdout).toMatch(/^HTTP\/1\.1 403 /);
});

test('the probe says what is missing, and where to get it', async () => {
  const missing = { kernel: '/nowhere/vmlinux', initrd: '/nowhere/initrd' };
  const probe = (choices: Partial<FirecrackerChoices>, problem?: string) =>
    firecrackerBackend({ ...missing, ...choices }, () => problem).probe();
  expect((await probe({ program: 'no-such-firecracker' })).problem).toContain('releases');
  expect((await probe({ program: process.execPath, jailer: 'no-such-jailer' })).problem).toContain('no-such-jailer');
  expect((await probe({ program: process.execPath })).problem).toContain('/nowhere/vmlinux');
  const files = { program: process.execPath, kernel: process.execPath, initrd: process.execPath };
  expect((await probe(files, 'no kvm')).problem).toBe('no kvm');
  expect(await probe(files)).toMatchObject({ works: true });
  expect(existsSync('/nowhere')).toBe(false);
});

function spec(command: SandboxSpec['command'], changes: Partial<SandboxSpec> = {}): SandboxSpec {
  const limits = { cpuMillicores: 1000, memoryMb: 128, processesMax: 32, diskMb: 8 };
  return { label: 'test', environment: {}, mounts: [], network: [], limits, ...changes, command };
}

async function run(driver: SandboxDriver, command: SandboxSpec['command'], changes?: Partial<SandboxSpec>) {
  const process = await driver.start(spec(command, changes));
  process.stdin.end();
  const bounds = { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB };
  const [output, exit] = await Promise.all([collectOutput(process, bounds), process.exited]);
  return { ...output, exit };
}
