import type { Dialect } from './dialect.ts';
import type { Command } from './suite.ts';

const sh = (script: string, ...args: string[]): Command => ['/bin/sh', '-c', script, 'sh', ...args];
const perl = (code: string): Command => ['/usr/bin/perl', '-e', code];

/** For drivers that run the host's own programs: it must have sh and perl in /usr. */
export const hostDialect: Dialect = {
  echo: (argument) => sh('cat; echo "$1"; echo err >&2; exit 7', argument),
  asks: sh('echo ask >&2; read -r line; echo "$line"'),
  environment: ['/usr/bin/env'],
  nothing: ['/bin/true'],
  twoOutputs: sh('echo out; echo err >&2'),
  hold: (mark) => sh('trap "" TERM; echo ready; while :; do sleep 1; done', mark),
  missing: [['no-such-program'], ['/usr/bin/no-such-program']],
  work: perl('my $m = "x" x 3e7; my $i = 0; $i++ while $i < 8e6;'),
  memoryBomb: perl('my @m; push @m, "x" x 1e6 while 1;'),
  spin: sh('while :; do :; done'),
  flood: ['/usr/bin/yes'],
  sh,
  workingDirectory: ['/bin/pwd'],
  segfault: sh('kill -SEGV $$'),
  runtime: [process.execPath, '-p', '[6 * 7, os.userInfo().username, os.hostname()].join()'],
  manyHolding: perl('for (1..8) { fork and next; my $m = "x" x 4e7; sleep 1; exit } wait for 1..8; exit 1'),
  forkBomb: perl(
    'my $n = 0; while (defined(my $p = fork)) { $p or do { sleep 60; exit }; last if ++$n > 500 } print $n; sleep 1; exit 1',
  ),
  endOnTerm: sh('trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done'),
  tree: (mark) =>
    sh(
      'trap "" TERM HUP; for i in 1 2 3; do setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1" & done; setsid sh -c "kill -STOP \\$\\$" "$1" & echo ready; while :; do sleep 1; done',
      mark,
    ),
  leaveBehind: (mark) =>
    sh(
      'setsid sh -c "trap \\"\\" TERM HUP; echo started; while :; do sleep 1; done" "$1" & while ! test -e /tmp/x; do echo done; : >/tmp/x; done',
      mark,
    ),
};
