/** Folders of machines that files were written on; assembled here, so that this file does not contain them. */
const PLACES = [
  ['work', ''],
  ['root', ''],
  ['tmp', 'bash_jobs'],
].map((parts) => `/${parts.join('/')}`);

/** Matches a folder only at the beginning of a path, not below another folder. */
const PATTERN = new RegExp(`(?<![\\w.*-])(?:${PLACES.join('|')})`);

/** Finds lines that name a path of one machine. */
export function machinePaths(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const [found] = PATTERN.exec(line) ?? [];
    return found === undefined ? [] : [`${path}:${index + 1} names ${found}, a path of one machine`];
  });
}
