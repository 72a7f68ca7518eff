import { openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { SandboxLimits } from '../../../driver.port.ts';
import type { KeptBytes } from '../../../linux/kept-bytes.ts';
import { within } from '../agent/within.ts';
import { CHANNEL_NAMES, type GuestChannels, type GuestMachine, type MachineSize } from '../machine.ts';
import type { HostResources } from '../monitor/host-resources.ts';
import { type Monitor, openBerth, startMonitor } from '../monitor/start-monitor.ts';
import { MICROVM_BOUNDS, type QemuSettings } from '../settings.ts';
import { type AwaitedConnection, acceptOnce } from './accept-once.ts';
import { channelSocket, MONITOR_SOCKET, qemuArguments, type StateUse } from './qemu-arguments.ts';

/** What every machine of a driver is started with. */
export interface QemuParts {
  readonly hostResources: HostResources;
  /** Absolute path of QEMU. */
  readonly program: string;
  readonly settings: QemuSettings;
}

/** A machine of QEMU. */
export interface QemuMachine extends GuestMachine {
  readonly folder: string;
  /** Under which it runs; the layer's own when undefined. */
  readonly uid: number | undefined;
  /** QEMU's control language; for a machine that saves its state. */
  readonly monitor: Socket | undefined;
}

/**
 * Starts a machine and waits until QEMU holds its channels; the guest boots meanwhile.
 * @param state what it restores
 * @throws Error when QEMU ends before; nothing is left then
 */
export async function startQemu(
  parts: QemuParts,
  size: MachineSize,
  limits: SandboxLimits,
  use: StateUse,
  state?: KeptBytes,
): Promise<QemuMachine> {
  const { hostResources, program, settings } = parts;
  const berth = openBerth(hostResources, size, limits);
  const awaited: AwaitedConnection[] = [];
  const names = [...CHANNEL_NAMES.map(channelSocket), ...(use === 'saves' ? [MONITOR_SOCKET] : [])];
  let monitor: Monitor | undefined;
  try {
    for (const name of names) awaited.push(await acceptOnce(join(berth.folder, name), berth.uid));
    const given = [fileAt(settings.kernel), fileAt(settings.initrd), ...(state === undefined ? [] : [state])];
    const command = [program, ...qemuArguments(settings.accelerator, size, use)];
    monitor = await startMonitor(hostResources, berth, command, { given });
    const gone = monitor.gone.then(async (end) => {
      for (const one of awaited) one.close();
      await berth.close();
      return end;
    });
    const connected = Promise.all(awaited.map(({ connection }) => connection));
    const sockets = await Promise.race([
      within(MICROVM_BOUNDS.startTimeoutMs, connected, 'QEMU does not take its channels'),
      gone.then(({ complaint, code }) => {
        throw new Error(`QEMU ended with ${code}. ${complaint}`);
      }),
    ]);
    const [control, stdin, stdout, stderr, language] = sockets;
    return {
      folder: berth.folder,
      uid: berth.uid,
      channels: { control, stdin, stdout, stderr } as GuestChannels,
      monitor: language,
      gone,
      kill: monitor.kill,
    };
  } catch (error) {
    monitor?.kill();
    await monitor?.gone;
    for (const one of awaited) one.close();
    await berth.close();
    throw error;
  }
}

function fileAt(path: string): KeptBytes {
  return { open: () => openSync(path, 'r') };
}
