/** Folders of the machine that something was written on; put together here, so that this file passes itself. */
const PLACES = [
  ['work', ''],
  ['root', ''],
  ['tmp', 'bash_jobs'],
].map((parts) => `/${parts.join('/')}`);

/** A place within a longer path (`/srv/work/x`) is another place. */
const PATTERN = new RegExp(`(?<![\\w.*-])(?:${PLACES.join('|')})`);

/** Says where a file names a path of somebody's machine. */
export function machinePaths(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const [found] = PATTERN.exec(line) ?? [];
    return found === undefined ? [] : [`${path}:${index + 1} names ${found}, a path of one machine`];
  });
}
