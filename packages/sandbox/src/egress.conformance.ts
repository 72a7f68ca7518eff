import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { NetworkPermission } from '@sallyport/std/permissions';
import { type CollectedOutput, collectOutput } from './collect-output.ts';
import { isContained, type OpenedDriver } from './driver.conformance.ts';
import type { SandboxDriver, SandboxExit, SandboxLimits, SandboxProcess, SandboxSpec } from './driver.port.ts';
import { createEgressGate, type EgressGate } from './egress-gate.ts';
import { hostileNetworkPrograms } from './hostile-programs.ts';

const LIMITS: SandboxLimits = { cpuMillicores: 2000, memoryMb: 128, processesMax: 32, diskMb: 8 };

/** Sends its third argument to a host and port, and prints the answer. Uses only Perl's own sockets. */
const CLIENT = `
use Socket qw(:all);
my ($host, $port, $text) = @ARGV;
my $address = gethostbyname($host) or die "no such name\\n";
socket(my $s, AF_INET, SOCK_STREAM, 0) or die;
connect($s, pack_sockaddr_in($port, $address)) or die "no connection: $!\\n";
syswrite($s, $text); shutdown($s, 1);
while (1) { my $got = sysread($s, my $part, 65536); die "cut: $!\\n" if !defined $got; last if !$got; print $part }
`;
const ask = (host: string, port: number, text = 'hello'): SandboxSpec['command'] => [
  '/usr/bin/perl',
  '-e',
  CLIENT,
  host,
  String(port),
  text,
];

type Test = (name: string, run: () => Promise<void>) => void;

/** Opens a driver whose sandboxes use the gate for connections. */
export type OpenWithGate = (gate: EgressGate) => Promise<OpenedDriver>;

/** Conformance of every SandboxDriver with `supports.egress`. The host must have sh and perl in /usr. */
export function sandboxEgressConformance(test: Test, adapter: string, open: OpenWithGate): void {
  const check = checkWith(test, adapter, open);
  wayCases(check);
  refusalCases(check);
  endCases(check);
  for (const { name } of hostileNetworkPrograms('granted.test', 1)) {
    check(`a program that ${name} is contained`, async ({ driver, run, port }) => {
      const program = hostileNetworkPrograms('granted.test', port).find((other) => other.name === name);
      ok(program !== undefined);
      const { stdout, stderr } = await run(program.command, [{ host: 'granted.test', port }]);
      ok(isContained(program, driver, stdout), `${stdout}${stderr}`);
    });
  }
}

/**
 * The parts of a case: an echo server on the loopback of the host, and sandboxes for which every name resolves to it.
 */
interface Outside {
  readonly driver: SandboxDriver;
  readonly port: number;
  /** Open connections of the server. */
  readonly held: ReadonlySet<Socket>;
  /** The largest number of connections that were open at one time. */
  mostHeld(): number;
  /** Names that were resolved. */
  readonly asked: readonly string[];
  start(
    command: SandboxSpec['command'],
    network: readonly NetworkPermission[],
    changes?: Partial<SandboxSpec>,
  ): Promise<SandboxProcess>;
  run(
    command: SandboxSpec['command'],
    network: readonly NetworkPermission[],
    changes?: Partial<SandboxSpec>,
  ): Promise<CollectedOutput & { exit: SandboxExit }>;
}

type Check = (name: string, run: (outside: Outside) => Promise<void>) => void;

function checkWith(test: Test, adapter: string, open: OpenWithGate): Check {
  return (name, run) =>
    test(`${name} (${adapter})`, async () => {
      const held = new Set<Socket>();
      let most = 0;
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        held.add(socket);
        most = Math.max(most, held.size);
        socket.on('error', () => {}).on('close', () => held.delete(socket));
        socket.pipe(socket);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const asked: string[] = [];
      const opened = await open(testGate(asked));
      try {
        await run(
          outsideOf(opened, { port: (server.address() as AddressInfo).port, held, mostHeld: () => most, asked }),
        );
      } finally {
        for (const socket of held) socket.destroy();
        server.close();
        await opened.close();
      }
    });
}

/** A name resolves to the loopback first, and later to an address that is not allowed; private names do so at once. */
function testGate(asked: string[]): EgressGate {
  return createEgressGate({
    policy: { allowedAddresses: ['127.0.0.1', '127.9.9.9'] },
    resolver: async (host) => {
      const isAgain = asked.includes(host);
      asked.push(host);
      if (host.startsWith('nobody')) return ['127.9.9.9'];
      return isAgain || host.startsWith('private') ? ['127.0.0.1', '10.0.0.1'] : ['127.0.0.1'];
    },
  });
}

