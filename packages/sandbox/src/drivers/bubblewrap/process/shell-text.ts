/**
 * Exit code of the launcher when it cannot set a limit or join a group; the tool did not start, so it is never the
 * tool's.
 */
export const LAUNCHER_FAILED = 125;

/** A shell word for exactly these characters; they must not include NUL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
