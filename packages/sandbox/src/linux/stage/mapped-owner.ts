import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { Mount, Owner } from '../mounts.ts';
import { isMountRefused, stageCommand, stageFault } from './stage.ts';

/** Whose rights a sandbox of a layer that is root has outside. */
export interface Outside {
  /** The folders' owner; a uid that is lent to the sandbox alone when absent. */
  readonly owner?: Owner;
  /** Mounts that show their owner's files as those of the sandbox. */
  readonly mapped: ReadonlySet<Mount>;
}

/** Whether the file system of a mount can show its files under another owner (an id-mapped mount). */
export type CanMap = (mount: Mount) => Promise<boolean>;

/** Folders about which the answer is remembered. */
const KNOWN_MAX = 1000;
const TRIAL_TIMEOUT_MS = 10_000;
/** `nobody`: the trial starts a program that does nothing. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 };

/**
 * Decides whose rights a sandbox gets. Never those of root: its own, with the folders' files shown as its own; where a file
 * system cannot do that, those of the folders' owner (ADR 0003).
 * @throws E3105 for folders that only root could open, or two owners
 */
export async function outsideOf(mounts: readonly Mount[], canMap: CanMap): Promise<Outside> {
  const needing = mounts.filter(({ isOpenToAll }) => !isOpenToAll);
  const answers = await Promise.all(needing.map(canMap));
  const mapped = new Set(needing.filter((_, index) => answers[index] === true));
  const [first, ...others] = needing.filter((mount) => !mapped.has(mount));
  if (first === undefined) return { mapped };
  const { owner } = first;
  if (owner.uid === 0) {
    throw refused(
      first,
      'belongs to root, and its file system cannot show it under another owner. Give it to an ordinary user (chown), or run the layer as one',
    );
  }
  const other = others.find((mount) => mount.owner.uid !== owner.uid);
  if (other !== undefined) {
    throw refused(other, `belongs to another user than ${first.path}, and a tool can be only one of them`);
  }
  return { owner, mapped };
}

/** Finds it out by a trial, once for each folder. */
export function createMapTrial(): CanMap {
  const known = new LRUCache<string, Promise<boolean>>({ max: KNOWN_MAX });
  return (mount) => {
    let answer = known.get(mount.identity);
    if (answer === undefined) {
      answer = tryOut(mount);
      known.set(mount.identity, answer);
      // Something else than the file system was in the way.
      answer.catch(() => known.delete(mount.identity));
    }
    return answer;
  };
}

async function tryOut(mount: Mount): Promise<boolean> {
  const [program = '', ...rest] = stageCommand({
    mounts: [mount],
    covers: [],
    folder: STAGE_OF_TRIAL,
    outside: NOBODY,
    mapped: new Set([mount]),
  });
  try {
    await promisify(execFile)(program, [...rest, '/bin/true'], { env: {}, cwd: '/', timeout: TRIAL_TIMEOUT_MS });
    return true;
  } catch (thrown) {
    const said = thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr) : '';
    if (isMountRefused(said)) return false;
    throw stageFault(said) ?? thrown;
  }
}

/** Exists everywhere and is nobody's to write. */
const STAGE_OF_TRIAL = '/sys';

function refused({ path }: Mount, why: string): ToolLayerError {
  return new ToolLayerError('E3105', `The sandbox cannot see ${path}: it ${why}.`, { details: { path } });
}
