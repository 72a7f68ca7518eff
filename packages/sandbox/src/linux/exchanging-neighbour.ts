import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Numbers of renameat2. */
const RENAMEAT2: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 316, arm64: 276 };

/** Flag 2 of renameat2 is RENAME_EXCHANGE; -100 is AT_FDCWD. */
const PROGRAM = String.raw`my ($call, $pause, $one, $other) = @ARGV; $| = 1; print "begun\n";
for (;;) { syscall($call + 0, -100, $one, -100, $other, 2); select(undef, undef, undef, $pause / 1e6) if $pause > 0 }`;

/**
 * For tests of drivers: exchanges two names repeatedly, as a tool that may write around a granted folder can, until
 * disposed.
 * @param pauseUs pause between two exchanges, in microseconds
 */
export async function exchangingNeighbour(one: string, other: string, pauseUs: number): Promise<Disposable> {
  const neighbour = spawn('/usr/bin/perl', ['-e', PROGRAM, `${RENAMEAT2[process.arch]}`, `${pauseUs}`, one, other], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(neighbour.stdout, 'data');
  return { [Symbol.dispose]: () => void neighbour.kill('SIGKILL') };
}
