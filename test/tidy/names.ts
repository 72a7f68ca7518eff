/** Names that say nothing of what is inside, and what to write instead. */
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

/** Says which files and folders have a name with a banned word. `service-account` is refused as `account-service` is. */
export function vagueNames(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const words = name.replace(/\..*$/, '').split(/[-_]/);
    const word = words.find((candidate) => Object.hasOwn(BANNED, candidate.toLowerCase()));
    return word === undefined ? [] : [`${path}: "${word}" says nothing; name ${BANNED[word.toLowerCase()]}`];
  });
}

/** Says which code files and folders are not in kebab-case (with further parts after dots: `x.port.ts`). */
export function oddNames(paths: readonly string[]): string[] {
  return paths
    .filter((path) => !/^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)*$/.test(path.slice(path.lastIndexOf('/') + 1)))
    .map((path) => `${path} is not in kebab-case`);
}
