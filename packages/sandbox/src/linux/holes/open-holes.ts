import type { Hole } from '../../driver.port.ts';

/** A published hole of a program that makes sandboxes. */
export interface KnownHole {
  readonly id: string;
  /** Where it is described: an advisory, or who keeps its record. */
  readonly source: string;
  /** Day on which it was published. */
  readonly published: string;
  /** First version that has it; all before `fixedIn` when absent. */
  readonly since?: string;
  /** First version without it. */
  readonly fixedIn: string;
  /** What somebody can do with it, without a full stop. */
  readonly what: string;
  /** Why it does not reach what the driver does with the program, as a sentence; absent where it does. */
  readonly outOfReach?: string;
}

/** What one program is, as far as it can be told. */
export interface ExaminedProgram {
  readonly name: string;
  /** Numbers and dots; undefined when it says none. */
  readonly version: string | undefined;
  /**
   * Whether holes are open, by id, where something else than the version tells: distributions carry fixes back into old versions,
   * and sometimes take them out again.
   */
  readonly isOpen: Readonly<Record<string, boolean | undefined>>;
  /** How to get a version without holes. */
  readonly install: string;
}

/** The holes that are open in a program. One whose version nobody knows may have any. */
export function openHoles(table: readonly KnownHole[], program: ExaminedProgram): readonly Hole[] {
  const { name, version, isOpen, install } = program;
  const open = table.filter((hole) => isOpen[hole.id] ?? (version !== undefined && isIn(version, hole)));
  const told = open.map(({ id, source, published, fixedIn, what, outOfReach }): Hole => {
    const reach = outOfReach === undefined ? '' : ` It does not reach the layer's sandboxes: ${outOfReach}`;
    const text = `This ${name} has the known hole ${id} (${source}, ${published}; fixed in ${fixedIn}): ${what}.${reach} ${install}`;
    return { text, isReached: outOfReach === undefined };
  });
  if (version !== undefined) return told;
  return [
    { text: `The version of this ${name} is not known, so nobody knows its holes. ${install}`, isReached: true },
    ...told,
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
