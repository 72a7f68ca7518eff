/** Code of a system error, such as `ENOENT`, in anything thrown; empty when it has none. */
export function codeOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : '';
}
