import { chownSync, copyFileSync, mkdirSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxLimits } from '../../../driver.port.ts';
import type { EgressRun } from '../../../egress-gate.ts';
import type { KeptBytes } from '../../../linux/kept-bytes.ts';
import { agentLink } from '../agent/agent-link.ts';
import { EGRESS_PORT } from '../agent/start-message.ts';
import { within } from '../agent/within.ts';
import { CHANNEL_NAMES, type GuestChannels, type GuestMachine, type MachineEnd, type MachineSize } from '../machine.ts';
import type { HostResources } from '../monitor/host-resources.ts';
import { type Berth, type Monitor, openBerth, startMonitor } from '../monitor/start-monitor.ts';
import { type FirecrackerSettings, MICROVM_BOUNDS } from '../settings.ts';
import { type FirecrackerApi, FirecrackerRefusal, firecrackerApi } from './api-client.ts';
import { connectGuest } from './connect-guest.ts';

/** Inputs of every machine of a driver. */
export interface FirecrackerParts {
  readonly hostResources: HostResources;
  /** Absolute path of Firecracker. */
  readonly program: string;
  /** Absolute path of the jailer, where it is used. */
  readonly jailer: string | undefined;
  readonly settings: FirecrackerSettings;
}

/** State of a machine that has booted and never ran a job. */
export interface FirecrackerState {
  readonly device: KeptBytes;
  readonly memory: KeptBytes;
}

/** A machine of Firecracker whose agent answers. */
export interface FirecrackerMachine extends Omit<GuestMachine, 'channels'> {
  readonly control: Socket;
  readonly api: FirecrackerApi;
  /** Its working folder, as the layer sees it. */
  readonly root: string;
  /** Connects the other channels. @throws Error when the guest does not take them; the machine is gone then */
  openJob(): Promise<GuestMachine>;
}

const API_SOCKET = 'api.sock';
const VSOCK_SOCKET = 'v.sock';
/** Ports on which the agent listens, in the order of the channels. */
const FIRST_PORT = 5000;
const GUEST_ID = 3;
const FIRST_FD = 3;

const byDescriptor = (index: number): string => `/proc/self/fd/${FIRST_FD + index}`;
const KERNEL_OPTIONS = 'quiet loglevel=0 panic=-1 reboot=k pci=off cryptomgr.notests 8250.nr_uarts=0 i8042.noaux';

/**
 * Starts a machine, from its kernel or from a state, and waits until the agent answers.
 * @throws Error when that fails; nothing is left then
 */
export async function startFirecracker(
  parts: FirecrackerParts,
  size: MachineSize,
  limits: SandboxLimits,
  way: EgressRun | undefined,
  state?: FirecrackerState,
): Promise<FirecrackerMachine> {
  const berth = openBerth(parts.hostResources, size, limits);
  const ended = new AbortController();
  let monitor: Monitor | undefined;
  try {
    const place = preparePlace(parts, berth, state);
    await way?.listenAt(join(place.root, `${VSOCK_SOCKET}_${EGRESS_PORT}`));
    monitor = await startMonitor(parts.hostResources, berth, place.command, {
      given: place.given,
      keepsUid: place.isJail,
    });
    const gone = monitor.gone.then(async (end) => {
      ended.abort();
      await berth.close();
      return end;
    });
    const api = firecrackerApi(join(place.root, API_SOCKET));
    const ready = (async () => {
      await begin(api, place, parts.settings, size, state !== undefined, ended.signal);
      return openControl(join(place.root, VSOCK_SOCKET), parts.settings.bootTimeoutMs, ended.signal);
    })();
    const control = await Promise.race([ready, gone.then(endedEarly)]);
    const { kill } = monitor;
    const openJob = () => jobOf({ control, gone, kill }, join(place.root, VSOCK_SOCKET), ended.signal);
    return { control, gone, kill, api, root: place.root, openJob };
  } catch (error) {
    monitor?.kill();
    await monitor?.gone;
    ended.abort();
    await berth.close();
    throw error;
  }
}

/** Where Firecracker runs, and under which names it finds its files. */
interface Place {
  readonly root: string;
  readonly command: readonly string[];
  readonly given: readonly KeptBytes[];
  readonly isJail: boolean;
  readonly kernel: string;
  readonly initrd: string;
  readonly drive: string | undefined;
}

