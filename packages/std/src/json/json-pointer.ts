/** Appends one segment to a JSON Pointer (RFC 6901). The pointer to the whole document is the empty string. */
export function pointerTo(pointer: string, segment: string | number): string {
  if (typeof segment === 'number') return `${pointer}/${segment}`;
  // Few names contain one of the two, and registration makes pointers by the thousand.
  if (!segment.includes('~') && !segment.includes('/')) return `${pointer}/${segment}`;
  return `${pointer}/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
