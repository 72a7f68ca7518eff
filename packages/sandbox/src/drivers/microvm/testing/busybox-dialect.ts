import type { Dialect } from '../../../driver.conformance.ts';
import type { SandboxSpec } from '../../../driver.port.ts';

type Command = SandboxSpec['command'];

const sh = (script: string, ...args: string[]): Command => ['/bin/sh', '-c', script, 'sh', ...args];

/** For drivers whose image has busybox and nothing else. */
export const busyboxDialect: Dialect = {
  echo: (argument) => sh('cat; echo "$1"; echo err >&2; exit 7', argument),
  asks: sh('echo ask >&2; read -r line; echo "$line"'),
  environment: ['/usr/bin/env'],
  nothing: ['/bin/true'],
  twoOutputs: sh('echo out; echo err >&2'),
  hold: (mark) => sh('trap "" TERM; echo ready; while :; do sleep 1; done', mark),
  missing: [['no-such-program'], ['/usr/bin/no-such-program']],
  work: ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=40M', 'count=4'],
  memoryBomb: sh('while :; do dd if=/dev/zero of=/dev/null bs=150M count=1 || exit 1; done'),
  spin: sh('while :; do :; done'),
  flood: ['/usr/bin/yes'],
  sh,
  workingDirectory: ['/bin/pwd'],
  segfault: sh('kill -SEGV $$'),
  manyHolding: sh(
    'for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/dev/null bs=40M count=3 & done 2>/dev/null; wait; exit 1',
  ),
  forkBomb: sh('n=0; while [ $n -lt 500 ]; do sleep 60 & n=$((n + 1)); done; echo $n; exit 1'),
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
