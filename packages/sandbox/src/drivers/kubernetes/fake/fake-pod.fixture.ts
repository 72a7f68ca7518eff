import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A program that runs in a pod, as the API server sees it. */
export interface PodExec {
  input(bytes: Buffer): void;
  endInput(): void;
}

/** Output and end of a program in a pod. */
export interface PodExecEvents {
  output(channel: 1 | 2, bytes: Buffer): void;
  /** Exit code; 128 + n for signal n. */
  exit(code: number): void;
}

/** The containers of one pod. */
export interface FakePod {
  exec(command: readonly string[], events: PodExecEvents): PodExec;
  /** Ends all processes of the pod. */
  end(): Promise<void>;
}

/**
 * The first process of the pod. It runs programs, and reports the end of a program when its outputs are closed, as
 * containerd does.
 */
const AGENT = `
const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const children = new Map();
const say = (word) => process.stdout.write(JSON.stringify(word) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, command, data, end } = JSON.parse(line);
  if (command) {
    const child = spawn(command[0], command.slice(1), { stdio: 'pipe', cwd: '/' });
    children.set(id, child);
    child.stdin.on('error', () => {});
    child.stdout.on('data', (part) => say({ id, channel: 1, data: part.toString('base64') }));
    child.stderr.on('data', (part) => say({ id, channel: 2, data: part.toString('base64') }));
    child.on('error', () => say({ id, code: 127 }));
    child.on('close', (code, signal) => say({ id, code: code ?? 128 + constants.signals[signal] }));
  }
  if (data !== undefined) children.get(id)?.stdin.write(Buffer.from(data, 'base64'));
  if (end) children.get(id)?.stdin.end();
});
`;

const BUBBLEWRAP = 'bwrap';
const NODE_INSIDE = '/opt/node';

/**
 * Starts a real pod: bubblewrap gives it namespaces, a first process, the host's /usr as its image, and environment
 * variables as images have them. It has no limits and no system call filter, so no hostile program may run in it.
 */
export function startRealPod(): FakePod {
  const view = ['--ro-bind', '/usr', '/usr', '--ro-bind', process.execPath, NODE_INSIDE];
  const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]);
  const made = ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/dev/shm', '--tmpfs', '/tmp'];
  const variables = ['--clearenv', '--setenv', 'IMAGE_SAYS', 'one\nexport two', '--setenv', 'PATH', '/usr/bin'];
  const own = ['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'];
  const ends = ['--as-pid-1', '--die-with-parent', '--new-session'];
  const child = spawn(
    BUBBLEWRAP,
    [...own, ...ends, ...view, ...links, ...made, ...variables, NODE_INSIDE, '-e', AGENT],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  child.stdin.on('error', () => {});
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const listeners = new Map<number, PodExecEvents>();
  let ids = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, channel, data, code } = JSON.parse(line) as {
      id: number;
      channel?: 1 | 2;
      data?: string;
      code?: number;
    };
    if (channel !== undefined) listeners.get(id)?.output(channel, Buffer.from(data ?? '', 'base64'));
    if (code !== undefined) listeners.get(id)?.exit(code);
  });
  const say = (word: object): void => void child.stdin.write(`${JSON.stringify(word)}\n`);
  return {
    exec(command, events) {
      ids += 1;
      const id = ids;
      listeners.set(id, events);
      say({ id, command });
      return {
        input: (bytes) => say({ id, data: bytes.toString('base64') }),
        endInput: () => say({ id, end: true }),
      };
    },
    async end() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** A pod scripted by a test, for behaviour that no honest pod shows. */
export function scriptedPod(run: (command: readonly string[], events: PodExecEvents) => PodExec | undefined): FakePod {
  return {
    exec: (command, events) => run(command, events) ?? { input() {}, endInput() {} },
    async end() {},
  };
}
