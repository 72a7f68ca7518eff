import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { FakeGuest, type GuestFaults } from './fake-guest.ts';

/** Misbehaviour of the fake Firecracker; none when empty. */
export interface FirecrackerFaults extends GuestFaults {
  /** Delay before its socket exists. */
  readonly socketDelayMs?: number;
  /** How long the guest takes to boot. */
  readonly bootDelayMs?: number;
  /** Paths of its API that answer with this. */
  readonly refuses?: Readonly<Record<string, { readonly status: number; readonly body: string }>>;
  /** Paths at which its process ends instead of an answer. */
  readonly crashesAt?: string;
  /** Paths whose answer breaks off in its middle. */
  readonly breaksOffAt?: string;
  /** How its vsock socket answers: with a closed connection (the first times), with garbage, or never. */
  readonly vsock?: 'closes at first' | 'garbage' | 'silence';
  /** Called when the job has started, with a function that ends the process. */
  readonly onJob?: (crash: () => void) => void;
}

export interface FakeFirecracker {
  /** Path of a program for the driver. */
  readonly program: string;
  /** Requests received, in order. */
  readonly requests: readonly { readonly line: string; readonly body: unknown }[];
  /** Command lines of its processes, without the program. */
  readonly commands: readonly string[];
  /** Number of its running processes. */
  running(): number;
  close(): void;
}

const LOOK_MS = 5;

/**
 * Imitates Firecracker for its driver: a process, the HTTP API over a unix socket with its order of states, the socket
 * of a vsock device, and a guest at its end. The process itself only sleeps; everything else runs in the test, which
 * polls for new and ended processes.
 */
