import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CollectedOutput,
  collectOutput,
  runtimeMounts,
  type SandboxDriver,
  type SandboxExit,
  type SandboxSpec,
} from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { isContained } from '@sallyport/sandbox/conformance';
import { createGvisorDriver } from '@sallyport/sandbox/gvisor';
import { HOSTILE_LIMITS, HOSTILE_PROGRAMS, HOSTILE_RUNS, type HostileRun } from '@sallyport/sandbox/hostile-programs';
import { KiB, MiB } from '@sallyport/std/bytes';
import { describe, expect, test } from 'vitest';
import { hostState, leftSince } from '../host-state.ts';

const DRIVERS: readonly SandboxDriver[] = [createBubblewrapDriver(), createGvisorDriver()];
/** Programs that run at the same time; with more of them the speed of the machine would decide the result. */
const LANES = 3;
const SET_ID_BITS = 0o6000;
const OUTPUT_BOUNDS = { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB, drainedBytesMax: 2 * MiB };

for (const driver of DRIVERS) {
  const probe = await driver.probe();
  describe.skipIf(!probe.works)(`${driver.name}${probe.works ? '' : `, skipped: ${probe.problem}`}`, () => {
    test('SBX-03.4 SBX-03.5 SBX-08 no program leaves its sandbox, and none leaves anything', async () => {
      const before = hostState();
      const escaped: string[] = [];
      await inLanes(HOSTILE_PROGRAMS, async (program) => {
        const { stdout, stderr } = await outcome(driver, { command: program.command });
        if (!isContained(program, driver, stdout)) escaped.push(`${program.name}: ${stdout}${stderr}`);
      });
      expect(escaped).toEqual([]);
      expect(await leftSince(before)).toEqual([]);
    }, 120_000);

    for (const [group, runs] of Object.entries(HOSTILE_RUNS)) {
      test(`SBX-03.1 SBX-03.3 SBX-08.1 SBX-08.2 ${group}: each program ends as it must, the limit is named, and nothing is left`, async () => {
        const before = hostState();
        const wrong: string[] = [];
        await inLanes(runs, async (run) => {
          wrong.push(...(await faultsOf(driver, run)).map((fault) => `${run.name}: ${fault}`));
        });
        expect(wrong).toEqual([]);
        expect(await leftSince(before)).toEqual([]);
      }, 120_000);
    }

    test('SBX-03 what a program listens at or sends is not seen outside', async () => {
      const before = hostState();
      const receiver = createSocket('udp4').bind(0, '127.0.0.1');
      const abstract = createServer().listen(`\0hostile-${process.pid}`);
      await Promise.all([once(receiver, 'listening'), once(abstract, 'listening')]);
      let received = 0;
      receiver.on('message', () => {
        received += 1;
      });
      const running = await driver.start(specOf(knocking(receiver.address().port, `hostile-${process.pid}`)));
      let said = '';
      for await (const part of running.stdout) {
        said += String(part);
        if (said.split('\n').length > 2) break;
      }
      const [way, port] = said.split('\n');
      expect(way).toBe('apart');
      expect(await greetingAt(Number(port))).not.toBe('hostile');
      running.kill();
      await running.exited;
      expect(received).toBe(0);
      receiver.close();
      abstract.close();
      expect(await leftSince(before)).toEqual([]);
    }, 60_000);
  });
}

/**
 * A program that listens at every address, sends a datagram, connects to an abstract socket of the host, and prints the
 * results.
 */
function knocking(port: number, name: string): Pick<SandboxSpec, 'command'> {
  const code = `use Socket qw(:all); $| = 1;
    socket(my $l, AF_INET, SOCK_STREAM, 0); bind($l, pack_sockaddr_in(0, INADDR_ANY)) && listen($l, 5) or die;
    socket(my $u, AF_INET, SOCK_DGRAM, 0); send($u, "x", 0, pack_sockaddr_in(${port}, inet_aton("127.0.0.1")));
    socket(my $a, AF_UNIX, SOCK_STREAM, 0); print connect($a, pack_sockaddr_un("\\0${name}")) ? "ESCAPED\\n" : "apart\\n";
    print +(unpack_sockaddr_in(getsockname $l))[0], "\\n"; while (accept(my $c, $l)) { print $c "hostile" }`;
  return { command: ['/usr/bin/perl', '-e', code] };
}

/** The first bytes that a server on the host's loopback sends; empty when there is no server. */
async function greetingAt(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (part) => {
    said += String(part);
    socket.destroy();
  });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('close', () => resolve());
  // No server listens at the port.
  socket.on('error', () => {});
  socket.setTimeout(500, () => socket.destroy());
  await closed;
  return said;
}

function specOf(changes: Pick<SandboxSpec, 'command'> & Partial<SandboxSpec>): SandboxSpec {
  const runtime = runtimeMounts(changes.command);
  return {
    label: 'hostile',
    environment: {},
    network: [],
    limits: HOSTILE_LIMITS,
    ...changes,
    mounts: [...runtime, ...(changes.mounts ?? [])],
  };
}

interface Outcome extends CollectedOutput {
  readonly exit: SandboxExit;
}

async function outcome(
  driver: SandboxDriver,
  changes: Pick<SandboxSpec, 'command'> & Partial<SandboxSpec>,
  kill = false,
): Promise<Outcome> {
  const running = await driver.start(specOf(changes));
  running.stdin.end();
  if (kill) running.stdout.once('data', () => running.kill(50));
  const [output, exit] = await Promise.all([collectOutput(running, OUTPUT_BOUNDS), running.exited]);
  return { ...output, exit };
}

/** Descriptions of everything that is wrong after the run. */
async function faultsOf(driver: SandboxDriver, run: HostileRun): Promise<readonly string[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
  try {
    const command: SandboxSpec['command'] = run.folder === true ? [...run.command, folder] : run.command;
    const ended = await outcome(
      driver,
      {
        command,
        environment: run.environment ?? {},
        limits: { ...HOSTILE_LIMITS, ...run.limits },
        mounts: run.folder === true ? [{ path: folder, mode: 'rw' }] : [],
      },
      run.kill,
    );
    return [...faultsIn(ended, run.seen), ...faultsInFolder(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function faultsIn({ exit, stdout, stderr, flooded }: Outcome, seen: HostileRun['seen']): readonly string[] {
  const told = `${JSON.stringify(exit)} ${stderr.slice(0, 200)}`;
  return [
    ...(seen.violation.includes(exit.violation) ? [] : [`the limit is ${exit.violation}: ${told}`]),
    ...(seen.stdout?.test(stdout) === false ? [`it said ${JSON.stringify(stdout.slice(0, 200))}: ${told}`] : []),
    ...(seen.signal !== undefined && exit.signal !== seen.signal ? [`the signal is ${exit.signal}: ${told}`] : []),
    ...(seen.code !== undefined && exit.code !== seen.code ? [`the code is ${exit.code}: ${told}`] : []),
    ...((seen.flooded ?? false) === flooded ? [] : [`the flood was${flooded ? '' : ' not'} seen: ${told}`]),
  ];
}

/** No file in a folder of the host may have set-id bits, or be a device. */
function faultsInFolder(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const stats = lstatSync(join(folder, name));
    const isOdd = (stats.mode & SET_ID_BITS) !== 0 || stats.isBlockDevice() || stats.isCharacterDevice();
    return isOdd ? [`it left ${name} with the mode ${stats.mode.toString(8)}`] : [];
  });
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
