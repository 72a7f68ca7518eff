import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxLimits } from '../../../driver.port.ts';
import { MARKED_FOLDER } from '../../../linux/crash/clear-leftovers.ts';
import { type CrashTarget, processTarget } from '../../../linux/crash/crash-watch.ts';
import { ownMark, startOf } from '../../../linux/crash/layer-mark.ts';
import { withCover } from '../../../linux/inherited-descriptors.ts';
import { type KeptBytes, withDescriptors } from '../../../linux/kept-bytes.ts';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import { UID_SLOTS_MAX } from '../../../linux/uid-slots.ts';
import type { MachineEnd, MachineSize } from '../machine.ts';
import { MICROVM_BOUNDS } from '../settings.ts';
import type { HostResources } from './host-resources.ts';

/**
 * Resources of one machine: its folder, its uid, its control group. `close` it after its processes are gone;
 * idempotent.
 */
export interface Berth {
  readonly folder: string;
  /** Undefined where the layer is not root. */
  readonly uid: number | undefined;
  readonly group: ControlGroup | undefined;
  close(): Promise<void>;
}

/** A running machine monitor. */
export interface Monitor {
  /** Resolves when its process is gone. Never rejects. */
  readonly gone: Promise<MachineEnd>;
  kill(): void;
}

/** @throws Error when all uids are lent, or the folder or group cannot be made */
export function openBerth(hostResources: HostResources, size: MachineSize, { cpuMillicores }: SandboxLimits): Berth {
  const { slots, groups } = hostResources;
  const uid = slots?.take();
  if (slots !== undefined && uid === undefined) {
    throw new Error(`More than ${UID_SLOTS_MAX} sandboxes run at once. Try again later.`);
  }
  const folder = mkdtempSync(join(tmpdir(), `${MARKED_FOLDER}${ownMark()}-`));
  let group: ControlGroup | undefined;
  let closed: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    if (closed === undefined) {
      closed = Promise.all([group?.remove(), rm(folder, { recursive: true, force: true })]);
      // Only once: a uid returned twice would be lent to two machines.
      if (uid !== undefined) slots?.giveBack(uid);
    }
    await closed;
  };
  try {
    if (uid !== undefined) chownSync(folder, uid, uid);
    const memoryMb = size.memoryMb + MICROVM_BOUNDS.monitorMemoryMb;
    const processesMax = MICROVM_BOUNDS.monitorThreadsMax;
    group = groups?.create({ cpuMillicores, memoryMb, processesMax, diskMb: 0 }, uid);
    return { folder, uid, group, close };
  } catch (error) {
    void close();
    throw error;
  }
}

/** Joins the groups, and becomes the monitor at the layer's signal: by then the crash watch knows this process. */
const BEGIN = `
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
read -r word || exit 125
exec "$@" </dev/null`;

/**
 * Starts a machine monitor with its resources. A layer killed at any moment leaves none: before the signal it ends with
 * its input, afterwards the crash watch ends it (ADR 0005).
 * @param command program by its absolute path, and arguments
 * @param given its descriptors from 3 on
 * @param keepsUid true for a monitor that drops its rights by itself
 */
export async function startMonitor(
  hostResources: HostResources,
  { folder, uid, group }: Berth,
  command: readonly string[],
  { given = [], keepsUid = false }: { readonly given?: readonly KeptBytes[]; readonly keepsUid?: boolean } = {},
): Promise<Monitor> {
  const monitor = withDescriptors([hostResources.nothing, ...given], ([nothing, ...opened]) =>
    spawn('/bin/sh', ['-c', BEGIN, 'sallyport-microvm', ...(group?.joinFiles ?? []), '--', ...command], {
      cwd: folder,
      env: {},
      // Outside the layer's process group: Ctrl-C is for the layer, which then ends its machines in order.
      detached: true,
      stdio: withCover(['pipe', 'ignore', 'pipe', ...opened], hostResources.inherited, nothing ?? 'ignore'),
      ...(uid === undefined || keepsUid ? {} : { uid, gid: uid }),
    }),
  );
  const ended = endOf(monitor, group);
  const { pid } = monitor;
  const start = pid === undefined ? undefined : startOf(pid);
  if (pid === undefined || start === undefined) throw new Error((await ended).complaint);
  const target: CrashTarget = processTarget(pid, start);
  const gone = ended.then((end) => {
    hostResources.watch.forget(target);
    return end;
  });
  const kill = (): void => void monitor.kill('SIGKILL');
  try {
    group?.admit?.(pid);
    await hostResources.watch.note(target);
  } catch (error) {
    kill();
    await gone;
    throw error;
  }
  monitor.stdin?.end('go\n');
  return { gone, kill };
}

async function endOf(monitor: ChildProcess, group: ControlGroup | undefined): Promise<MachineEnd> {
  const { promise, resolve } = Promise.withResolvers<Pick<MachineEnd, 'code' | 'signal'>>();
  let complaint = '';
  monitor.stderr?.on('data', (part: Buffer) => {
    complaint = (complaint + String(part)).slice(0, MICROVM_BOUNDS.complaintBytesMax);
  });
  (monitor.stdin as Writable | null)?.on('error', ignoreBrokenPipe);
  monitor.once('error', (error) => {
    complaint ||= error.message;
    resolve({ code: 1, signal: null });
  });
  monitor.once('exit', (code, signal) => resolve({ code, signal }));
  const end = await promise;
  // What it still had to say.
  if (end.code !== 0 && end.signal === null) await sleep(MICROVM_BOUNDS.retryMs);
  monitor.stderr?.destroy();
  return { ...end, usage: group?.usage(), complaint: complaint.trim() };
}

/** The exit says what happened. */
function ignoreBrokenPipe(): void {}
