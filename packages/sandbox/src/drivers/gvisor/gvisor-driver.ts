import { text } from 'node:stream/consumers';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DriverProbe, SandboxDriver, SandboxSpec } from '../../driver.port.ts';
import type { EgressGate, EgressRun } from '../../egress-gate.ts';
import { viewOf } from '../../linux/closed-places.ts';
import { openHoles } from '../../linux/holes/open-holes.ts';
import { FOLDERS_GROW, WEAKER_WITH_FOLDERS } from '../../linux/mounts.ts';
import { checkUsable } from '../../linux/usable-spec.ts';
import { type HostResources, prepareHostResources } from './host-resources.ts';
import { GVISOR_HOLES, releaseOf } from './known-holes.ts';
import { GVISOR_BOUNDS, GVISOR_DEFAULTS, type GvisorPlatform, type GvisorSettings } from './settings.ts';
import { startSandbox, WEAKER_LIMITS, wayProblem } from './start-sandbox.ts';

/**
 * Sandboxes with a kernel of their own in user space, by gVisor's runsc. Shared parts are prepared at the first probe
 * or start and live as long as the process.
 * @param gate lets sandboxes reach the addresses of their spec; without one, a spec that names an address is refused
 */
export function createGvisorDriver(settings: Partial<GvisorSettings> = {}, gate?: EgressGate): SandboxDriver {
  const { closed } = { ...GVISOR_DEFAULTS, ...settings };
  let known: Promise<Readiness> | undefined;
  const ready = (): Promise<Readiness> => {
    known ??= examine({ ...GVISOR_DEFAULTS, ...settings }, gate !== undefined);
    return known;
  };
  return {
    name: 'gvisor',
    isolation: 'user_kernel',
    supports: { egress: gate !== undefined, mounts: true, programs: 'host' },
    probe: async () => (await ready()).probe,
    async start(spec) {
      checkUsable(spec);
      const view = viewOf(spec, closed);
      const { hostResources, probe } = await ready();
      if (hostResources === undefined) {
        throw new ToolLayerError('E3101', `No gVisor sandbox can be made. ${probe.problem ?? ''}`);
      }
      return startSandbox(hostResources, { spec, ...view, way: openWay(gate, spec) });
    },
  };
}

interface Readiness {
  readonly probe: DriverProbe;
  readonly hostResources?: HostResources;
}

/** A trial run, the only way to know whether a platform works here. Old releases do not know a flag that `ls` sets. */
const TRIAL: SandboxSpec = {
  label: 'trial',
  command: ['/bin/sh', '-c', 'ls -d /usr >/dev/null 2>&1 || echo old'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 },
};

const COUNTED_ROUGHLY =
  'gVisor does not count the processes of a tool: one that has more than its limit is ended whole, within some 50 ms, and up to twice as many may pass.';
const OLD_RELEASE =
  'This release of runsc lacks a flag of `statx`, so `ls` and `stat` of newer systems fail in it. Install a release of 2023 or later: https://gvisor.dev/docs/user_guide/install/';

async function examine(settings: GvisorSettings, hasGate: boolean): Promise<Readiness> {
  const fails = (problem: string): Readiness => ({ probe: { works: false, problem, weaknesses: [] } });
  try {
    const prepared = await prepareHostResources(settings);
    if (typeof prepared === 'string') return fails(prepared);
    const complaints: string[] = [];
    for (const platform of settings.platforms) {
      const hostResources = { ...prepared, platform };
      const trial = await tryOut(hostResources);
      if ('said' in trial) return works(hostResources, trial.said, hasGate);
      complaints.push(`${platform}: ${trial.complaint}`);
    }
    return fails(`runsc ${prepared.version} starts no sandbox here. ${complaints.join('; ')}`);
  } catch (error) {
    return fails(`runsc does not work here: ${messageOf(error)}`);
  }
}

function works(hostResources: HostResources, said: string, hasGate: boolean): Readiness {
  const closed = hasGate ? wayProblem() : undefined;
  const weaknesses = [
    COUNTED_ROUGHLY,
    FOLDERS_GROW,
    ...(said === '' ? [] : [OLD_RELEASE]),
    ...(closed === undefined ? [] : [closed]),
  ];
  const version = `${hostResources.version} (${hostResources.platform satisfies GvisorPlatform})`;
  const holes = openHoles(GVISOR_HOLES, {
    name: 'runsc',
    version: releaseOf(hostResources.version),
    isOpen: {},
    install: 'Install a newer release: https://gvisor.dev/docs/user_guide/install/',
  });
  const known = holes.length === 0 ? {} : { holes };
  const weaker = { weakerLimits: WEAKER_LIMITS, weakerWithFolders: WEAKER_WITH_FOLDERS };
  return { probe: { works: true, version, weaknesses, ...weaker, ...known }, hostResources };
}

async function tryOut(hostResources: HostResources): Promise<{ said: string } | { complaint: string }> {
  const trial = await startSandbox(hostResources, { spec: TRIAL, mounts: [], covers: [], way: undefined });
  const late = setTimeout(() => trial.kill(), GVISOR_BOUNDS.trialTimeoutMs);
  const [exit, said, complaint] = await Promise.all([trial.exited, text(trial.stdout), text(trial.stderr)]);
  clearTimeout(late);
  return exit.code === 0 ? { said } : { complaint: complaint.trim() || 'it ended without a word' };
}

/** Undefined for a sandbox without network. */
function openWay(gate: EgressGate | undefined, { network, limits }: SandboxSpec): EgressRun | undefined {
  const [address] = network;
  if (address === undefined) return undefined;
  const problem = gate === undefined ? 'This sandbox has no gate.' : wayProblem();
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
