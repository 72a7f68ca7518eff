import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '@sallyport/std/files/find-program';
import type { DriverProbe } from '../../../driver.port.ts';
import { agentLink } from '../agent/agent-link.ts';
import { within } from '../agent/within.ts';
import { type GuestMachine, type MachineBackend, type MachineOrder, machineSize } from '../machine.ts';
import { isReadable, prepareHostResources, weaknessesOf } from '../monitor/host-resources.ts';
import { QEMU_DEFAULTS, type QemuChoices, type QemuSettings } from '../settings.ts';
import { createStateStore, type StateStore } from '../state-store.ts';
import { type QemuParts, startQemu } from './qemu-machine.ts';
import { type KeptState, takeSnapshot } from './snapshots.ts';

const PREPARE = 'Type: node scripts/machine/prepare-microvm.ts';

/** Machines of QEMU. The guest has no way out. */
export function qemuBackend(choices: QemuChoices): MachineBackend {
  const settings: QemuSettings = { ...QEMU_DEFAULTS, ...choices };
  let probed: Promise<DriverProbe> | undefined;
  let shared: { readonly parts: QemuParts; readonly snapshots: StateStore<KeptState> } | undefined;
  const share = (): NonNullable<typeof shared> => {
    if (shared === undefined) {
      const parts = {
        hostResources: prepareHostResources(settings.controlGroups),
        program: programOf(settings),
        settings,
      };
      shared = { parts, snapshots: createStateStore((size) => takeSnapshot(parts, size)) };
    }
    return shared;
  };
  return {
    name: 'qemu',
    egress: false,
    probe() {
      probed ??= examine(settings, () => weaknessesOf(share().parts.hostResources));
      return probed;
    },
    open: (order) => (settings.snapshots ? restore(share(), order) : boot(share().parts, order)),
  };
}

async function boot(parts: QemuParts, { limits }: MachineOrder): Promise<GuestMachine> {
  const machine = await startQemu(parts, machineSize(limits), limits, 'none');
  return whenReady(machine, parts.settings.bootTimeoutMs);
}

async function restore(
  { parts, snapshots }: { readonly parts: QemuParts; readonly snapshots: StateStore<KeptState> },
  { limits }: MachineOrder,
): Promise<GuestMachine> {
  const size = machineSize(limits);
  const state = await snapshots.of(size);
  return startQemu(parts, size, limits, 'restores', state);
}

async function whenReady(machine: GuestMachine, timeoutMs: number): Promise<GuestMachine> {
  try {
    await within(timeoutMs, agentLink(machine.channels.control).greet(), 'the guest does not boot');
    return machine;
  } catch (error) {
    machine.kill();
    await machine.gone;
    throw error;
  }
}

function programOf({ program }: QemuSettings): string {
  const path = findProgram(program);
  if (path === undefined) throw new Error(`The program ${program} is missing.`);
  return path;
}

async function examine(settings: QemuSettings, weak: () => ReturnType<typeof weaknessesOf>): Promise<DriverProbe> {
  const problem = problemOf(settings);
  if (problem !== undefined) return { works: false, problem, weaknesses: [] };
  try {
    const { stdout } = await promisify(execFile)(programOf(settings), ['--version'], { env: {}, timeout: 10_000 });
    const version = /version (\d+(?:\.\d+)+)/.exec(stdout)?.[1];
    const emulated =
      settings.accelerator === 'tcg'
        ? [
            'Machines are emulated: tools compute some ten times slower, and QEMU does not call its emulator a boundary.',
          ]
        : [];
    const { weaknesses, ...weaker } = weak();
    return {
      works: true,
      ...(version === undefined ? {} : { version }),
      weaknesses: [...emulated, ...weaknesses],
      ...weaker,
    };
  } catch (error) {
    return { works: false, problem: `QEMU does not work here: ${String(error)}`, weaknesses: [] };
  }
}

function problemOf({ program, kernel, initrd, accelerator }: QemuSettings): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'MicroVMs of QEMU need Linux on x86-64.';
  if (findProgram(program) === undefined) {
    return `The program ${program} is missing. Type: apt-get install --no-install-recommends qemu-system-x86`;
  }
  if (!isReadable(kernel)) return `The guest's kernel ${kernel} cannot be read. ${PREPARE}`;
  if (!isReadable(initrd)) return `The guest's file system ${initrd} cannot be read. ${PREPARE}`;
  if (accelerator === 'kvm' && !isReadable('/dev/kvm')) {
    return 'This machine has no /dev/kvm that the layer may open. Load the kvm module, or choose the accelerator tcg.';
  }
  return undefined;
}
