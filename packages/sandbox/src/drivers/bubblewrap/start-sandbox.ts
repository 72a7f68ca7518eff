import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import type { EgressRun } from '../../egress-gate.ts';
import type { Cover, View } from '../../linux/closed-places.ts';
import { anyWritable, type Mount, WEAKER_WITH_FOLDERS, withSurroundings } from '../../linux/mounts.ts';
import { type Outside, outsideOf } from '../../linux/stage/mapped-owner.ts';
import { type Staged, staged, stageFault, stageOrder } from '../../linux/stage/stage.ts';
import type { StandingSandbox } from '../../warm-pool/warmable-driver.ts';
import { openListeners } from './network/open-listeners.ts';
import { type HostResources, WEAKER_WITHOUT_GROUPS } from './probe.ts';
import { type Launch, type Launched, launch } from './process/launch.ts';
import { joined, LAUNCHER_COMMAND, type Launcher } from './process/launcher.ts';
import type { LauncherKind } from './process/launcher-stock.ts';
import { runSandbox } from './process/sandbox-run.ts';
import { type FirstProcess, standing } from './process/standing.ts';
import { SANDBOX_BOUNDS } from './settings.ts';
import { SHOWN_PATHS } from './view/base-system.ts';
import { programFault } from './view/find-program.ts';
import { jobText } from './warm/job.ts';
import { type JobReport, readJobReport } from './warm/job-report.ts';
import type { Runtime } from './warm/runtime.ts';

/** Inputs for one sandbox. */
export interface SandboxOrder {
  readonly spec: SandboxSpec;
  readonly mounts: readonly Mount[];
  readonly covers: readonly Cover[];
  /** Undefined for a sandbox without network. */
  readonly way: EgressRun | undefined;
}

/** Starts the command of a spec. @throws E3101 when no sandbox can be made */
export async function startSandbox(hostResources: HostResources, order: SandboxOrder): Promise<SandboxProcess> {
  const made = await makeSandbox(hostResources, order, {
    spec: seenFrom(order.spec, order.way),
    hosts: order.way?.view.hosts ?? '',
  });
  return runMade(hostResources, made, order);
}

/**
 * Makes a sandbox in which a runtime waits for its job, for any spec with the same key. While it waits only its
 * processes' limits apply, since no foreign code runs in it.
 * @throws E3101 when no sandbox can be made
 */
export async function standSandbox(
  hostResources: HostResources,
  order: SandboxOrder,
  runtime: Runtime,
): Promise<StandingSandbox> {
  const { spec, way } = order;
  const { command, environment, programAt } = runtime;
  const made = await makeSandbox(hostResources, order, {
    spec: { ...spec, command, environment },
    hosts: way?.view.hosts ?? '',
    waiting: { runtimeAt: programAt },
  });
  const report = readJobReport(made.launched.job);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const late = setTimeout(
    reject,
    SANDBOX_BOUNDS.standTimeoutMs,
    new Error('what should wait for a job takes too long'),
  );
  try {
    await Promise.race([report.ready, tooLate]);
  } catch (cause) {
    await discard(hostResources, made, order, report);
    throw cannotStart(spec.label, cause);
  } finally {
    clearTimeout(late);
  }
  made.launcher.hold(false);
  foreseeLimits(made, spec);
  return waitingSandbox(hostResources, made, order, report);
}

/** Sets the limits most likely needed while nobody waits; the hand-off sets the actual ones. */
function foreseeLimits({ launcher }: Made, { limits }: SandboxSpec): void {
  try {
    launcher.group?.bound(limits);
  } catch {
    // Too tight for the waiting runtime: the hand-off meets the same error, and reports it.
  }
}

function waitingSandbox(
  hostResources: HostResources,
  made: Made,
  order: SandboxOrder,
  report: JobReport,
): StandingSandbox {
  let isTaken = false;
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= discard(hostResources, made, order, report);
    return ended;
  };
  made.launcher.child.once('exit', () => {
    if (!isTaken) void end();
  });
  return {
    waits: () => !isTaken && ended === undefined && made.launcher.waits(),
    handOff(spec) {
      made.launcher.group?.bound(spec.limits);
      isTaken = true;
      // Sent first: everything else can be done while it wakes up.
      made.launched.job.end(jobText(seenFrom(spec, order.way)));
      made.launcher.hold(true);
      return runMade(hostResources, made, { ...order, spec }, report);
    },
    discard: end,
  };
}

