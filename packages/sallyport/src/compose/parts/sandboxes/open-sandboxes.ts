import { join } from 'node:path';
import {
  chooseDriver,
  createEgressGate,
  createWarmPool,
  type EgressGate,
  LIMIT_NAMES,
  type LimitName,
  type SandboxDriver,
} from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { createGvisorDriver } from '@sallyport/sandbox/gvisor';
import { createKubernetesDriver } from '@sallyport/sandbox/kubernetes';
import { createFirecrackerDriver, createQemuDriver } from '@sallyport/sandbox/microvm';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { valuesOf } from '../../../domain/settings/setting.ts';
import { WARM_POOL_SETTINGS } from '../../settings/sandbox.ts';
import type { Settings } from '../../settings.ts';

/** The drivers of a layer, separately and as one. */
export interface Sandboxes {
  /** For calls: uses the first driver that can make the sandbox, and a warm sandbox if there is one. */
  readonly driver: SandboxDriver;
  /** For long-running programs such as servers: no sandboxes are kept warm for them. */
  readonly servers: SandboxDriver;
  /** In order of preference. */
  readonly drivers: readonly SandboxDriver[];
}

/** The driver for calls, and the one for long-running programs if that is another. */
interface OpenedDriver {
  readonly calls: SandboxDriver;
  readonly servers?: SandboxDriver;
}

/** A driver that settings may name. */
interface NamedDriver {
  /** It needs services elsewhere, so `doctor` tries it only where the settings name it. */
  readonly isElsewhere?: true;
  /** Makes the driver; it is closed with the layer. */
  open(from: From, opened: AsyncDisposableStack): OpenedDriver;
}

interface From {
  readonly settings: Settings;
  readonly gate: EgressGate;
  /** Absolute paths that no sandbox sees. */
  readonly closed: readonly string[];
}

const DRIVERS: Readonly<Record<string, NamedDriver>> = {
  bubblewrap: {
    open({ settings, gate, closed }, opened) {
      const driver = createBubblewrapDriver({ launchersReady: settings['sandbox.warm_launchers'], closed }, gate);
      const pool = createWarmPool(driver, { settings: valuesOf(WARM_POOL_SETTINGS, settings) });
      // Closes the driver too.
      opened.defer(() => pool.close());
      return { calls: pool, servers: driver };
    },
  },
  gvisor: {
    open: ({ settings, gate, closed }) => ({
      calls: createGvisorDriver({ program: settings['sandbox.gvisor_program'], closed }, gate),
    }),
  },
  qemu: {
    open: ({ settings }) => ({
      calls: createQemuDriver({ ...guestOf(settings), accelerator: settings['sandbox.qemu_accelerator'] }),
    }),
  },
  firecracker: { open: ({ settings, gate }) => ({ calls: createFirecrackerDriver(guestOf(settings), gate) }) },
  kubernetes: {
    isElsewhere: true,
    open({ settings }, opened) {
      const driver = createKubernetesDriver(poolOf(settings));
      opened.defer(() => driver.close());
      return { calls: driver };
    },
  },
};

/** Names of the drivers that need nothing but this machine. */
export const MACHINE_DRIVERS: readonly string[] = Object.keys(DRIVERS).filter(
  (name) => DRIVERS[name]?.isElsewhere !== true,
);

/**
 * Creates the drivers that the settings name. None is checked before a call or a probe needs it.
 * @param closed absolute paths that no sandbox sees
 * @throws ToolLayerError E3801 for an unknown driver, or one that lacks a setting
 */
export function openSandboxes(opened: AsyncDisposableStack, settings: Settings, closed: readonly string[]): Sandboxes {
  const gate = createEgressGate();
  const names = settings['sandbox.drivers'];
  if (names.length === 0)
    throw new ToolLayerError('E3801', 'sandbox.drivers names no driver. Leave it out for the default.');
  const found = names.map((name) => {
    const driver = Object.hasOwn(DRIVERS, name) ? DRIVERS[name] : undefined;
    if (driver !== undefined) return driver.open({ settings, gate, closed }, opened);
    const known = Object.keys(DRIVERS).join(', ');
    throw new ToolLayerError('E3801', `sandbox.drivers names ${JSON.stringify(name)}; there are ${known}.`);
  });
  const atLeast = settings['sandbox.isolation'];
  const drivers = found.map(({ calls }) => calls);
  const servers = found.map(({ calls, servers: own = calls }) => own);
  const demands = {
    limits: requiredLimits(settings['sandbox.require_limits']),
    withoutHoles: settings['sandbox.refuse_known_holes'],
  };
  return {
    drivers,
    driver: chooseDriver(drivers, atLeast, demands),
    servers: chooseDriver(servers, atLeast, demands),
  };
}

function requiredLimits(names: readonly string[]): readonly LimitName[] {
  return names.map((name) => {
    const found = LIMIT_NAMES.find((known) => known === name);
    if (found !== undefined) return found;
    const known = LIMIT_NAMES.join(', ');
    throw new ToolLayerError('E3801', `sandbox.require_limits names ${JSON.stringify(name)}; there are ${known}.`);
  });
}

function guestOf(settings: Settings): { readonly kernel: string; readonly initrd: string } {
  const named = settings['sandbox.microvm_folder'];
  const folder = named === '' ? join(settings['data_folder'], 'microvm') : named;
  return { kernel: join(folder, 'vmlinuz'), initrd: join(folder, 'initrd') };
}

function poolOf(settings: Settings) {
  const pool = settings['sandbox.kubernetes_pool'];
  if (pool === '') {
    throw new ToolLayerError(
      'E3801',
      'The sandbox driver kubernetes needs sandbox.kubernetes_pool, the name of its pool.',
    );
  }
  const namespace = settings['sandbox.kubernetes_namespace'];
  const kubeconfig = settings['sandbox.kubernetes_kubeconfig'];
  return {
    pool,
    isolation: settings['sandbox.kubernetes_isolation'],
    ...(namespace === '' ? {} : { namespace }),
    ...(kubeconfig === '' ? {} : { kubeconfig }),
  };
}
