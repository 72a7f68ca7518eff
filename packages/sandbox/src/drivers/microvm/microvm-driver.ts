import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DriverProbe, SandboxDriver, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import type { EgressGate, EgressRun } from '../../egress-gate.ts';
import { startMessage } from './agent/start-message.ts';
import { firecrackerBackend } from './firecracker/firecracker-backend.ts';
import { runJob } from './job.ts';
import type { MachineBackend } from './machine.ts';
import { qemuBackend } from './qemu/qemu-backend.ts';
import { type FirecrackerChoices, MICROVM_BOUNDS, type QemuChoices } from './settings.ts';

/**
 * Sandboxes by virtual machines of QEMU, one per job. They run programs of their own image without network. Nothing is
 * examined before the first probe or start.
 */
export function createQemuDriver(choices: QemuChoices): SandboxDriver {
  return microvmDriver(qemuBackend(choices), undefined);
}

/**
 * Sandboxes by virtual machines of Firecracker, one per job.
 * @param gate lets jobs reach the addresses of their spec, over vsock; the guest's agent must support it
 */
export function createFirecrackerDriver(choices: FirecrackerChoices, gate?: EgressGate): SandboxDriver {
  return microvmDriver(firecrackerBackend(choices), gate);
}

/** A driver out of a backend. @param gate lets jobs out where the backend can carry it */
export function microvmDriver(backend: MachineBackend, gate: EgressGate | undefined): SandboxDriver {
  const egress = backend.egress && gate !== undefined;
  return {
    name: backend.name,
    isolation: 'microvm',
    supports: { egress, mounts: false, programs: 'image' },
    probe: () => backend.probe(),
    async start(spec) {
      checkSpec(spec);
      refuseMounts(spec);
      const openWay = wayOut(spec, egress ? gate : undefined);
      const probe = await backend.probe();
      if (!probe.works) throw cannotRun(probe);
      return startIn(backend, spec, openWay(), probe);
    },
  };
}

async function startIn(
  backend: MachineBackend,
  spec: SandboxSpec,
  way: EgressRun | undefined,
  { weakerLimits }: DriverProbe,
): Promise<SandboxProcess> {
  try {
    const machine = await backend.open({ limits: spec.limits, way });
    const running = await runJob(machine, spec, way, startMessage(spec, way, Date.now()));
    if (weakerLimits === undefined) return running;
    return { ...running, exited: running.exited.then((exit) => ({ ...exit, weakerLimits })) };
  } catch (cause) {
    void way?.close();
    throw new ToolLayerError(
      'E3101',
      `No machine could be made for ${spec.label}. The operator finds the cause in the log.`,
      { cause },
    );
  }
}

/** @returns a function that opens the network, so that it is not opened for a machine that is never made */
function wayOut({ network, limits }: SandboxSpec, gate: EgressGate | undefined): () => EgressRun | undefined {
  const [address] = network;
  if (address === undefined) return () => undefined;
  if (gate === undefined) {
    throw new ToolLayerError(
      'E3104',
      `There is no way out of this sandbox to ${address.host}:${address.port}. Use a tool without network permissions.`,
      { details: { host: address.host, port: address.port } },
    );
  }
  const { networkBandwidthMbps } = limits;
  return () =>
    gate.open({ network, ...(networkBandwidthMbps === undefined ? {} : { bandwidthMbps: networkBandwidthMbps }) });
}

function refuseMounts({ mounts }: SandboxSpec): void {
  const [mount] = mounts;
  if (mount === undefined) return;
  throw new ToolLayerError(
    'E3105',
    `A microVM cannot see ${mount.path.replaceAll('\0', '\\0')}: it shows no folders of the host.`,
    { details: { path: mount.path.replaceAll('\0', '\\0') } },
  );
}

function cannotRun({ problem }: DriverProbe): ToolLayerError {
  return new ToolLayerError('E3101', `No sandbox can be made. ${problem ?? ''}`);
}

const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkSpec({ command, environment, workingDirectory = '/tmp' }: SandboxSpec): void {
  const names = Object.keys(environment);
  const texts = [...command, ...Object.values(environment), workingDirectory];
  if (names.length > MICROVM_BOUNDS.environmentNamesMax) {
    throw unusable(`its environment has more than ${MICROVM_BOUNDS.environmentNamesMax} names`);
  }
  const odd = names.find((name) => !ENVIRONMENT_NAME.test(name));
  if (odd !== undefined) throw unusable(`${JSON.stringify(odd)} is no name of an environment variable`);
  if (texts.some((value) => value.includes('\0'))) throw unusable('its command or environment holds a NUL character');
  // The guest's `env` takes words with this sign for variables.
  if (command[0].includes('=')) throw unusable('the name of its program holds a "="');
  const bytes = [...names, ...texts].reduce((total, text) => total + Buffer.byteLength(text), 0);
  if (bytes > MICROVM_BOUNDS.startBytesMax) {
    throw unusable(`its command and environment have more than ${MICROVM_BOUNDS.startBytesMax} bytes`);
  }
}

function unusable(why: string): ToolLayerError {
  return new ToolLayerError('E3101', `The sandbox cannot be made: ${why}.`);
}
