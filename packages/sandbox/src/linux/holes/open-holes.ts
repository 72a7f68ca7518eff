import type { Hole } from '../../driver.port.ts';

/** A published vulnerability of a program that makes sandboxes. */
export interface KnownHole {
  readonly id: string;
  /** Where it is described: an advisory, or the keeper of its record. */
  readonly source: string;
  /** Day on which it was published. */
  readonly published: string;
  /** First version that has it; all before `fixedIn` when absent. */
  readonly since?: string;
  /** First version without the vulnerability. */
  readonly fixedIn: string;
  /** What an attacker can do with it, without a full stop. */
  readonly what: string;
  /** Why the driver's use of the program is not affected, as a sentence; absent when it is. */
  readonly outOfReach?: string;
}

/** Facts about one program, as far as known. */
export interface ExaminedProgram {
  readonly name: string;
  /** Numbers and dots; undefined when it says none. */
  readonly version: string | undefined;
  /**
   * Whether vulnerabilities are open, by id, where more than the version decides: distributions backport fixes into old
   * versions, and sometimes remove them again.
   */
  readonly isOpen: Readonly<Record<string, boolean | undefined>>;
  /** How to install a version without vulnerabilities. */
  readonly install: string;
}

/** The open vulnerabilities of a program. An unknown version may have any. */
export function openHoles(table: readonly KnownHole[], program: ExaminedProgram): readonly Hole[] {
  const { name, version, isOpen, install } = program;
  const open = table.filter((hole) => isOpen[hole.id] ?? (version !== undefined && isIn(version, hole)));
  const holes = open.map(({ id, source, published, fixedIn, what, outOfReach }): Hole => {
    const reach = outOfReach === undefined ? '' : ` It does not reach the layer's sandboxes: ${outOfReach}`;
    const text = `This ${name} has the known hole ${id} (${source}, ${published}; fixed in ${fixedIn}): ${what}.${reach} ${install}`;
    return { text, isReached: outOfReach === undefined };
  });
  if (version !== undefined) return holes;
  return [
    { text: `The version of this ${name} is not known, so nobody knows its holes. ${install}`, isReached: true },
    ...holes,
  ];
}

function isIn(version: string, { since, fixedIn }: KnownHole): boolean {
  return isOlder(version, fixedIn) && (since === undefined || !isOlder(version, since));
}

function isOlder(version: string, other: string): boolean {
  const [mine, theirs] = [version, other].map((text) => text.split('.').map(Number));
  const at = (theirs ?? []).findIndex((part, index) => part !== (mine?.[index] ?? 0));
  return at >= 0 && (mine?.[at] ?? 0) < (theirs?.[at] ?? 0);
}