function outsideOf(
  { driver, mounts = [] }: OpenedDriver,
  server: Pick<Outside, 'port' | 'held' | 'mostHeld' | 'asked'>,
): Outside {
  const start: Outside['start'] = (command, network, changes = {}) =>
    driver.start({ label: 'suite', environment: {}, limits: LIMITS, ...changes, command, network, mounts });
  return {
    ...server,
    driver,
    start,
    async run(command, network, changes) {
      const process = await start(command, network, changes);
      process.stdin.end();
      const bounds = { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB };
      const [output, exit] = await Promise.all([collectOutput(process, bounds), process.exited]);
      return { ...output, exit };
    },
  };
}

function wayCases(check: Check): void {
  check(
    'SBX-04.1 SBX-04.4 SBX-07.2 a granted host is reached under its own name, and bytes are counted',
    async ({ run, port }) => {
      const { stdout, stderr, exit } = await run(ask('granted.test', port), [{ host: 'granted.test', port }]);
      equal(stdout, 'hello', stderr);
      deepEqual(exit.network, { bytesSent: 5, bytesReceived: 5, connections: 1, refused: 0, refusals: [] });
    },
  );

  check('no variable is needed for that, and none is set', async ({ run, port }) => {
    const { stdout } = await run(['/usr/bin/env'], [{ host: 'granted.test', port }]);
    ok(!/proxy/i.test(stdout), stdout);
  });

  check('hosts side by side are distinguished', async ({ run, port }) => {
    const network = ['one.test', 'two.test', 'three.test'].map((host) => ({ host, port }));
    const script = ['one', 'two', 'three'].map((name) => `perl -e "$0" ${name}.test ${port} ${name}`).join('; ');
    const { stdout, stderr } = await run(['/bin/sh', '-c', script, CLIENT], network);
    equal(stdout, 'onetwothree', stderr);
  });

  check('localhost in a grant is the loopback of the host', async ({ run, port }) => {
    equal((await run(ask('localhost', port), [{ host: 'localhost', port }])).stdout, 'hello');
    equal((await run(ask('127.0.0.1', port), [{ host: '127.0.0.1', port }])).stdout, 'hello');
  });

  check('a privileged port is reached like the others', async ({ run }) => {
    const { stdout, exit } = await run(ask('nobody.test', 443), [{ host: 'nobody.test', port: 443 }]);
    // No server listens at this port, so only the refusal shows that the connection was tried.
    equal(stdout, '');
    match(exit.network?.refusals[0]?.why ?? '', /nobody\.test:443 could not be reached/);
  });

  check('much goes through whole', async ({ run, port }) => {
    const code = `${CLIENT.replace('syswrite($s, $text); shutdown($s, 1);', 'if (!fork) { my $x = "x" x 65536; for (1..256) { my $at = 0; $at += syswrite($s, $x, 65536 - $at, $at) while $at < 65536 } shutdown($s, 1); exit }').replace('print $part', '$sum += $got')} print $sum;`;
    const { stdout, exit, stderr } = await run(
      ['/usr/bin/perl', '-e', code, 'granted.test', String(port)],
      [{ host: 'granted.test', port }],
    );
    equal(Number(stdout), 16 * MiB, stderr);
    deepEqual([exit.network?.bytesSent, exit.network?.bytesReceived], [16 * MiB, 16 * MiB]);
  });

  check('a pattern reaches clients that use a proxy', async ({ run, port }) => {
    const client = `use Socket qw(:all); my ($at, $to) = $ENV{HTTPS_PROXY} =~ m{^http://([\\d.]+):(\\d+)$} or die;
      for my $host (@ARGV) { socket(my $s, AF_INET, SOCK_STREAM, 0); connect($s, pack_sockaddr_in($to, inet_aton($at))) or die;
      syswrite($s, "CONNECT $host HTTP/1.1\\r\\n\\r\\n"); sysread($s, my $got, 999); print $got =~ /^HTTP\\S+ (\\d+)/, " " }`;
    const targets = [`a.granted.test:${port}`, `granted.test:${port}`, `a.granted.test:0${port}`, `127.0.0.1:${port}`];
    const { stdout, stderr } = await run(
      ['/usr/bin/perl', '-e', client, ...targets],
      [{ host: '*.granted.test', port: 0 }],
    );
    equal(stdout, '200 403 400 403 ', stderr);
  });
}

