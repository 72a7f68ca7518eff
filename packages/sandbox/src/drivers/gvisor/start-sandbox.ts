import { existsSync, statSync } from 'node:fs';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { LimitName, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import type { EgressRun } from '../../egress-gate.ts';
import type { Cover } from '../../linux/closed-places.ts';
import { groupTarget } from '../../linux/crash/crash-watch.ts';
import type { ControlGroup } from '../../linux/limits/control-group.ts';
import { INSIDE_ID } from '../../linux/made-up-files.ts';
import { anyWritable, type Mount, type Owner, WEAKER_WITH_FOLDERS, withSurroundings } from '../../linux/mounts.ts';
import { outsideOf } from '../../linux/stage/mapped-owner.ts';
import { type StagePlan, stageCommand, staged } from '../../linux/stage/stage.ts';
import { UID_SLOTS_MAX } from '../../linux/uid-slots.ts';
import { type Bundle, makeBundle } from './bundle/bundle.ts';
import { isFolderInside } from './bundle/folder-inside.ts';
import { DEFAULT_FOLDER, ociConfig } from './bundle/oci-config.ts';
import { makeRoot } from './bundle/root-folder.ts';
import { type HostResources, runsc, runscOptions } from './host-resources.ts';
import { openWayInside, PERL } from './network/way-inside.ts';
import { type Launched, launch } from './process/launch.ts';
import { runSandbox } from './process/sandbox-run.ts';
import { limitsAround } from './process/watch-group.ts';

/** What one sandbox is made with. */
export interface SandboxOrder {
  readonly spec: SandboxSpec;
  readonly mounts: readonly Mount[];
  readonly covers: readonly Cover[];
  /** Undefined for a sandbox without network. */
  readonly way: EgressRun | undefined;
}

/** Limits that gVisor never enforces in full. */
export const WEAKER_LIMITS: readonly LimitName[] = ['processes'];

/** Users of a sandbox, outside and inside. */
interface Identity {
  /** A uid lent to it. */
  readonly slot: number | undefined;
  /** Uid and gid outside; undefined for the layer's own. */
  readonly outside: Owner | undefined;
  /** Mounts that show their owner's files as those of the sandbox. */
  readonly mapped: ReadonlySet<Mount>;
  /**
   * Uid that the tool sees as its own: that of the folders' files (0, without any capability) where it takes their
   * owner.
   */
  readonly uid: number;
}

/** Starts the command of a spec. @throws E3101 when no sandbox can be made */
export async function startSandbox(hostResources: HostResources, order: SandboxOrder): Promise<SandboxProcess> {
  const { spec, way, mounts } = order;
  let slot: number | undefined;
  let group: ControlGroup | undefined;
  let bundle: Bundle | undefined;
  let launched: Launched | undefined;
  const giveBack = (): void => {
    if (slot !== undefined) hostResources.slots?.giveBack(slot);
  };
  try {
    const identity = await identityFor(hostResources, mounts);
    const uid = identity.outside?.uid;
    slot = identity.slot;
    group = hostResources.groups.create(limitsAround(spec.limits), uid);
    bundle = makeBundle(uid);
    const command = await commandOf(hostResources, order, identity, bundle);
    // To open mounts for another user it starts as root.
    const startsAs = mounts.length === 0 ? uid : undefined;
    launched = launch({ command, uid: startsAs, group, inherited: hostResources.inherited });
    const target = await noted(hostResources, launched);
    launched.begin();
    const { state, id } = bundle;
    return runSandbox({
      ...launched,
      group,
      bundle,
      way,
      limits: spec.limits,
      weakerLimits: [...WEAKER_LIMITS, ...(anyWritable(spec.mounts) ? WEAKER_WITH_FOLDERS : [])],
      ask: () => runsc(hostResources.program, [...optionsFor(hostResources, state), 'kill', id, 'TERM'], uid),
      onGone() {
        giveBack();
        hostResources.watch.forget(target);
      },
    });
  } catch (error) {
    launched?.abandon();
    launched?.launcher.kill('SIGKILL');
    giveBack();
    void group?.remove();
    void bundle?.remove();
    void way?.close();
    throw cannotStart(spec.label, error);
  }
}

async function identityFor({ slots, canMap }: HostResources, mounts: readonly Mount[]): Promise<Identity> {
  const uid = mounts.every(({ isOpenToAll }) => isOpenToAll) ? INSIDE_ID : 0;
  // Without slots the layer is not root, or cannot become another user.
  if (slots === undefined) return { slot: undefined, outside: undefined, mapped: new Set(), uid };
  const { owner, mapped } = await outsideOf(mounts, canMap);
  const slot = slots.take();
  if (slot === undefined) {
    throw new ToolLayerError('E3101', `More than ${UID_SLOTS_MAX} sandboxes run at once. Try again later.`);
  }
  return { slot, outside: owner ?? { uid: slot, gid: slot }, mapped, uid };
}

/** The command that becomes the sandbox; writes its configuration. */
async function commandOf(
  hostResources: HostResources,
  { spec, mounts, covers, way }: SandboxOrder,
  identity: Identity,
  bundle: Bundle,
): Promise<readonly string[]> {
  const { shown } = hostResources;
  const folder = spec.workingDirectory ?? DEFAULT_FOLDER;
  // Otherwise gVisor would create it.
  if (!isFolderInside(folder, mounts, shown)) return NO_FOLDER;
  const inside = way === undefined ? undefined : await openWayInside(way, bundle, identity.uid);
  const environment = way === undefined ? spec.environment : { ...way.view.environment, ...spec.environment };
  const around = withSurroundings(mounts, shown);
  const onStage = staged({ mounts: around, folder: bundle.stage });
  const shownFolders = shown.map((path) => ({ target: path, isFolder: statSync(path).isDirectory() }));
  const forWay = (inside?.binds ?? []).map(({ source, target }) => ({
    target,
    isFolder: statSync(source).isDirectory(),
  }));
  makeRoot(bundle.root, identity.uid, [...shownFolders, ...onStage, ...forWay]);
  const plan = { spec: { ...spec, environment }, mounts: onStage, uid: identity.uid, root: bundle.root, shown };
  bundle.writeConfig(ociConfig({ ...plan, ...(inside === undefined ? {} : { way: inside }) }));
  return [
    ...asRootOfItsOwn(
      { mounts: around, covers, folder: bundle.stage, mapped: identity.mapped, inside: 0 },
      identity.outside,
    ),
    hostResources.program,
    ...optionsFor(hostResources, bundle.state),
    ...['--oci-seccomp', `--host-uds=${way === undefined ? 'none' : 'open'}`, `--log=${bundle.log}`],
    ...['run', '--bundle', bundle.folder, bundle.id],
  ];
}

/**
 * Opens the mounts, and makes the user namespace in which the launcher is root. runsc would make it itself, and then
 * start a second time in it, which takes some 20 ms.
 */
function asRootOfItsOwn(plan: Omit<StagePlan, 'outside'>, outside: Owner | undefined): readonly string[] {
  if (plan.mounts.length === 0) return isRoot && outside === undefined ? [] : UNSHARE;
  return outside === undefined ? stageCommand(plan) : [...stageCommand({ ...plan, outside }), ...UNSHARE];
}

const isRoot = process.getuid?.() === 0;
const UNSHARE = existsSync('/usr/bin/unshare') ? ['/usr/bin/unshare', '--user', '--map-root-user', '--'] : [];

/** Ends as a launcher does that starts nothing. */
const NO_FOLDER = ['/bin/sh', '-c', 'echo "the working directory does not exist in the sandbox" >&2; exit 125'];

/** Rootless, except for a layer that is root and cannot become another user. */
function optionsFor({ platform, slots }: HostResources, state: string): readonly string[] {
  return runscOptions(platform, state, !isRoot || slots !== undefined);
}

/** Reports to the crash watch what must end with the layer, before the launcher does anything. */
async function noted({ watch }: HostResources, { launcher }: Launched): Promise<ReturnType<typeof groupTarget>> {
  if (launcher.pid === undefined) {
    const { promise, reject } = Promise.withResolvers<never>();
    launcher.once('error', reject);
    return promise;
  }
  const target = groupTarget(launcher.pid);
  await watch.note(target);
  return target;
}

/** Why sandboxes on this machine cannot have network, in a sentence; undefined when they can. */
export function wayProblem(): string | undefined {
  return existsSync(PERL)
    ? undefined
    : `${PERL} is missing, so tools cannot be granted network. Type: apt-get install perl-base`;
}

function cannotStart(label: string, cause: unknown): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  return new ToolLayerError(
    'E3101',
    `No gVisor sandbox could be made for ${label}. The operator finds the cause in the log.`,
    { cause },
  );
}
