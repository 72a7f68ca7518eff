import { closeSync, createWriteStream, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SandboxLimits } from '../../../driver.port.ts';
import type { KeptBytes } from '../../../linux/kept-bytes.ts';
import { agentLink } from '../agent/agent-link.ts';
import { within } from '../agent/within.ts';
import type { MachineSize } from '../machine.ts';
import { acceptOnce } from './accept-once.ts';
import { type QemuParts, startQemu } from './qemu-machine.ts';
import { openQemuMonitor, saveState } from './qemu-monitor.ts';

/** A state in a file without a name. */
export interface KeptState extends KeptBytes {
  close(): void;
}

/** A machine that boots for a snapshot is not one of a tool: it gets its processors whole. */
const limitsOf = ({ memoryMb, processors }: MachineSize): SandboxLimits => ({
  cpuMillicores: processors * 1000,
  memoryMb,
  processesMax: 1,
  diskMb: 1,
});

/** Boots a machine and keeps its state. @throws Error when it does not boot; nothing of it is left then */
export async function takeSnapshot(parts: QemuParts, size: MachineSize): Promise<KeptState> {
  const machine = await startQemu(parts, size, limitsOf(size), 'saves');
  try {
    await within(parts.settings.bootTimeoutMs, agentLink(machine.channels.control).greet(), 'the guest does not boot');
    if (machine.monitor === undefined) throw new Error('QEMU has no monitor');
    const monitor = await openQemuMonitor(machine.monitor);
    const incoming = await acceptOnce(join(machine.folder, 'state.sock'), machine.uid);
    const path = join(machine.folder, 'state');
    try {
      const written = incoming.connection.then((socket) => pipeline(socket, createWriteStream(path, { mode: 0o600 })));
      await Promise.all([saveState(monitor, 'state.sock'), written]);
    } finally {
      incoming.close();
    }
    return keep(path);
  } finally {
    machine.kill();
    await machine.gone;
  }
}

/** The file loses its name at once, so that nothing is left of it whatever happens. */
function keep(path: string): KeptState {
  const descriptor = openSync(path, 'r');
  rmSync(path);
  return { open: () => openSync(`/proc/self/fd/${descriptor}`, 'r'), close: () => closeSync(descriptor) };
}
