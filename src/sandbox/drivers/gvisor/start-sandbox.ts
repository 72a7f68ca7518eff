import { existsSync } from 'node:fs';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import type { EgressRun } from '../../egress-gate.ts';
import { groupTarget } from '../../linux/crash/crash-watch.ts';
import type { ControlGroup } from '../../linux/limits/control-group.ts';
import { INSIDE_ID } from '../../linux/made-up-files.ts';
import { areOpenToAll, type Mount } from '../../linux/mounts.ts';
import { UID_SLOTS_MAX } from '../../linux/uid-slots.ts';
import { type Bundle, makeBundle } from './bundle/bundle.ts';
import { isFolderInside } from './bundle/folder-inside.ts';
import { DEFAULT_FOLDER, ociConfig } from './bundle/oci-config.ts';
import { makeRoot } from './bundle/root-folder.ts';
import { openWayInside, PERL } from './network/way-inside.ts';
import { type Launched, launch } from './process/launch.ts';
import { runSandbox } from './process/sandbox-run.ts';
import { limitsAround } from './process/watch-group.ts';
import { runsc, runscOptions, type Workshop } from './workshop.ts';

/** What one sandbox is made with. */
export interface SandboxOrder {
  readonly spec: SandboxSpec;
  readonly mounts: readonly Mount[];
  /** Undefined for a sandbox that reaches nothing. */
  readonly way: EgressRun | undefined;
}

/** Who a sandbox is, outside and inside. */
interface Identity {
  /** Uid and gid outside; undefined for the layer's own. */
  readonly slot: number | undefined;
  /** Whether runsc runs without rights of root outside. */
  readonly rootless: boolean;
  /** What the tool sees as its own: that of the layer's files (0, without any capability) where it gets them. */
  readonly uid: number;
}

/** Starts the command of a spec. @throws E3101 when no sandbox can be made */
export async function startSandbox(workshop: Workshop, order: SandboxOrder): Promise<SandboxProcess> {
  const { spec, way } = order;
  let slot: number | undefined;
  let group: ControlGroup | undefined;
  let bundle: Bundle | undefined;
  let launched: Launched | undefined;
  const giveBack = (): void => {
    if (slot !== undefined) workshop.slots?.giveBack(slot);
  };
  try {
    const identity = identityFor(workshop, order.mounts);
    slot = identity.slot;
    group = workshop.groups.create(limitsAround(spec.limits), slot);
    bundle = makeBundle(slot);
    const command = await commandOf(workshop, order, identity, bundle);
    launched = launch({ command, uid: slot, group, inherited: workshop.inherited });
    const target = await noted(workshop, launched);
    launched.begin();
    const { state, id } = bundle;
    return runSandbox({
      ...launched,
      group,
      bundle,
      way,
      limits: spec.limits,
      ask: () => runsc(workshop.program, [...optionsFor(workshop, state, identity), 'kill', id, 'TERM'], slot),
      onGone() {
        giveBack();
        workshop.watch.forget(target);
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

function identityFor({ slots }: Workshop, mounts: readonly Mount[]): Identity {
  const isOpen = areOpenToAll(mounts);
  const uid = isOpen ? INSIDE_ID : 0;
  // Without slots the layer is no root, or one that may become nobody else.
  if (slots === undefined) return { slot: undefined, rootless: process.getuid?.() !== 0, uid };
  if (!isOpen) return { slot: undefined, rootless: false, uid };
  const slot = slots.take();
  if (slot === undefined) {
    throw new ToolLayerError('E3101', `More than ${UID_SLOTS_MAX} sandboxes run at once. Try again later.`);
  }
  return { slot, rootless: true, uid };
}

/** The command that becomes the sandbox; writes its configuration. */
async function commandOf(
  workshop: Workshop,
  { spec, mounts, way }: SandboxOrder,
  identity: Identity,
  bundle: Bundle,
): Promise<readonly string[]> {
  const { shown } = workshop;
  const folder = spec.workingDirectory ?? DEFAULT_FOLDER;
  // gVisor would make it.
  if (!isFolderInside(folder, mounts, shown)) return NO_FOLDER;
  const inside = way === undefined ? undefined : await openWayInside(way, bundle, identity.uid);
  const environment = way === undefined ? spec.environment : { ...way.view.environment, ...spec.environment };
  const binds = [...shown.map((path) => ({ source: path, target: path })), ...mounts, ...(inside?.binds ?? [])];
  makeRoot(bundle.root, identity.uid, binds);
  const plan = { spec: { ...spec, environment }, mounts, uid: identity.uid, root: bundle.root, shown };
  bundle.writeConfig(ociConfig({ ...plan, ...(inside === undefined ? {} : { way: inside }) }));
  return [
    ...(identity.rootless ? AS_ROOT_OF_ITS_OWN : []),
    workshop.program,
    ...optionsFor(workshop, bundle.state, identity),
    ...['--oci-seccomp', `--host-uds=${way === undefined ? 'none' : 'open'}`, `--log=${bundle.log}`],
    ...['run', '--bundle', bundle.folder, bundle.id],
  ];
}

/** runsc would make this user namespace itself, and then start a second time in it, which takes some 20 ms. */
const AS_ROOT_OF_ITS_OWN = existsSync('/usr/bin/unshare')
  ? ['/usr/bin/unshare', '--user', '--map-root-user', '--']
  : [];

/** Ends as a launcher does that starts nothing. */
const NO_FOLDER = ['/bin/sh', '-c', 'echo "the working directory does not exist in the sandbox" >&2; exit 125'];

function optionsFor({ platform }: Workshop, state: string, { rootless }: Identity): readonly string[] {
  return runscOptions(platform, state, rootless);
}

/** Lets the crash watch know what has to end with the layer, before it does anything. */
async function noted({ watch }: Workshop, { launcher }: Launched): Promise<ReturnType<typeof groupTarget>> {
  if (launcher.pid === undefined) {
    const { promise, reject } = Promise.withResolvers<never>();
    launcher.once('error', reject);
    return promise;
  }
  const target = groupTarget(launcher.pid);
  await watch.note(target);
  return target;
}

/** Why no sandbox of this machine can be let out, in a sentence; undefined when they can. */
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
