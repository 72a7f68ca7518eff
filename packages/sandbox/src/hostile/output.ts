import { type HostileRun, perlCode, shell } from './hostile-run.ts';

/** Programs whose harm is in what they write or leave as a result. Outputs are kept to 64 KiB and drained to 2 MiB. */
export const OUTPUT_PROGRAMS: readonly HostileRun[] = [
  {
    name: 'floods its output',
    command: ['/usr/bin/yes'],
    seen: { violation: [undefined], signal: 'SIGKILL', flooded: true },
  },
  {
    name: 'floods its error output',
    command: shell('exec yes >&2'),
    seen: { violation: [undefined], signal: 'SIGKILL', flooded: true },
  },
  {
    name: 'writes one line of 200 MB',
    command: shell('exec head -c 200000000 /dev/zero'),
    seen: { violation: [undefined], signal: 'SIGKILL', flooded: true },
  },
  {
    name: 'unpacks little into much',
    command: shell('head -c 3000000 /dev/zero | gzip -c >/tmp/z; while gzip -dc /tmp/z; do :; done'),
    seen: { violation: [undefined], signal: 'SIGKILL', flooded: true },
  },
  {
    name: 'writes bytes that are no text, and codes of a terminal',
    command: perlCode('print "\\xff\\xfe\\x1b]0;title\\x07\\x1b[2J\\x00end"'),
    // Only data: the code that shows it screens it.
    seen: { violation: [undefined], code: 0, stdout: /^\uFFFD{2}.\]0;title.{2}\[2J.end$/ },
  },
  {
    name: 'leaves a link in the place of its result',
    command: shell('ln -s /etc/shadow "$1/result" && echo left'),
    folder: true,
    seen: { violation: [undefined], code: 0, stdout: /^left\n$/ },
  },
  {
    name: 'leaves a fifo in the place of its result',
    command: shell('mkfifo "$1/result"; echo ended'),
    folder: true,
    seen: { violation: [undefined], stdout: /^ended\n$/ },
  },
  {
    name: 'leaves a set-uid program in the folder of another',
    command: shell('cp /bin/sh "$1/sh"; chmod 4755 "$1/sh"; test -u "$1/sh" && echo ESCAPED; echo ended'),
    folder: true,
    seen: { violation: [undefined], stdout: /^ended\n$/ },
  },
  {
    name: 'leaves a device in a folder of the host',
    command: shell('mknod "$1/device" b 8 0 && echo ESCAPED; mknod "$1/device" c 1 3 && echo ESCAPED; echo ended'),
    folder: true,
    seen: { violation: [undefined], stdout: /^ended\n$/ },
  },
  {
    name: 'asks for a library to be loaded into the sandbox itself',
    command: shell('echo ran'),
    environment: { LD_PRELOAD: '/tmp/library.so', LD_AUDIT: '/tmp/library.so', BASH_ENV: '/tmp/x', ENV: '/tmp/x' },
    seen: { violation: [undefined], code: 0, stdout: /^ran\n$/ },
  },
];
