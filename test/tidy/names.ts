/** Words that do not say what a file contains, and what to write instead. */
const BANNED: Readonly<Record<string, string>> = {
  util: 'the thing that it computes',
  utils: 'the thing that it computes',
  helper: 'the thing that it does',
  helpers: 'the thing that it does',
  common: 'the component that owns it, or std/',
  misc: 'one file for each concept',
  manager: 'what it does: pool, registry, supervisor',
  service: 'what it offers',
  services: 'what they offer',
  data: 'what the data is about',
  info: 'what the facts are about',
};

/** Finds files and folders with a banned word in their name; the order of words does not matter (`service-account`). */
export function vagueNames(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const words = name.replace(/\..*$/, '').split(/[-_]/);
    const word = words.find((candidate) => Object.hasOwn(BANNED, candidate.toLowerCase()));
    return word === undefined ? [] : [`${path}: "${word}" says nothing; name ${BANNED[word.toLowerCase()]}`];
  });
}

/** Finds code files and folders whose names are not kebab-case, apart from further parts after dots (`x.port.ts`). */
export function oddNames(paths: readonly string[]): string[] {
  return paths
    .filter((path) => !/^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)*$/.test(path.slice(path.lastIndexOf('/') + 1)))
    .map((path) => `${path} is not in kebab-case`);
}
