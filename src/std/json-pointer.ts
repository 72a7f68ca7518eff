/** Appends one segment to a JSON Pointer (RFC 6901). The pointer to the whole document is the empty string. */
export function pointerTo(pointer: string, segment: string | number): string {
  return `${pointer}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
