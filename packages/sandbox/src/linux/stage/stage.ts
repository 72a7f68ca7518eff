import { constants } from 'node:fs';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Cover } from '../closed-places.ts';
import type { Mount, Owner } from '../mounts.ts';
import { hasPerl, PERL } from '../perl.ts';
import { SYSCALL_NUMBERS } from '../syscall-numbers.ts';
import { AWAIT_STAGE, STAGE_PROGRAM } from './stage-program.ts';

/** Inputs of a stage: copies of the mounts, opened race-free (ADR 0014). */
export interface StagePlan {
  readonly mounts: readonly Mount[];
  /** Parts of the mounts that are seen as empty. */
  readonly covers: readonly Cover[];
  /** An existing folder that the launcher does not need; its content is hidden from the launcher. */
  readonly folder: string;
  /** User that the launcher becomes; default: unchanged, in a user namespace of its own. */
  readonly outside?: Owner;
  /** Uid and gid in that namespace for an unchanged launcher. Default: its own. */
  readonly inside?: number;
  /**
   * Mounts that show their owner's files as those of `outside`, which needs a file system that supports it
   * (`mapped-owner.ts`).
   */
  readonly mapped: ReadonlySet<Mount>;
}

/** An outermost mount on the stage; those inside it are mounted in it already. */
export interface Staged {
  /** Its path on the stage. */
  readonly source: string;
  /** Its path inside the sandbox. */
  readonly target: string;
  readonly isFolder: boolean;
}

/** System calls that perl does not define, in the order of the program's arguments. */
const CALLS = [
  'mount',
  'mount_setattr',
  'move_mount',
  'open_tree',
  'openat',
  'setgroups',
  'setresgid',
  'setresuid',
  'unshare',
] as const;

/**
 * The command line that makes a stage and then becomes the following command.
 * @throws E3101 where perl is missing
 */
export function stageCommand(plan: StagePlan): readonly string[] {
  checkPerl();
  return [PERL, '-e', STAGE_PROGRAM, ...stageArguments(plan)];
}

/** The command line of a launcher that waits for its stage, see `stageOrder`. */
export const AWAIT_STAGE_COMMAND = [PERL, '-e', `${AWAIT_STAGE}await_stage();`] as const;

/**
 * Order for such a launcher: to make the stage, and to become a command that reads the rest.
 * @throws E3101 where perl is missing
 */
export function stageOrder(plan: StagePlan, command: readonly string[]): Buffer {
  checkPerl();
  const bytes = Buffer.from([...stageArguments(plan), ...command].map((text) => `${text}\0`).join(''));
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

function checkPerl(): void {
  if (hasPerl()) return;
  throw new ToolLayerError('E3101', `${PERL} is missing, so tools get no folders. Type: apt-get install perl-base`);
}

function stageArguments(plan: StagePlan): readonly string[] {
  const { mounts, covers, folder, outside, mapped } = plan;
  const inside = plan.inside ?? process.getuid?.() ?? 0;
  const numbers = [constants.O_NOFOLLOW, constants.O_DIRECTORY, ...CALLS.map(callNumber)];
  const whose = [outside?.uid ?? -1, outside?.gid ?? -1, inside];
  const fields = mounts.flatMap((mount) => {
    const top = topOf(mounts, mount);
    const { path, identity, isFolder, mode, owner } = mount;
    const place = top === undefined ? ['-1', ''] : [`${mounts.indexOf(top)}`, path.slice(top.path.length + 1)];
    const shownAs = mapped.has(mount) ? `${owner.uid}:${owner.gid}` : '-';
    return [path, identity, isFolder ? 'd' : 'f', mode, ...place, shownAs];
  });
  const own = mounts.filter(({ isOwn }) => isOwn === true);
  const madeIn = (cover: string): string =>
    own.find(({ path }) => path.startsWith(`${cover}/`))?.path.slice(cover.length + 1) ?? '';
  const covered = covers.flatMap(({ path, identity, isFolder }) => {
    const top = topOf(mounts, { path });
    return top === undefined
      ? []
      : [[`${mounts.indexOf(top)}`, path.slice(top.path.length + 1), identity, isFolder ? 'd' : 'f', madeIn(path)]];
  });
  const values = [
    ...numbers,
    folder,
    ...whose,
    mounts.length,
    own.length,
    ...fields,
    covered.length,
    ...covered.flat(),
  ];
  return values.map(String);
}

/** Mounts for a launcher, each with all that is mounted in it, so that a sandbox sees them. */
export function staged({ mounts, folder }: Pick<StagePlan, 'mounts' | 'folder'>): readonly Staged[] {
  return mounts.flatMap((mount, index) =>
    topOf(mounts, mount) === undefined
      ? [{ source: `${folder}/${index}`, target: mount.path, isFolder: mount.isFolder }]
      : [],
  );
}

/** The outermost mount that contains another one. */
function topOf(mounts: readonly Mount[], { path }: Pick<Mount, 'path'>): Mount | undefined {
  return mounts.find((other) => path.startsWith(`${other.path}/`));
}

function callNumber(name: (typeof CALLS)[number]): number {
  const { arch } = process;
  return (arch === 'x64' || arch === 'arm64' ? SYSCALL_NUMBERS[name]?.[arch] : undefined) ?? -1;
}

/** Format of the program's error line. */
const COMPLAINT = /^stage: (?<kind>\w+) -?\d+ (?<text>.*)$/m;

/** True when the kernel refused to mount the found file, not when an earlier step failed. */
export function isMountRefused(said: string): boolean {
  return COMPLAINT.exec(said)?.groups?.['kind'] === 'mount';
}

/**
 * The refusal in a launcher's last output; undefined when it is not from the stage.
 * @param said its standard error
 */
export function stageFault(said: string): ToolLayerError | undefined {
  const { kind, text = '' } = COMPLAINT.exec(said)?.groups ?? {};
  if (kind === undefined) return undefined;
  const cause = new Error(said);
  if (kind === 'moved') {
    const message = `The sandbox cannot see ${text}: something else took its place while the call began. Try again.`;
    return new ToolLayerError('E3105', message, { cause, details: { path: text } });
  }
  const hint = kind === 'system' ? '' : ' Folders of tools need Linux 5.12 or newer.';
  return new ToolLayerError('E3101', `The sandbox cannot be made: its folders cannot be mounted.${hint}`, { cause });
}
