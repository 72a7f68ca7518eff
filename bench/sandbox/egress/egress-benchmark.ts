import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  createEgressGate,
  runtimeMounts,
  type SandboxDriver,
  type SandboxProcess,
  type SandboxSpec,
} from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { MiB } from '@sallyport/std/bytes';
import { type BenchmarkRun, ROUNDS } from '../../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';
import type { Answer, Order } from './client.ts';

const NAME = 'server.bench.test';
const SHAPED_MBPS = 80;
const BITS_PER_BYTE = 8;
const BITS_PER_MEGABIT = 1_000_000;
const STARTS_PER_ROUND = 5;
const LIMITS = { cpuMillicores: 4000, memoryMb: 512, processesMax: 64, diskMb: 8 } as const;
/** Buffers of the kernel and of the sockets on the way fill faster than the rate allows. */
const SHAPED_SHARE = 3;

/** A client that measures on request. */
interface Client {
  ask(order: Order): Promise<number>;
  close(): Promise<void>;
}

/** Connections through the gate beside direct ones, in turns: an allowed name leads to a server on the loopback. */
export async function runEgress({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  // Only here the loopback is allowed.
  const gate = createEgressGate({ policy: { allowPrivate: true }, resolver: async () => ['127.0.0.1'] });
  const driver = createBubblewrapDriver({}, gate);
  const { works, problem } = await driver.probe();
  if (!works) throw new Error(`The benchmark needs a sandbox. ${problem ?? ''}`);
  const server = spawn(process.execPath, [join(import.meta.dirname, 'stand-in-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const clients: Client[] = [];
  try {
    const port = Number(String((await once(server.stdout, 'data'))[0]));
    const direct = directClient(port);
    const inside = await sandboxedClient(driver, port);
    const shaped = await sandboxedClient(driver, port, SHAPED_MBPS);
    clients.push(direct, inside, shaped);
    return [
      ...(await measureWays(direct, inside, seconds, report)),
      await measureShaping(shaped, seconds, report),
      ...(await measureStarts(driver, port, report)),
    ];
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    server.kill();
  }
}

interface Way {
  readonly what: Order['what'];
  readonly title: string;
  readonly unit: 'ms' | 'MiB/s';
}

const WAYS: readonly Way[] = [
  { what: 'new', title: 'new connection and one exchange, p50', unit: 'ms' },
  { what: 'kept', title: 'one exchange on a kept connection, p50', unit: 'ms' },
  { what: 'down', title: 'download', unit: 'MiB/s' },
  { what: 'up', title: 'upload', unit: 'MiB/s' },
];
const ADDED_MAX_MS: Readonly<Record<string, number>> = { new: 1.5, kept: 0.3 };
const THROUGHPUT_MIN = 250;

async function measureWays(
  direct: Client,
  inside: Client,
  seconds: number,
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const ms = (seconds * 1000) / ROUNDS;
  for (const { what, title, unit } of WAYS) {
    report(`${title}, direct and through the gate in turns`);
    const taken = { direct: [] as number[], inside: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      taken.direct.push(await direct.ask({ what, ms }));
      taken.inside.push(await inside.ask({ what, ms }));
    }
    const scale = unit === 'ms' ? 1 : MiB;
    const [without, through] = [median(taken.direct) / scale, median(taken.inside) / scale];
    const bound = unit === 'ms' ? undefined : ({ atLeast: THROUGHPUT_MIN } as const);
    figures.push(besidePeer(figureOf(title, unit, through, bound), 'direct', without));
    const addedMax = ADDED_MAX_MS[what];
    if (addedMax !== undefined) {
      figures.push(figureOf(`added by the gate: ${title}`, unit, through - without, { atMost: addedMax }));
    }
  }
  return figures;
}

/** Of each round the error, and of those the largest. */
async function measureShaping(shaped: Client, seconds: number, report: (line: string) => void): Promise<Figure> {
  report(`${SHAPED_MBPS} Mbit/s`);
  const errors: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const perSecond = await shaped.ask({ what: 'down', ms: (seconds * 1000 * SHAPED_SHARE) / ROUNDS });
    const mbps = (perSecond * BITS_PER_BYTE) / BITS_PER_MEGABIT;
    errors.push(Math.abs(mbps / SHAPED_MBPS - 1) * 100);
  }
  return figureOf(`error of a bandwidth of ${SHAPED_MBPS} Mbit/s, worst round`, '%', Math.max(...errors), {
    atMost: 5,
  });
}

async function measureStarts(
  driver: SandboxDriver,
  port: number,
  report: (line: string) => void,
): Promise<readonly Figure[]> {
  report('starts with and without a way out');
  const taken = { without: [] as number[], with: [] as number[] };
  for (let round = 0; round < ROUNDS * STARTS_PER_ROUND; round += 1) {
    taken.without.push(await startMs(driver, []));
    taken.with.push(await startMs(driver, [{ host: NAME, port }]));
  }
  return [
    besidePeer(
      figureOf('cold `true` that may reach one address, p50', 'ms', median(taken.with)),
      'without a way out',
      median(taken.without),
    ),
  ];
}

async function startMs(driver: SandboxDriver, network: SandboxSpec['network']): Promise<number> {
  const began = performance.now();
  const running = await driver.start(specOf(['/bin/true'], network));
  running.stdout.resume();
  running.stderr.resume();
  await running.exited;
  return performance.now() - began;
}

function specOf(command: SandboxSpec['command'], network: SandboxSpec['network'], mbps?: number): SandboxSpec {
  return {
    label: 'benchmark',
    command,
    environment: {},
    mounts:
      command[0] === process.execPath ? [...runtimeMounts(command), { path: import.meta.dirname, mode: 'ro' }] : [],
    network,
    limits: { ...LIMITS, ...(mbps === undefined ? {} : { networkBandwidthMbps: mbps }) },
  };
}

const clientCommand = (host: string, port: number): [string, ...string[]] => [
  process.execPath,
  join(import.meta.dirname, 'client.ts'),
  host,
  String(port),
];

function directClient(port: number): Client {
  const [program, ...rest] = clientCommand('127.0.0.1', port);
  const child: ChildProcess = spawn(program, rest, { env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
  return clientOf({ stdin: child.stdin as Writable, stdout: child.stdout as Readable }, async () => {
    child.kill();
  });
}

async function sandboxedClient(driver: SandboxDriver, port: number, mbps?: number): Promise<Client> {
  const running: SandboxProcess = await driver.start(specOf(clientCommand(NAME, port), [{ host: NAME, port }], mbps));
  running.stderr.pipe(process.stderr);
  return clientOf(running, async () => {
    running.kill();
    await running.exited;
  });
}

function clientOf({ stdin, stdout }: { stdin: Writable; stdout: Readable }, close: () => Promise<void>): Client {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    async ask(order) {
      stdin.write(`${JSON.stringify(order)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('The client ended before it answered.');
      return (JSON.parse(value) as Answer).value;
    },
    close,
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
