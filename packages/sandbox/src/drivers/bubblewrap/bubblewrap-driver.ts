import { text } from 'node:stream/consumers';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DriverProbe, SandboxSpec } from '../../driver.port.ts';
import type { EgressGate, EgressRun } from '../../egress-gate.ts';
import { type View, viewOf } from '../../linux/closed-places.ts';
import { openHoles } from '../../linux/holes/open-holes.ts';
import { FOLDERS_GROW, WEAKER_WITH_FOLDERS } from '../../linux/mounts.ts';
import { checkUsable } from '../../linux/usable-spec.ts';
import type { WarmableDriver, WarmPlan } from '../../warm-pool/warmable-driver.ts';
import { examineProgram } from './holes/examine-program.ts';
import { BUBBLEWRAP_HOLES } from './holes/known-holes.ts';
import { listenerProblem } from './network/open-listeners.ts';
import {
  explainFailure,
  type HostResources,
  prepareHostResources,
  stocked,
  WEAKER_WITHOUT_GROUPS,
  weaknessesOf,
} from './probe.ts';
import { BUBBLEWRAP_DEFAULTS, type BubblewrapSettings } from './settings.ts';
import { standSandbox, startSandbox } from './start-sandbox.ts';
import { keyOf, runtimeFor } from './warm/runtime.ts';

/**
 * Sandboxes by Linux namespaces. Shared parts are prepared at the first probe or start and live as long as the process.
 * @param gate lets sandboxes reach the addresses of their spec; without one, a spec that names an address is refused
 */
export function createBubblewrapDriver(settings: Partial<BubblewrapSettings> = {}, gate?: EgressGate): WarmableDriver {
  const { closed } = { ...BUBBLEWRAP_DEFAULTS, ...settings };
  let known: Promise<Readiness> | undefined;
  let hostResources: HostResources | undefined;
  const ready = (): Promise<Readiness> => {
    known ??= examine({ ...BUBBLEWRAP_DEFAULTS, ...settings }, gate !== undefined).then((found) => {
      hostResources = found.probe.works ? found.hostResources : undefined;
      return found;
    });
    return known;
  };
  return {
    name: 'bubblewrap',
    isolation: 'namespaces',
    supports: { egress: gate !== undefined, mounts: true, programs: 'host' },
    probe: async () => (await ready()).probe,
    async start(spec) {
      checkUsable(spec);
      const view = viewOf(spec, closed);
      const { probe } = await ready();
      if (hostResources === undefined)
        throw new ToolLayerError('E3101', `No sandbox can be made. ${probe.problem ?? ''}`);
      return startSandbox(hostResources, { spec, ...view, way: openWay(gate, spec) });
    },
    plan(spec) {
      checkUsable(spec);
      const lookAround = (): View => viewOf(spec, closed);
      const view = lookAround();
      return hostResources === undefined ? undefined : planFor(hostResources, spec, { ...view, lookAround }, gate);
    },
    async close() {
      await (await known)?.hostResources?.stock.close();
    },
  };
}

function planFor(
  hostResources: HostResources,
  spec: SandboxSpec,
  { mounts, lookAround }: View & { readonly lookAround: () => View },
  gate: EgressGate | undefined,
): WarmPlan | undefined {
  const runtime = runtimeFor(spec);
  if (runtime === undefined) return undefined;
  const isCounted = hostResources.groups !== undefined;
  const key = keyOf(spec, mounts, runtime, isCounted);
  const { limits, network } = spec;
  const bare = {
    label: 'a warm sandbox',
    command: runtime.command,
    environment: {},
    mounts: spec.mounts,
    network,
    limits,
  };
  return {
    key,
    async stand() {
      const found = lookAround();
      // A folder may have been replaced since the call asked for it.
      if (keyOf(bare, found.mounts, runtime, isCounted) !== key) throw unusable('its folders have changed');
      return standSandbox(hostResources, { spec: bare, ...found, way: openWay(gate, bare) }, runtime);
    },
  };
}

interface Readiness {
  readonly probe: DriverProbe;
  readonly hostResources?: HostResources;
}

/** A trial run, the only way to know whether the kernel, its settings and bubblewrap work together. */
const TRIAL: SandboxSpec = {
  label: 'trial',
  command: ['/bin/sh', '-c', ':'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 },
};

async function examine(settings: BubblewrapSettings, hasGate: boolean): Promise<Readiness> {
  const fails = (problem: string): Readiness => ({ probe: { works: false, problem, weaknesses: [] } });
  try {
    const hostResources = prepareHostResources(settings);
    if (typeof hostResources === 'string') return fails(hostResources);
    const complaint = await complaintOfTrial(hostResources);
    if (complaint === undefined) return works(hostResources, hasGate);
    // Control groups that look writable may still refuse; then the weaker rlimit ladder is used, and reported.
    const plain = stocked({ ...hostResources, groups: undefined }, settings);
    const isGroups = hostResources.groups !== undefined && (await complaintOfTrial(plain)) === undefined;
    return isGroups ? works(plain, hasGate) : fails(explainFailure(complaint));
  } catch (error) {
    return fails(explainFailure(messageOf(error)));
  }
}

async function works(hostResources: HostResources, hasGate: boolean): Promise<Readiness> {
  const program = await examineProgram(hostResources.pad.program);
  const { version } = program;
  const holes = openHoles(BUBBLEWRAP_HOLES, program);
  const closed = hasGate ? listenerProblem() : undefined;
  const weaknesses = [...weaknessesOf(hostResources), FOLDERS_GROW, ...(closed === undefined ? [] : [closed])];
  const probe: DriverProbe = {
    works: true,
    ...(version === undefined ? {} : { version }),
    weaknesses,
    ...(hostResources.groups === undefined ? { weakerLimits: WEAKER_WITHOUT_GROUPS } : {}),
    weakerWithFolders: WEAKER_WITH_FOLDERS,
    ...(holes.length === 0 ? {} : { holes }),
  };
  return { probe, hostResources };
}

/** The error of a trial run; undefined when it succeeded. */
async function complaintOfTrial(hostResources: HostResources): Promise<string | undefined> {
  try {
    const trial = await startSandbox(hostResources, { spec: TRIAL, mounts: [], covers: [], way: undefined });
    const [exit, complaint] = await Promise.all([trial.exited, text(trial.stderr), text(trial.stdout)]);
    return exit.code === 0 ? undefined : complaint;
  } catch (error) {
    const cause = error instanceof ToolLayerError ? error.failure.cause : error;
    return messageOf(cause);
  }
}

/** Undefined for a sandbox without network. */
function openWay(gate: EgressGate | undefined, { network, limits }: SandboxSpec): EgressRun | undefined {
  const [address] = network;
  if (address === undefined) return undefined;
  const problem = gate === undefined ? 'This sandbox has no gate.' : listenerProblem();
  if (gate === undefined || problem !== undefined) {
    throw new ToolLayerError(
      'E3104',
      `There is no way out to ${address.host}:${address.port}. ${problem} Or use a tool without network permissions.`,
      { details: { host: address.host, port: address.port } },
    );
  }
  const { networkBandwidthMbps } = limits;
  return gate.open({ network, ...(networkBandwidthMbps === undefined ? {} : { bandwidthMbps: networkBandwidthMbps }) });
}

function unusable(why: string): ToolLayerError {
  return new ToolLayerError('E3101', `The sandbox cannot be made: ${why}.`);
}