/** Ends a sandbox that was never used. */
async function discard(
  hostResources: HostResources,
  made: Made,
  order: SandboxOrder,
  report: JobReport,
): Promise<void> {
  made.launcher.hold(true);
  const running = runMade(hostResources, made, order, report);
  running.kill();
  // Nobody reads what it said.
  for (const pipe of [running.stdout, running.stderr]) pipe.destroy();
  await running.exited;
}

interface Made {
  readonly launcher: Launcher;
  readonly launched: Launched;
  readonly first: FirstProcess;
}

async function makeSandbox(
  hostResources: HostResources,
  { spec, mounts, covers, way }: SandboxOrder,
  inside: Omit<Launch, 'stage' | 'mounts'>,
): Promise<Made> {
  const { pad, stock } = hostResources;
  let launcher: Launcher | undefined;
  try {
    const { kind, isOwners, stageFor } = await stagePlan(hostResources, { mounts, covers });
    launcher = await stock.take(kind);
    const { uid } = launcher;
    const launched = launch(pad, isOwners ? joined(launcher) : launcher, { ...inside, ...stageFor(launcher) });
    const first = await standing(launched, pad.watch, way && ((pid) => openListeners({ ...pad, ...way, pid, uid })));
    return { launcher, launched, first };
  } catch (error) {
    if (launcher !== undefined) {
      launcher.discard();
      stock.giveBack(launcher);
      void launcher.group?.remove();
    }
    void way?.close();
    throw cannotStart(spec.label, error);
  }
}

/** bubblewrap itself covers this folder while it works, so it exists, and nothing in it is needed except the stage. */
const STAGE_FOLDER = '/tmp';

interface Stage {
  readonly kind: LauncherKind;
  /** True when it takes the folders' owner as its uid, instead of a lent one. */
  readonly isOwners: boolean;
  stageFor(launcher: Launcher): { readonly stage: Buffer | undefined; readonly mounts: readonly Staged[] };
}

/** Who opens the mounts, and as which user (ADR 0003). */
async function stagePlan({ slots, canMap }: HostResources, { mounts: granted, covers }: View): Promise<Stage> {
  if (granted.length === 0) {
    return { kind: 'plain', isOwners: false, stageFor: () => ({ stage: undefined, mounts: [] }) };
  }
  const mounts = withSurroundings(granted, SHOWN_PATHS);
  const plan = { mounts, covers, folder: STAGE_FOLDER };
  const onStage = staged(plan);
  const { owner, mapped } = slots === undefined ? NOBODY_ELSE : await outsideOf(mounts, canMap);
  return {
    kind: 'staging',
    isOwners: owner !== undefined,
    stageFor({ lentUid }) {
      const lent = lentUid === undefined ? undefined : { uid: lentUid, gid: lentUid };
      const outside = owner ?? lent;
      const stage = stageOrder({ ...plan, mapped, ...(outside === undefined ? {} : { outside }) }, LAUNCHER_COMMAND);
      return { stage, mounts: onStage };
    },
  };
}

/** A layer that is not root has no rights to drop. */
const NOBODY_ELSE: Outside = { mapped: new Set() };

function runMade(
  { pad, stock, groups }: HostResources,
  { launcher, launched, first }: Made,
  { spec, mounts, way }: SandboxOrder,
  report?: JobReport,
): SandboxProcess {
  return runSandbox({
    ...launched,
    first,
    way,
    ...(report === undefined ? {} : { report }),
    limits: spec.limits,
    weakerLimits: [
      ...(groups === undefined ? WEAKER_WITHOUT_GROUPS : []),
      ...(anyWritable(mounts) ? WEAKER_WITH_FOLDERS : []),
    ],
    programFault: () => programFault(spec, mounts),
    onGone() {
      stock.giveBack(launcher);
      if (first.target !== undefined) pad.watch.forget(first.target);
    },
  });
}

/** Variables set for the tool itself are not overridden. */
function seenFrom(spec: SandboxSpec, way: EgressRun | undefined): SandboxSpec {
  return way === undefined ? spec : { ...spec, environment: { ...way.view.environment, ...spec.environment } };
}

function cannotStart(label: string, cause: unknown): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  const fault = cause instanceof Error ? stageFault(cause.message) : undefined;
  if (fault !== undefined) return fault;
  return new ToolLayerError(
    'E3101',
    `No sandbox could be made for ${label}. The operator finds the cause in the log.`,
    { cause },
  );
}
