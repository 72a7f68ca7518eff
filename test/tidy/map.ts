/** Import level of each folder of the layer: a folder imports from lower levels only. */
export type FolderLines = Readonly<Record<string, number>>;

/**
 * Levels in the map of ARCHITECTURE.md, whose lines have four spaces, the folder with a slash, its number, and its
 * content.
 */
export function linesOfMap(markdown: string): FolderLines {
  const lines = markdown.matchAll(/^ {4}([a-z][a-z0-9-]*)\/ +(\d+) /gm);
  return Object.fromEntries([...lines].map(([, folder = '', line]) => [folder, Number(line)]));
}

/** Levels in the import rules. */
export function linesOfLevels(levels: readonly (readonly string[])[]): FolderLines {
  return Object.fromEntries(levels.flatMap((folders, line) => folders.map((folder) => [folder, line] as const)));
}

/**
 * Finds differences between map, import rules and folders of the layer. The import rules may name folders that do not
 * exist yet.
 */
export function mapFaults(map: FolderLines, levels: FolderLines, folders: readonly string[]): string[] {
  const unmapped = folders.filter((folder) => map[folder] === undefined);
  const gone = Object.keys(map).filter((folder) => !folders.includes(folder));
  const unruled = folders.filter((folder) => levels[folder] === undefined);
  const moved = folders.filter(
    (folder) => map[folder] !== undefined && levels[folder] !== undefined && map[folder] !== levels[folder],
  );
  return [
    ...unmapped.map((folder) => `${folder} is not in the map of ARCHITECTURE.md`),
    ...gone.map((folder) => `the map of ARCHITECTURE.md names ${folder}, which does not exist`),
    ...unruled.map((folder) => `${folder} has no line in .dependency-cruiser.mjs`),
    ...moved.map(
      (folder) => `${folder} is on line ${map[folder]} of the map and on ${levels[folder]} of the import rules`,
    ),
  ];
}
