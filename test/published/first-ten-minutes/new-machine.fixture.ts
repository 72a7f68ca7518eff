import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MiB } from '@sallyport/std/bytes';
import { ROOT } from '../../../scripts/project-files.ts';

const run = promisify(execFile);
/** The PATH of a new user's shell, without programs of this checkout. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** `npm ci` without a cache takes a minute, or longer on a slow connection. */
const ENDS_MS = 400_000;

/** A fresh clone in an empty home folder, on a machine where this checkout cannot be seen. */
export interface NewMachine extends AsyncDisposable {
  readonly clone: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The words to put before a command, so that it runs on this machine. */
  readonly wrapper: readonly string[];
  /** Runs a line in a shell; returns both outputs as one text, and rejects when the line fails. */
  sh(line: string): Promise<string>;
  /** Runs a line that must end with this exit code; returns both outputs as one text. */
  failing(line: string, code: number): Promise<string>;
  /**
   * Starts a command that keeps running, and waits until its output matches. @returns the output so far, and a function
   * that stops the command as Ctrl-C does
   */
  start(line: string, until: RegExp): Promise<{ readonly said: string; stop(): Promise<void> }>;
}

/** Copies the files of the checkout that git does not ignore; nothing is installed. */
export async function newMachine(): Promise<NewMachine> {
  const home = await mkdtemp(join(tmpdir(), 'new-machine-'));
  const clone = join(home, 'sallyport');
  await mkdir(clone);
  const files = 'git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$1"';
  await run('sh', ['-c', files, 'sh', clone], { cwd: ROOT });
  const env = { HOME: home, PATH: SYSTEM_PATH, ...ofNpm() };
  // In a new mount namespace an empty folder hides the checkout, so that no package installed in it is found.
  const hidden = 'mount -t tmpfs none "$0" && cd "$1" && shift && exec "$@"';
  const wrapper = ['unshare', '--mount', 'sh', '-c', hidden, ROOT, clone];
  const [program = '', ...args] = wrapper;
  const said = async (line: string): Promise<{ code: number; text: string }> => {
    try {
      const options = { cwd: clone, env, timeout: ENDS_MS, maxBuffer: 16 * MiB };
      const { stdout, stderr } = await run(program, [...args, 'sh', '-c', line], options);
      return { code: 0, text: stdout + stderr };
    } catch (thrown) {
      const {
        code,
        stdout = '',
        stderr = String(thrown),
      } = thrown as { code?: number; stdout?: string; stderr?: string };
      return { code: typeof code === 'number' ? code : -1, text: stdout + stderr };
    }
  };
  const failing: NewMachine['failing'] = async (line, wanted) => {
    const { code, text } = await said(line);
    if (code !== wanted) throw new Error(`${line} ended with ${code} instead of ${wanted}: ${text.slice(-4_000)}`);
    return text;
  };
  return {
    clone,
    home,
    env,
    wrapper,
    sh: (line) => failing(line, 0),
    failing,
    start: (line, until) => startOn({ clone, env, wrapper }, line, until),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Variables of the environment that say how to reach a registry from here. */
function ofNpm(): Record<string, string> {
  const said = Object.entries(process.env).filter(([name]) =>
    /^(NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name),
  );
  return Object.fromEntries(said.map(([name, value = '']) => [name, value]));
}

async function startOn(
  { clone, env, wrapper }: Pick<NewMachine, 'clone' | 'env' | 'wrapper'>,
  line: string,
  until: RegExp,
): ReturnType<NewMachine['start']> {
  const [program = '', ...args] = wrapper;
  const child = spawn(program, [...args, 'sh', '-c', line], {
    cwd: clone,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let said = '';
  const isSaid = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (until.test(said)) resolve();
      });
    }
    void exited.then(() => reject(new Error(`${line} ended: ${said.slice(-4_000)}`)));
  });
  const stop = async (): Promise<void> => {
    signal(child.pid, 'SIGINT');
    await exited;
    while (signal(child.pid, 0)) await setTimeout(50);
  };
  await isSaid;
  return { said, stop };
}

/** Sends a signal to a program and all its child processes, as a terminal does; false when none of them is left. */
function signal(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, name);
  } catch {
    return false;
  }
}

/** Whether a process may create a mount namespace here, which is needed to hide the checkout. */
export const mayHide = await run('unshare', ['--mount', 'true']).then(
  () => true,
  () => false,
);