function preparePlace(parts: FirecrackerParts, berth: Berth, state: FirecrackerState | undefined): Place {
  const { program, jailer, settings } = parts;
  const { kernel, initrd, drive } = settings;
  if (jailer !== undefined && berth.uid !== undefined) return prepareJail(jailer, program, settings, berth, berth.uid);
  const drives = drive === undefined ? [] : [fileAt(drive)];
  return {
    root: berth.folder,
    command: [program, '--api-sock', API_SOCKET],
    // Files are passed as descriptors: under its own uid Firecracker may not enter their folders.
    given: state === undefined ? [fileAt(kernel), fileAt(initrd), ...drives] : [state.device, state.memory, ...drives],
    isJail: false,
    kernel: byDescriptor(0),
    initrd: byDescriptor(1),
    drive: drive === undefined ? undefined : byDescriptor(2),
  };
}

/** The jailer closes inherited descriptors and changes its root, so the files are copied into the jail. */
function prepareJail(
  jailer: string,
  program: string,
  { kernel, initrd, drive }: FirecrackerSettings,
  { folder }: Berth,
  uid: number,
): Place {
  const id = 'sallyport';
  const root = join(folder, basename(program), id, 'root');
  mkdirSync(root, { recursive: true });
  const copies = { kernel, initrd, ...(drive === undefined ? {} : { drive }) };
  for (const [name, path] of Object.entries(copies)) {
    copyFileSync(path, join(root, name));
    chownSync(join(root, name), uid, uid);
  }
  chownSync(root, uid, uid);
  const owner = ['--uid', String(uid), '--gid', String(uid)];
  const jail = ['--id', id, '--exec-file', program, ...owner, '--chroot-base-dir', folder];
  return {
    root,
    command: [jailer, ...jail, '--', '--api-sock', API_SOCKET],
    given: [],
    isJail: true,
    kernel: 'kernel',
    initrd: 'initrd',
    drive: drive === undefined ? undefined : 'drive',
  };
}

async function begin(
  api: FirecrackerApi,
  { kernel, initrd, drive }: Place,
  { drive: hasDrive }: FirecrackerSettings,
  size: MachineSize,
  restores: boolean,
  ended: AbortSignal,
): Promise<void> {
  if (restores) {
    const memory = { backend_type: 'File', backend_path: byDescriptor(1) };
    const load = { snapshot_path: byDescriptor(0), mem_backend: memory, resume_vm: true };
    return untilThere(api, '/snapshot/load', load, ended);
  }
  const config = { vcpu_count: size.processors, mem_size_mib: size.memoryMb, smt: false };
  await untilThere(api, '/machine-config', config, ended);
  await api('PUT', '/boot-source', { kernel_image_path: kernel, initrd_path: initrd, boot_args: KERNEL_OPTIONS });
  if (hasDrive !== undefined) {
    const device = { drive_id: 'drive', path_on_host: drive, is_root_device: false, is_read_only: true };
    await api('PUT', '/drives/drive', device);
  }
  await api('PUT', '/vsock', { guest_cid: GUEST_ID, uds_path: VSOCK_SOCKET });
  await api('PUT', '/actions', { action_type: 'InstanceStart' });
}

/** The first request: Firecracker needs a moment to make its socket. */
async function untilThere(api: FirecrackerApi, path: string, body: unknown, ended: AbortSignal): Promise<void> {
  const giveUpAt = performance.now() + MICROVM_BOUNDS.answerTimeoutMs;
  for (;;) {
    try {
      return await api('PUT', path, body);
    } catch (error) {
      if (error instanceof FirecrackerRefusal || ended.aborted || performance.now() > giveUpAt) throw error;
      await sleep(MICROVM_BOUNDS.retryMs);
    }
  }
}

async function openControl(path: string, timeoutMs: number, ended: AbortSignal): Promise<Socket> {
  const control = await connectGuest(path, FIRST_PORT, timeoutMs, ended);
  try {
    await within(timeoutMs, agentLink(control).greet(), 'the agent of the guest does not answer');
    return control;
  } catch (error) {
    control.destroy();
    throw error;
  }
}

async function jobOf(
  { control, gone, kill }: Pick<FirecrackerMachine, 'control' | 'gone' | 'kill'>,
  path: string,
  ended: AbortSignal,
): Promise<GuestMachine> {
  try {
    const [stdin, stdout, stderr] = await Promise.all(
      CHANNEL_NAMES.slice(1).map((_, index) =>
        connectGuest(path, FIRST_PORT + 1 + index, MICROVM_BOUNDS.startTimeoutMs, ended),
      ),
    );
    return { channels: { control, stdin, stdout, stderr } as GuestChannels, gone, kill };
  } catch (error) {
    kill();
    await gone;
    throw error;
  }
}

function endedEarly({ code, signal, complaint }: MachineEnd): never {
  throw new Error(`Firecracker ended with ${signal ?? code} before its guest answered. ${complaint}`);
}

function fileAt(path: string): KeptBytes {
  return { open: () => openSync(path, 'r') };
}
