import { type HostileRun, perlCode, shell } from './hostile-run.ts';
import { callNumber } from './program.ts';

const NODE_LIMITS = { memoryMb: 192, processesMax: 24 } as const;
const node = (code: string): HostileRun['command'] => [process.execPath, '-e', code];

/** Programs that take without end: memory, processes, disk, descriptors, processor time. */
export const EXHAUSTING_PROGRAMS: readonly HostileRun[] = [
  {
    name: 'takes memory until there is none',
    command: perlCode('my @m; push @m, "x" x 1e6 while 1;'),
    seen: { violation: ['memory'] },
  },
  {
    name: 'takes memory in many children',
    command: perlCode('for (1..8) { fork and next; my $m = "x" x 4e7; sleep 2; exit } wait for 1..8; exit 1'),
    seen: { violation: ['memory'] },
  },
  {
    name: 'calls itself without end',
    command: perlCode('no warnings; sub f { my @x = (1) x 500; f() } f();'),
    seen: { violation: ['memory'] },
  },
  {
    name: 'fills buffers outside of the heap of its runtime',
    command: node('const all = []; for (;;) all.push(Buffer.alloc(8e6, 1));'),
    limits: NODE_LIMITS,
    seen: { violation: ['memory'] },
  },
  {
    name: 'fills the heap of its runtime',
    command: node('const all = []; for (;;) all.push(new Array(1e5).fill(all.length));'),
    limits: NODE_LIMITS,
    seen: { violation: ['memory'] },
  },
  {
    name: 'fills memory that is a file without a name',
    command: perlCode(
      `my $n = "x"; my $fd = syscall(${callNumber('memfdCreate')}, $n, 0); $fd >= 0 or exit 9; open(my $f, ">&=", $fd); print $f "x" x 1e6 for 1..400; exit 1`,
    ),
    // The largest file is reached before the memory is.
    seen: { violation: ['disk', 'memory'] },
  },
  {
    name: 'fills shared memory',
    command: shell(
      'i=0; while head -c 1000000 /dev/zero >/dev/shm/$i; do i=$((i+1)); test $i -gt 99 && exit 9; done; echo full at $i',
    ),
    seen: { violation: [undefined], stdout: /^full at [0-8]\n$/ },
  },
  {
    name: 'fills its scratch space with files',
    command: shell(
      'i=0; while head -c 500000 /dev/zero >/tmp/$i; do i=$((i+1)); test $i -gt 99 && exit 9; done; echo full at $i',
    ),
    seen: { violation: [undefined], stdout: /^full at 1?[0-9]\n$/ },
  },
  {
    name: 'writes one file that is too large',
    command: shell('exec head -c 20000000 /dev/zero >/tmp/file'),
    seen: { violation: ['disk'], signal: 'SIGXFSZ' },
  },
  {
    name: 'writes too large a file of the host',
    command: shell('exec head -c 20000000 /dev/zero >"$1/file"'),
    folder: true,
    seen: { violation: ['disk'], signal: 'SIGXFSZ' },
  },
  {
    name: 'makes a file with a hole of a terabyte',
    command: perlCode('open(my $f, ">", "/tmp/hole"); truncate($f, 1e12); print "made"; exit 1'),
    seen: { violation: ['disk'], signal: 'SIGXFSZ' },
  },
  {
    name: 'makes files without bytes until there is no place for a name',
    command: perlCode(
      'for (1..200000) { open(my $f, ">", "/tmp/$_") or do { print "full"; exit 1 } } print "all"; exit 1',
    ),
    limits: { memoryMb: 24, cpuSecondsMax: 8 },
    // Names are memory of the kernel, which counts it.
    seen: { violation: ['memory'] },
  },
  {
    name: 'opens files until there is no descriptor',
    command: perlCode(
      'my @f; while (@f < 5000) { open(my $f, "<", "/dev/null") or last; push @f, $f } print scalar @f',
    ),
    seen: { violation: [undefined], stdout: /^(?:9\d\d|10[012]\d)$/ },
  },
  {
    name: 'makes processes that stay',
    command: perlCode(
      'my $n = 0; while (defined(my $p = fork)) { $p or do { sleep 60; exit }; last if ++$n > 300 } sleep 1; exit 1',
    ),
    // Enough memory that the number is what counts.
    limits: { memoryMb: 256 },
    seen: { violation: ['processes'] },
  },
  {
    name: 'doubles itself',
    command: perlCode('my $until = time + 4; while (time < $until) { fork } exit 1'),
    seen: { violation: ['processes', 'memory'] },
  },
  {
    name: 'makes processes in sessions of their own',
    command: shell('i=0; while test $i -lt 200; do setsid sleep 60 & i=$((i+1)); done; sleep 1; exit 1'),
    limits: { memoryMb: 256 },
    seen: { violation: ['processes'] },
  },
  {
    name: 'makes threads',
    command: node(
      'const { Worker } = require("worker_threads"); for (let n = 0; n < 200; n++) new Worker("setInterval(() => {}, 1e6)", { eval: true }).on("error", () => {});',
    ),
    limits: { ...NODE_LIMITS, cpuSecondsMax: 20 },
    seen: { violation: ['processes', 'memory'] },
  },
  {
    name: 'computes for ever',
    command: shell('while :; do :; done'),
    limits: { cpuSecondsMax: 1 },
    seen: { violation: ['cpu'] },
  },
  {
    name: 'computes for ever in many processes',
    command: shell('for i in 1 2 3 4; do while :; do :; done & done; wait'),
    limits: { cpuSecondsMax: 1 },
    seen: { violation: ['cpu', undefined] },
  },
  {
    name: 'matches a pattern that never ends',
    command: node('/^(a+)+$/.test("a".repeat(60) + "b")'),
    limits: { ...NODE_LIMITS, cpuSecondsMax: 1 },
    seen: { violation: ['cpu'] },
  },
];
