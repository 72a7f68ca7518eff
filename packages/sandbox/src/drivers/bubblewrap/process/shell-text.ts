/** Exit code of the launcher when it cannot set a limit or join a group; it is never a tool's, the tool did not start. */
export const LAUNCHER_FAILED = 125;

/** A word of shell that stands for these very characters, whatever they are; NUL cannot be among them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
