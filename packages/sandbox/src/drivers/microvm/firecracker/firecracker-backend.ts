import { execFile } from 'node:child_process';
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@sallyport/std/files/find-program';
import type { DriverProbe, SandboxLimits } from '../../../driver.port.ts';
import type { KeptBytes } from '../../../linux/kept-bytes.ts';
import {
  type GuestMachine,
  type MachineBackend,
  type MachineOrder,
  type MachineSize,
  machineSize,
} from '../machine.ts';
import { isReadable, prepareHostResources, weaknessesOf } from '../monitor/host-resources.ts';
import { FIRECRACKER_DEFAULTS, type FirecrackerChoices, type FirecrackerSettings } from '../settings.ts';
import { createStateStore, type StateStore } from '../state-store.ts';
import { type FirecrackerParts, type FirecrackerState, startFirecracker } from './firecracker-machine.ts';

interface KeptState extends FirecrackerState {
  close(): void;
}

interface Shared {
  readonly parts: FirecrackerParts;
  readonly states: StateStore<KeptState>;
}

/**
 * Machines of Firecracker. Connections from the guest reach the socket of an egress run.
 * @param requirement requirement on the machine; tests have none
 */
export function firecrackerBackend(
  choices: FirecrackerChoices,
  requirement: () => string | undefined = hardwareProblem,
): MachineBackend {
  const settings: FirecrackerSettings = { ...FIRECRACKER_DEFAULTS, ...choices };
  let probed: Promise<DriverProbe> | undefined;
  let shared: Shared | undefined;
  const share = (): Shared => {
    shared ??= prepare(settings);
    return shared;
  };
  return {
    name: 'firecracker',
    egress: true,
    probe() {
      probed ??= examine(settings, requirement, () => weaknessesOf(share().parts.hostResources));
      return probed;
    },
    open: (order) => open(share(), order),
  };
}

function prepare(settings: FirecrackerSettings): Shared {
  const { program, jailer } = settings;
  const parts: FirecrackerParts = {
    hostResources: prepareHostResources(settings.controlGroups),
    program: findProgram(program) ?? program,
    jailer: jailer === undefined ? undefined : (findProgram(jailer) ?? jailer),
    settings,
  };
  return { parts, states: createStateStore((size) => takeState(parts, size)) };
}

async function open({ parts, states }: Shared, { limits, way }: MachineOrder): Promise<GuestMachine> {
  const size = machineSize(limits);
  // A jail cannot access a state without a name, and a cold start of Firecracker is fast.
  const usesStates =
    parts.settings.snapshots && (parts.jailer === undefined || parts.hostResources.slots === undefined);
  const machine = await startFirecracker(parts, size, limits, way, usesStates ? await states.of(size) : undefined);
  return machine.openJob();
}

const READABLE_BY_ALL = 0o444;

async function takeState(parts: FirecrackerParts, size: MachineSize): Promise<KeptState> {
  const { memoryMb, processors } = size;
  const limits: SandboxLimits = { cpuMillicores: processors * 1000, memoryMb, processesMax: 1, diskMb: 1 };
  const machine = await startFirecracker(parts, size, limits, undefined);
  try {
    // Connections do not survive in a snapshot; the agent listens again.
    machine.control.destroy();
    await machine.api('PATCH', '/vm', { state: 'Paused' });
    const names = { snapshot_path: 'state', mem_file_path: 'memory' };
    await machine.api('PUT', '/snapshot/create', { snapshot_type: 'Full', ...names });
    const device = keep(join(machine.root, names.snapshot_path));
    const memory = keep(join(machine.root, names.mem_file_path));
    return {
      device,
      memory,
      close() {
        device.close();
        memory.close();
      },
    };
  } finally {
    machine.kill();
    await machine.gone;
  }
}

/** The file is unlinked at once, so that nothing is left of it. It holds no job and no secret. */
function keep(path: string): KeptBytes & { close(): void } {
  const descriptor = openSync(path, 'r');
  chmodSync(path, READABLE_BY_ALL);
  rmSync(path);
  return { open: () => openSync(`/proc/self/fd/${descriptor}`, 'r'), close: () => closeSync(descriptor) };
}

async function examine(
  settings: FirecrackerSettings,
  requirement: () => string | undefined,
  weak: () => ReturnType<typeof weaknessesOf>,
): Promise<DriverProbe> {
  const problem = problemOf(settings) ?? requirement();
  if (problem !== undefined) return { works: false, problem, weaknesses: [] };
  try {
    const program = findProgram(settings.program) ?? settings.program;
    const { stdout } = await promisify(execFile)(program, ['--version'], { env: {}, timeout: 10_000 });
    const version = /v?(\d+(?:\.\d+)+)/.exec(stdout)?.[1];
    return { works: true, ...(version === undefined ? {} : { version }), ...weak() };
  } catch (error) {
    return { works: false, problem: `Firecracker does not work here: ${String(error)}`, weaknesses: [] };
  }
}

const RELEASES = 'Take it from https://github.com/firecracker-microvm/firecracker/releases and put it into PATH.';

function problemOf({ program, jailer, kernel, initrd, drive }: FirecrackerSettings): string | undefined {
  if (process.platform !== 'linux') return 'Firecracker needs Linux.';
  if (findProgram(program) === undefined) return `The program ${program} is missing. ${RELEASES}`;
  if (jailer !== undefined && findProgram(jailer) === undefined) return `The program ${jailer} is missing. ${RELEASES}`;
  const unreadable = [kernel, initrd, ...(drive === undefined ? [] : [drive])].find((path) => !isReadable(path));
  return unreadable === undefined ? undefined : `The file ${unreadable} of the guest cannot be read.`;
}

function hardwareProblem(): string | undefined {
  if (isReadable('/dev/kvm')) return undefined;
  return 'This machine has no /dev/kvm that the layer may open. Firecracker needs a machine whose processor runs guests.';
}
