/** Import level of each folder of the layer: a folder imports from lower levels only. */
export type FolderLines = Readonly<Record<string, number>>;

/** Folder lines of the map in ARCHITECTURE.md: four spaces, the folder with a slash, its number, what it holds. */
export function linesOfMap(markdown: string): FolderLines {
  const lines = markdown.matchAll(/^ {4}([a-z][a-z0-9-]*)\/ +(\d+) /gm);
  return Object.fromEntries([...lines].map(([, folder = '', line]) => [folder, Number(line)]));
}

/** Folder lines of the import rules. */
export function linesOfLevels(levels: readonly (readonly string[])[]): FolderLines {
  return Object.fromEntries(levels.flatMap((folders, line) => folders.map((folder) => [folder, line] as const)));
}

/** Says where map, import rules and the folders of the layer differ. The import rules may name folders that are still to come. */
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
