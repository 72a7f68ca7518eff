import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ControlGroup, ControlGroups } from '../../../linux/limits/control-group.ts';
import { machineBusy } from '../../../linux/machine-busy.ts';
import { UID_SLOTS_MAX, type UidSlots } from '../../../linux/uid-slots.ts';
import { SANDBOX_BOUNDS } from '../settings.ts';
import { type Launcher, type LauncherParts, startLauncher } from './launcher.ts';

/** For sandboxes without folders, or for those with folders, which need a stage first. */
export type LauncherKind = 'plain' | 'staging';

/** Launchers made in advance, and further ones on demand. */
export interface LauncherStock {
  /**
   * Takes a waiting launcher. Its group has no limits yet; the caller now owns group and uid.
   * @throws E3101 when no uid is free; the system's error when no group or process can be made
   */
  take(kind: LauncherKind): Promise<Launcher>;
  /** Returns the uid of a launcher after all its processes are gone. */
  giveBack(launcher: Launcher): void;
  /** Ends waiting launchers and makes no further ones. */
  close(): Promise<void>;
}

/** Inputs for making launchers. */
export interface StockParts extends LauncherParts {
  readonly groups: ControlGroups | undefined;
  readonly slots: UidSlots | undefined;
  /** Launchers of each kind kept ready after the first request for that kind. */
  readonly ready: number;
}

/** The stock of one driver. It is refilled outside the path of a start, and never while the machine is busy. */
export function createLauncherStock(parts: StockParts): LauncherStock {
  const waiting = noLaunchers();
  const timers: Partial<Record<LauncherKind | 'refill', NodeJS.Timeout>> = {};
  const asked = new Set<LauncherKind>();
  let closed = false;
  /** A launcher is being made ahead. */
  let filling: Promise<void> | undefined;

  const giveBack = ({ lentUid }: Launcher): void => {
    if (lentUid !== undefined) parts.slots?.giveBack(lentUid);
  };
  const drop = async (kind: LauncherKind, launcher: Launcher): Promise<void> => {
    if (!waiting[kind].delete(launcher)) return;
    await endLauncher(launcher);
    giveBack(launcher);
    await launcher.group?.remove();
  };
  const refill = async (kind: LauncherKind): Promise<void> => {
    const launcher = await makeLauncher(parts, kind).catch(() => undefined);
    filling = undefined;
    // The next caller who needs a launcher meets the same fault and reports it.
    if (launcher === undefined) return;
    waiting[kind].add(launcher);
    launcher.hold(false);
    launcher.child.once('exit', () => void drop(kind, launcher));
    launcher.noted.catch(() => drop(kind, launcher));
    if (closed || !launcher.waits()) await drop(kind, launcher);
    // One at a time: without a fork server, starting a process blocks the layer for some milliseconds.
    else planRefill(SANDBOX_BOUNDS.refillDelayMs);
  };
  const planRefill = (delayMs: number): void => {
    if (closed || timers.refill !== undefined || filling !== undefined) return;
    timers.refill = setTimeout(() => {
      delete timers.refill;
      const [kind] = [...asked].filter((one) => waiting[one].size < parts.ready);
      if (kind === undefined) return;
      if (machineBusy()) return planRefill(SANDBOX_BOUNDS.refillRetryMs);
      filling = refill(kind);
    }, delayMs).unref();
  };
  const remember = (kind: LauncherKind): void => {
    if (parts.ready === 0 || closed) return;
    asked.add(kind);
    clearTimeout(timers[kind]);
    timers[kind] = setTimeout(() => {
      asked.delete(kind);
      for (const launcher of waiting[kind]) void drop(kind, launcher);
    }, SANDBOX_BOUNDS.launcherIdleMs).unref();
    planRefill(SANDBOX_BOUNDS.refillDelayMs);
  };

  return {
    async take(kind) {
      remember(kind);
      const launcher = waiting[kind].values().find((one) => one.waits());
      if (launcher === undefined) return await makeLauncher(parts, kind);
      waiting[kind].delete(launcher);
      launcher.hold(true);
      return launcher;
    },
    giveBack,
    async close() {
      closed = true;
      for (const timer of Object.values(timers)) clearTimeout(timer);
      await filling;
      const kinds = Object.keys(waiting) as LauncherKind[];
      await Promise.all(kinds.flatMap((kind) => [...waiting[kind]].map((launcher) => drop(kind, launcher))));
    },
  };
}

function noLaunchers(): Readonly<Record<LauncherKind, Set<Launcher>>> {
  return { plain: new Set(), staging: new Set() };
}

/** Ends a launcher that waits, or has ended by itself. */
async function endLauncher(launcher: Launcher): Promise<void> {
  const ended = launcher.waits() ? new Promise((resolve) => launcher.child.once('exit', resolve)) : undefined;
  launcher.discard();
  await ended;
}

async function makeLauncher(parts: StockParts, kind: LauncherKind): Promise<Launcher> {
  const uid = parts.slots?.take();
  if (parts.slots !== undefined && uid === undefined) {
    throw new ToolLayerError('E3101', `More than ${UID_SLOTS_MAX} sandboxes run at once. Try again later.`);
  }
  const stages = kind === 'staging';
  let group: ControlGroup | undefined;
  try {
    group = parts.groups?.create(undefined, uid);
    return await startLauncher(parts, group, { lentUid: uid, uid: stages ? undefined : uid, stages });
  } catch (error) {
    if (uid !== undefined) parts.slots?.giveBack(uid);
    void group?.remove();
    throw error;
  }
}
