import { type ChildProcess, spawn } from 'node:child_process';
import type { InsideListener, InsideView } from '../../../egress-gate.ts';
import { withCover } from '../../../linux/inherited-descriptors.ts';
import { type KeptBytes, withDescriptors } from '../../../linux/kept-bytes.ts';
import { hasPerl, PERL } from '../../../linux/perl.ts';
import { socketAddress } from '../../../linux/socket-address.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import { CALL_NUMBERS, LISTENER_PROGRAM } from './listener-program.ts';

/** Why sandboxes on this machine cannot have network, in a sentence; undefined when they can. */
export function listenerProblem(): string | undefined {
  if (hasPerl()) return undefined;
  return `${PERL} is missing, so tools cannot be granted network. Type: apt-get install perl-base`;
}

export interface ListenerParts {
  readonly view: Pick<InsideView, 'addresses' | 'listeners'>;
  /** Host pid of the sandbox's first process. */
  readonly pid: number;
  /** Uid and gid outside; the layer's own when undefined. */
  readonly uid: number | undefined;
  readonly inherited: readonly number[];
  readonly nothing: KeptBytes;
  readonly serve: (listener: InsideListener, handle: object) => void;
}

/**
 * Makes the listening sockets of a sandbox in its own network namespace and takes them over, so that connections inside
 * are accepted by the layer itself (ADR 0006).
 * @throws Error with the system's message; sockets made before are closed with their run
 */
export async function openListeners(parts: ListenerParts): Promise<void> {
  const { listeners } = parts.view;
  const helper = startHelper(parts);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let complaint = '';
  let taken = 0;
  helper.stderr?.setEncoding('utf8').on('data', (part: string) => {
    if (complaint.length < SANDBOX_BOUNDS.startErrorBytesMax) complaint += part;
  });
  helper.on('message', (index, handle) => {
    const listener = listeners[Number(index)];
    if (listener === undefined || handle === undefined) return;
    parts.serve(listener, handle);
    taken += 1;
    if (taken === listeners.length) resolve();
  });
  helper.once('error', reject);
  helper.once('close', () => reject(new Error(`no way out of the sandbox could be made: ${complaint.trim()}`)));
  const late = setTimeout(
    reject,
    SANDBOX_BOUNDS.startTimeoutMs,
    new Error('the way out of the sandbox takes too long'),
  );
  try {
    await promise;
  } finally {
    clearTimeout(late);
    helper.kill('SIGKILL');
  }
}

function startHelper({ view, pid, uid, inherited, nothing }: ListenerParts): ChildProcess {
  const numbers = CALL_NUMBERS[process.arch];
  if (numbers === undefined) throw new Error(`no call numbers are known for ${process.arch}`);
  const wanted = [
    ...[pid, ...numbers, view.addresses.length].map(String),
    ...view.addresses.map((address) => socketAddress(address, 0)),
    ...view.listeners.map(({ address, port }) => socketAddress(address, port)),
  ];
  return withDescriptors([nothing], ([cover]) =>
    spawn(PERL, ['-e', LISTENER_PROGRAM, ...wanted], {
      cwd: '/',
      env: {},
      stdio: withCover(['ignore', 'ignore', 'pipe', 'ipc'], inherited, cover ?? 'ignore'),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    }),
  );
}