export function openFakeFirecracker(faults: FirecrackerFaults = {}): FakeFirecracker {
  const folder = mkdtempSync(join(tmpdir(), 'fake-firecracker-'));
  chmodSync(folder, 0o755);
  const list = join(folder, 'list');
  const program = join(folder, 'firecracker');
  writeFileSync(list, '', { mode: 0o666 });
  // The umask may have taken a bit.
  chmodSync(list, 0o666);
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1" = --version ] && { echo 'Firecracker v0.0.1'; exit 0; }\necho "$$ $PWD $*" >>${list}\nexec sleep 3600\n`,
  );
  chmodSync(program, 0o755);
  const requests: { line: string; body: unknown }[] = [];
  const commands: string[] = [];
  const machines = new Map<number, FakeMachine>();
  const look = (): void => {
    for (const line of readFileSync(list, 'utf8').split('\n').slice(commands.length, -1)) {
      const [pid = '', cwd = '', ...args] = line.split(' ');
      commands.push(args.join(' '));
      machines.set(Number(pid), new FakeMachine(Number(pid), rootOf(cwd, args), faults, requests));
    }
    for (const [pid, machine] of machines) {
      if (isRunning(pid)) continue;
      machine.close();
      machines.delete(pid);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    program,
    requests,
    commands,
    running: () => [...machines.keys()].filter(isRunning).length,
    close() {
      clearInterval(timer);
      for (const machine of machines.values()) machine.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The working folder that the process sees as its own. */
function rootOf(cwd: string, args: readonly string[]): string {
  const after = (name: string): string => args[args.indexOf(name) + 1] ?? '';
  return args.includes('--chroot-base-dir')
    ? join(after('--chroot-base-dir'), 'firecracker', after('--id'), 'root')
    : cwd;
}

class FakeMachine {
  readonly #pid: number;
  readonly #root: string;
  readonly #faults: FirecrackerFaults;
  readonly #requests: { line: string; body: unknown }[];
  readonly #api: Server;
  readonly #sockets = new Set<Socket>();
  readonly #set = new Set<string>();
  #state: 'not started' | 'running' | 'paused' = 'not started';
  #vsock: NetServer | undefined;
  #guest: FakeGuest | undefined;
  #attempts = 0;

  constructor(pid: number, root: string, faults: FirecrackerFaults, requests: { line: string; body: unknown }[]) {
    this.#pid = pid;
    this.#root = root;
    this.#faults = faults;
    this.#requests = requests;
    this.#api = createHttpServer((request, response) => void this.#answer(request, response));
    this.#api.on('connection', (socket) => this.#track(socket)).on('error', () => {});
    setTimeout(() => this.#api.listen(join(root, 'api.sock')), faults.socketDelayMs ?? 0);
  }

  close(): void {
    this.#api.close();
    this.#vsock?.close();
    this.#guest?.end();
    for (const socket of this.#sockets) socket.destroy();
  }

  #crash(): void {
    try {
      process.kill(this.#pid, 'SIGKILL');
    } catch {
      // The driver was first.
    }
    this.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    this.#requests.push({ line, body });
    const path = request.url ?? '';
    if (this.#faults.crashesAt === path) return this.#crash();
    if (this.#faults.breaksOffAt === path) {
      response.writeHead(200, { 'Content-Length': 100 }).write('{');
      setTimeout(() => response.destroy(), LOOK_MS);
      return;
    }
    const refusal = this.#faults.refuses?.[path] ?? this.#fault(line, body);
    if (refusal === undefined) response.writeHead(204).end();
    else response.writeHead(refusal.status).end(refusal.body);
  }

  /** The fault of a change in this state; undefined after it was made. */
  #fault(line: string, body: Record<string, unknown>): { status: number; body: string } | undefined {
    const fault = (why: string) => ({ status: 400, body: JSON.stringify({ fault_message: why }) });
    const before = this.#state === 'not started';
    if (line === 'PUT /snapshot/load') {
      if (!before || this.#set.size > 0)
        return fault('Loading a microVM snapshot not allowed after configuring boot-specific resources.');
      this.#read((body['mem_backend'] as Record<string, string>)['backend_path'] ?? '', 'memory');
      this.#read(String(body['snapshot_path']), 'state');
      this.#listen();
      this.#boot();
    } else if (line === 'PUT /snapshot/create') {
      if (this.#state !== 'paused') return fault('Create snapshot error: The microVM is not paused.');
      writeFileSync(join(this.#root, String(body['snapshot_path'])), 'state');
      writeFileSync(join(this.#root, String(body['mem_file_path'])), 'memory');
    } else if (line === 'PATCH /vm') {
      if (before) return fault('The requested operation is not supported before starting the microVM.');
      this.#state = body['state'] === 'Paused' ? 'paused' : 'running';
    } else if (!before) return fault('The requested operation is not supported after starting the microVM.');
    else if (line === 'PUT /actions') {
      if (!this.#set.has('PUT /boot-source')) return fault('Cannot start microvm without kernel configuration.');
      this.#boot();
    } else if (line === 'PUT /vsock') this.#listen();
    else if (line === 'PUT /boot-source') this.#read(String(body['kernel_image_path']), undefined);
    this.#set.add(line);
    return undefined;
  }

  /** Reads a file as the process would; throws when it could not. */
  #read(path: string, content: string | undefined): void {
    const own = path.startsWith('/proc/self/') ? path.replace('self', String(this.#pid)) : join(this.#root, path);
    const found = readFileSync(own, 'utf8');
    if (content !== undefined && found !== content) throw new Error(`${path} holds ${found}`);
  }

  #boot(): void {
    this.#state = 'running';
    const onStarted = (): void => this.#faults.onJob?.(() => this.#crash());
    setTimeout(() => {
      this.#guest = new FakeGuest(this.#root, { ...this.#faults, onStarted });
    }, this.#faults.bootDelayMs ?? 0);
  }

  #listen(): void {
    this.#vsock = createServer({ allowHalfOpen: true }, (socket) => {
      this.#track(socket);
      this.#attempts += 1;
      if (this.#faults.vsock === 'closes at first' && this.#attempts < 5) return void socket.destroy();
      if (this.#faults.vsock === 'garbage') return void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      if (this.#faults.vsock !== 'silence') this.#connect(socket);
    });
    this.#vsock.listen(join(this.#root, 'v.sock'));
  }

  #connect(socket: Socket): void {
    let head: Buffer = Buffer.alloc(0);
    const onData = (part: Buffer): void => {
      head = Buffer.concat([head, part]);
      const end = head.indexOf('\n');
      if (end === -1) return;
      socket.off('data', onData).pause();
      const port = Number(/^CONNECT (\d+)$/.exec(head.toString('latin1', 0, end))?.[1]);
      if (this.#guest === undefined || Number.isNaN(port)) return void socket.destroy();
      socket.write('OK 1073741824\n');
      if (!this.#guest.accept(port, socket, head.subarray(end + 1))) socket.destroy();
      else if (port === 5000) socket.resume();
    };
    socket.on('data', onData);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
