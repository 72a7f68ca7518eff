import { text } from 'node:stream/consumers';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { DriverProbe, SandboxDriver, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import type { EgressGate, EgressRun } from '../../egress-gate.ts';
import type { ControlGroup } from '../../linux/limits/control-group.ts';
import { type Mount, resolveMounts } from '../../linux/mounts.ts';
import { UID_SLOTS_MAX } from '../../linux/uid-slots.ts';
import { listenerProblem, openListeners } from './network/open-listeners.ts';
import { explainFailure, prepareWorkshop, type Workshop, weaknessesOf } from './probe.ts';
import { bubblewrapVersion } from './process/bubblewrap-version.ts';
import { launch } from './process/launch.ts';
import { runSandbox } from './process/sandbox-run.ts';
import { standing } from './process/standing.ts';
import { BUBBLEWRAP_DEFAULTS, type BubblewrapSettings, SANDBOX_BOUNDS } from './settings.ts';
import { programFault } from './view/find-program.ts';

/**
 * Sandboxes by Linux namespaces. What every sandbox shares is prepared at the first probe or start and lives as long as
 * the process.
 * @param gate lets sandboxes out to what their spec names; without one, a spec that names an address is refused
 */
export function createBubblewrapDriver(settings: Partial<BubblewrapSettings> = {}, gate?: EgressGate): SandboxDriver {
  let known: Promise<Readiness> | undefined;
  const ready = (): Promise<Readiness> => {
    known ??= examine({ ...BUBBLEWRAP_DEFAULTS, ...settings }, gate !== undefined);
    return known;
  };
  return {
    name: 'bubblewrap',
    isolation: 'namespaces',
    supports: { egress: gate !== undefined, mounts: true, programs: 'host' },
    probe: async () => (await ready()).probe,
    async start(spec) {
      checkSpec(spec);
      const mounts = resolveMounts(spec.mounts);
      const { workshop, probe } = await ready();
      if (workshop === undefined || !probe.works) {
        throw new ToolLayerError('E3101', `No sandbox can be made. ${probe.problem ?? ''}`);
      }
      return startIn(workshop, spec, mounts, openWay(gate, spec));
    },
  };
}

interface Readiness {
  readonly probe: DriverProbe;
  readonly workshop?: Workshop;
}

/** A trial run, the only way to know whether the kernel, its settings and bubblewrap agree. */
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
    const workshop = prepareWorkshop(settings);
    if (typeof workshop === 'string') return fails(workshop);
    const complaint = await complaintOfTrial(workshop);
    if (complaint === undefined) return works(workshop, hasGate);
    // Groups that look writable may still refuse; the rlimit ladder is weaker, and says so.
    const plain = { ...workshop, groups: undefined };
    const isGroups = workshop.groups !== undefined && (await complaintOfTrial(plain)) === undefined;
    return isGroups ? works(plain, hasGate) : fails(explainFailure(complaint));
  } catch (error) {
    return fails(explainFailure(error instanceof Error ? error.message : String(error)));
  }
}

async function works(workshop: Workshop, hasGate: boolean): Promise<Readiness> {
  const version = await bubblewrapVersion(workshop.pad.program);
  const closed = hasGate ? listenerProblem() : undefined;
  const weaknesses = [...weaknessesOf(workshop), ...(closed === undefined ? [] : [closed])];
  return { probe: { works: true, ...(version === undefined ? {} : { version }), weaknesses }, workshop };
}

/** What went wrong in a trial run; undefined when nothing did. */
async function complaintOfTrial(workshop: Workshop): Promise<string | undefined> {
  try {
    const trial = await startIn(workshop, TRIAL, [], undefined);
    const [exit, complaint] = await Promise.all([trial.exited, text(trial.stderr), text(trial.stdout)]);
    return exit.code === 0 ? undefined : complaint;
  } catch (error) {
    const cause = error instanceof ToolLayerError ? error.failure.cause : error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** Undefined for a sandbox that reaches nothing. */
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

async function startIn(
  workshop: Workshop,
  spec: SandboxSpec,
  mounts: readonly Mount[],
  way: EgressRun | undefined,
): Promise<SandboxProcess> {
  const { pad, groups, slots } = workshop;
  // Root gives its uid up where the tool needs no file that only root may touch (ADR 0003).
  const wantsSlot = slots !== undefined && mounts.every(({ openToAll }) => openToAll);
  const uid = wantsSlot ? slots.take() : undefined;
  if (wantsSlot && uid === undefined) {
    void way?.close();
    throw new ToolLayerError('E3101', `More than ${UID_SLOTS_MAX} sandboxes run at once. Try again later.`);
  }
  const giveBack = (): void => {
    if (uid !== undefined) slots?.giveBack(uid);
  };
  let group: ControlGroup | undefined;
  try {
    group = groups?.create(spec.limits, uid);
    const launched = launch(pad, { spec: seenFrom(spec, way), mounts, group, uid, hosts: way?.view.hosts ?? '' });
    const first = await standing(launched, pad.watch, way && ((pid) => openListeners({ ...pad, ...way, pid, uid })));
    return runSandbox({
      ...launched,
      first,
      group,
      way,
      limits: spec.limits,
      programFault: () => programFault(spec, mounts),
      onGone() {
        giveBack();
        if (first.target !== undefined) pad.watch.forget(first.target);
      },
    });
  } catch (error) {
    giveBack();
    void group?.remove();
    void way?.close();
    throw cannotStart(spec.label, error);
  }
}

/** What the tool itself sets is not overridden. */
function seenFrom(spec: SandboxSpec, way: EgressRun | undefined): SandboxSpec {
  return way === undefined ? spec : { ...spec, environment: { ...way.view.environment, ...spec.environment } };
}

function cannotStart(label: string, cause: unknown): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  return new ToolLayerError(
    'E3101',
    `No sandbox could be made for ${label}. The operator finds the cause in the log.`,
    {
      cause,
    },
  );
}

const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkSpec({ command, environment, workingDirectory }: SandboxSpec): void {
  const names = Object.keys(environment);
  const texts = [...command, ...Object.values(environment), workingDirectory ?? ''];
  if (names.length > SANDBOX_BOUNDS.environmentNamesMax) {
    throw unusable(`its environment has more than ${SANDBOX_BOUNDS.environmentNamesMax} names`);
  }
  const odd = names.find((name) => !ENVIRONMENT_NAME.test(name));
  if (odd !== undefined) throw unusable(`${JSON.stringify(odd)} is no name of an environment variable`);
  if (texts.some((value) => value.includes('\0'))) throw unusable('its command or environment holds a NUL character');
}

function unusable(why: string): ToolLayerError {
  return new ToolLayerError('E3101', `The sandbox cannot be made: ${why}.`);
}
