/** Code of a system error, `ENOENT` and its like, of anything that was thrown; empty when it has none. */
export function codeOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : '';
}
