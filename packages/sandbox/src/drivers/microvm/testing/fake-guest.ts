import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

/** Misbehaviour of the fake guest. */
export interface GuestFaults {
  /** Its answer to `hello`. */
  readonly greeting?: string;
  /** Its answer to `start` instead of starting. */
  readonly refusal?: string;
  /** Called when the job has started. */
  readonly onStarted?: () => void;
}

/**
 * The agent's side of the protocol over vsock. It starts the job's program on this computer, so it gets none but those of
 * tests. `fetch HOST PORT` stands for a client inside: it goes out by the guest's own connection.
 */
export class FakeGuest {
  readonly #folder: string;
  readonly #faults: GuestFaults;
  readonly #channels = new Map<number, Socket>();
  #job: ChildProcess | undefined;

  constructor(folder: string, faults: GuestFaults) {
    this.#folder = folder;
    this.#faults = faults;
  }

  /** Takes a connection to one of its ports. @returns false when nobody listens there */
  accept(port: number, socket: Socket, first: Buffer): boolean {
    if (port < 5000 || port > 5003) return false;
    this.#channels.set(port, socket);
    if (port === 5000) this.#serve(socket, first);
    else if (first.length > 0) socket.unshift(first);
    return true;
  }

  end(): void {
    if (this.#job?.pid !== undefined) signalGroup(this.#job.pid, 'SIGKILL');
    for (const socket of this.#channels.values()) socket.destroy();
  }

  #serve(control: Socket, first: Buffer): void {
    let held = first;
    const read = (): void => {
      for (;;) {
        const end = held.indexOf('\n');
        if (end === -1) return;
        const line = held.toString('utf8', 0, end);
        const length = Number(/^start (\d+)$/.exec(line)?.[1] ?? 0);
        if (held.length < end + 1 + length) return;
        const body = held.toString('utf8', end + 1, end + 1 + length);
        held = held.subarray(end + 1 + length);
        this.#receive(control, line, body);
      }
    };
    control.on('data', (part: Buffer) => {
      held = Buffer.concat([held, part]);
      read();
    });
    read();
  }

  #receive(control: Socket, line: string, body: string): void {
    if (line === 'hello 1') control.write(`${this.#faults.greeting ?? 'hello 1'}\n`);
    else if (line.startsWith('start ')) this.#start(control, shellWords(body));
    else if (line === 'stop' && this.#job?.pid !== undefined) process.kill(this.#job.pid, 'SIGTERM');
  }

  #start(control: Socket, words: readonly string[]): void {
    const options = new Map<string, string>();
    let at = 0;
    for (; words[at] !== '--' && at < words.length; at += 2) options.set(words[at] ?? '', words[at + 1] ?? '');
    const rest = words.slice(at + 1);
    const first = rest.findIndex((word) => !word.includes('='));
    const environment = Object.fromEntries(
      rest.slice(0, first).map((word) => word.split(/=(.*)/s) as [string, string]),
    );
    const [program = '', ...args] = rest.slice(first);
    if (this.#faults.refusal !== undefined) {
      control.write(`failed ${this.#faults.refusal}\n`);
      return;
    }
    if (program === 'fetch') {
      this.#fetch(control, args, options.get('egress_port') ?? '', options.get('mark') ?? '');
      return;
    }
    const cwd = options.get('directory') ?? '/tmp';
    if (!existsSync(cwd)) {
      control.write(`failed the working directory ${cwd} does not exist\n`);
      return;
    }
    const command = ['cd "$1" || exit 126; shift; unset OLDPWD; exec "$@"', 'guest', cwd, program, ...args];
    const job = spawn('/bin/sh', ['-c', ...command], { env: environment, detached: true, stdio: 'pipe' });
    this.#job = job;
    this.#channels.get(5001)?.pipe(job.stdin);
    job.stdin.on('error', () => {});
    const mark = options.get('mark') ?? '';
    for (const [port, output] of [
      [5002, job.stdout],
      [5003, job.stderr],
    ] as const) {
      output.pipe(this.#channel(port), { end: false });
      output.once('end', () => this.#channel(port).write(mark));
    }
    control.write('started\n');
    job.once('exit', (code, name) => {
      const status = code ?? 128 + (name === 'SIGSEGV' ? 11 : name === 'SIGTERM' ? 15 : 9);
      control.write(`exit ${status} 60000 31457280 0 0\n`);
    });
    this.#faults.onStarted?.();
  }

  #fetch(control: Socket, [host, port]: readonly string[], egressPort: string, mark: string): void {
    control.write('started\n');
    const way = connect(`${this.#folder}/v.sock_${egressPort}`);
    way.on('error', () => {});
    way.write(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`);
    way.on('data', (part: Buffer) => this.#channel(5002).write(part));
    way.once('close', () => {
      this.#channel(5002).write(mark);
      this.#channel(5003).write(mark);
      control.write('exit 0 1000 1048576 0 0\n');
    });
  }

  #channel(port: number): Socket {
    const socket = this.#channels.get(port);
    if (socket === undefined) throw new Error(`the driver started a job without its channel ${port}`);
    return socket;
  }
}

/** Words in single quotes, as a shell reads them. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  const pattern = /(?:'[^']*'|\\')+/g;
  for (const [word] of text.matchAll(pattern)) {
    words.push(word.replaceAll(/'([^']*)'|\\(')/g, (_, plain: string | undefined, quote: string) => plain ?? quote));
  }
  return words;
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // It ended by itself.
  }
}