function refusalCases(check: Check): void {
  check('SBX-04.2 a name is looked up outside, once, and leads where it led first', async ({ run, port, asked }) => {
    const network = [{ host: 'granted.test', port }];
    const script = `for i in 1 2 3; do perl -e "$0" granted.test ${port} $i; done`;
    equal((await run(['/bin/sh', '-c', script, CLIENT], network)).stdout, '123');
    deepEqual(asked, ['granted.test']);
  });

  check(
    'SBX-04.3 a granted name that leads to a private address is refused, and it is said',
    async ({ run, port, held }) => {
      const network = [{ host: 'private.test', port }];
      const { stdout, exit } = await run(ask('private.test', port), network);
      equal(stdout, '');
      equal(held.size, 0);
      equal(exit.network?.refused, 1);
      match(exit.network?.refusals[0]?.why ?? '', /private\.test leads to an address that is not allowed: 10\.0\.0\.1/);
    },
  );

  check('SBX-04 a host or port that is none is refused at the start', async ({ start }) => {
    for (const host of ['a b', 'a\n10.0.0.1 b', '0x7f.1', '127.1', '']) {
      await rejects(start(['/bin/true'], [{ host, port: 80 }]), { code: 'E3104' }, host);
    }
    await rejects(start(['/bin/true'], [{ host: 'a.test', port: 70_000 }]), { code: 'E3104' });
  });

  check('a sandbox without granted addresses has no way, beside one that has', async ({ run, port }) => {
    const granted = run(ask('granted.test', port), [{ host: 'granted.test', port }]);
    const { stdout, exit } = await run(ask('granted.test', port), []);
    equal(stdout, '');
    equal(exit.network, undefined);
    equal((await granted).stdout, 'hello');
  });

  check(
    'a flood of connections costs the tool its connections, not the host its server',
    async ({ run, port, mostHeld }) => {
      const code = `use Socket qw(:all); my $to = pack_sockaddr_in(${port}, (gethostbyname("granted.test"))[4]); my @all;
      # A reset may come while the connection is being made.
      for (1..900) { socket(my $s, AF_INET, SOCK_STREAM, 0) or last; connect($s, $to); push @all, $s }
      my $sockets = ''; vec($sockets, fileno $_, 1) = 1 for @all;
      # Until all beyond the 256 are refused: a refused one is readable, a held one is not.
      for (my $refused = 0; $refused < 644; select undef, undef, undef, 0.02) { $refused = select my $ready = $sockets, undef, undef, 1 }
      print scalar @all`;
      const { exit, stdout, stderr } = await run(['/usr/bin/perl', '-e', code], [{ host: 'granted.test', port }]);
      equal(stdout, '900', `${stderr} ${JSON.stringify(exit)}`);
      ok((exit.network?.refused ?? 0) > 0);
      equal(exit.network?.connections, 900);
      // A connection that ends makes room for the next, so only the number at one time is bounded.
      ok(mostHeld() <= 256, `${mostHeld()}`);
    },
  );
}

function endCases(check: Check): void {
  const holding = `${CLIENT.replace('shutdown($s, 1);', '$| = 1; print "standing\\n"; sleep 60;')}`;

  check('SBX-08 a killed sandbox leaves no connection', async ({ start, port, held }) => {
    await using running = await start(
      ['/usr/bin/perl', '-e', holding, 'granted.test', String(port), 'x'],
      [{ host: 'granted.test', port }],
    );
    await once(running.stdout, 'data');
    await until(() => held.size === 1);
    running.kill();
    await running.exited;
    await until(() => held.size === 0);
  });

  check('SBX-08 a kill right after the start leaves nothing', async ({ start, port, held }) => {
    const network = [{ host: 'granted.test', port }];
    const all = await Promise.all([1, 2, 3, 4].map(() => start(ask('granted.test', port), network)));
    for (const running of all) running.kill();
    await Promise.all(all.map(({ exited }) => exited));
    await until(() => held.size === 0);
  });

  check('what a tool sent before its end arrives', async ({ start, port }) => {
    const code = `${CLIENT.slice(0, CLIENT.indexOf('syswrite'))} syswrite($s, "x" x 100000);`;
    const running = await start(
      ['/usr/bin/perl', '-e', code, 'granted.test', String(port)],
      [{ host: 'granted.test', port }],
    );
    running.stdout.resume();
    running.stderr.resume();
    equal((await running.exited).network?.bytesSent, 100_000);
  });

  check('SBX-04.5 bandwidth is bounded', async ({ run, port }) => {
    const limits = { ...LIMITS, networkBandwidthMbps: 8 };
    const code = `${CLIENT.replace('syswrite($s, $text);', 'if (!fork) { syswrite($s, "x" x 4096) for 1..50; shutdown($s, 1); exit }').replace('shutdown($s, 1);\nwhile', 'while')}`;
    const began = performance.now();
    await run(['/usr/bin/perl', '-e', code, 'granted.test', String(port)], [{ host: 'granted.test', port }], {
      limits,
    });
    // 200 KiB in each direction at 1 MB a second take some 400 ms; a busy machine may only be slower.
    ok(performance.now() - began > 300);
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}
