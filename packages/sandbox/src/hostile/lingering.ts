import { type HostileRun, perlCode, shell } from './hostile-run.ts';

/** Programs that ignore the order to end, or leave a process running. */
export const LINGERING_PROGRAMS: readonly HostileRun[] = [
  {
    name: 'ignores every signal that can be ignored',
    command: perlCode('$SIG{$_} = "IGNORE" for keys %SIG; $| = 1; print "ready\\n"; sleep 1 while 1'),
    kill: true,
    seen: { violation: [undefined], signal: 'SIGKILL' },
  },
  {
    name: 'stops itself',
    command: shell('trap "" TERM; echo ready; kill -STOP $$; sleep 600'),
    kill: true,
    seen: { violation: [undefined], signal: 'SIGKILL' },
  },
  {
    name: 'hides in sessions of its own',
    command: shell(
      'for i in 1 2 3; do setsid sh -c "trap \\"\\" TERM HUP; while :; do sleep 1; done" & done; echo ready; wait',
    ),
    kill: true,
    seen: { violation: [undefined] },
  },
  {
    name: 'forks away from its parent again and again',
    command: perlCode(
      '$| = 1; $SIG{TERM} = "IGNORE"; print "ready\\n"; while (1) { my $p = fork; exit 0 if $p && $$ > 50; if (!$p) { setpgrp; select(undef, undef, undef, 0.02) } else { select(undef, undef, undef, 0.05) } }',
    ),
    kill: true,
    seen: { violation: [undefined, 'processes'] },
  },
  {
    name: 'never takes leave of its dead children',
    command: perlCode('$| = 1; for (1..8) { fork or exit } print "ready\\n"; sleep 600'),
    kill: true,
    seen: { violation: [undefined] },
  },
  {
    name: 'ends and leaves a daemon that holds its outputs',
    command: shell(
      'setsid sh -c "trap \\"\\" TERM HUP; echo started; while :; do sleep 1; done" & while ! test -e /tmp/x; do : >/tmp/x; done; exit 0',
    ),
    seen: { violation: [undefined], code: 0 },
  },
  {
    name: 'ends and leaves a daemon that writes for ever',
    command: shell('setsid sh -c "while :; do echo more; sleep 0.01; done" & sleep 0.2; exit 0'),
    seen: { violation: [undefined], code: 0 },
  },
  {
    name: 'kills all that it can reach',
    command: shell('trap "" TERM; kill -s KILL -- -1; kill -s KILL 1; echo still here'),
    seen: { violation: [undefined] },
  },
];
