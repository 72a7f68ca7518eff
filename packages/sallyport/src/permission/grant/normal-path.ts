/** Longest path, in UTF-16 units; Linux takes 4096 bytes. */
const PATH_LENGTH_MAX = 4096;

/**
 * An absolute POSIX path in its one normal form: no `.`, `..`, `//` or trailing slash. Purely textual: links are not
 * followed. `..` above the root stays at the root, as in the kernel.
 * @returns undefined for a path that is not absolute, holds U+0000 or is too long
 */
export function normalPath(path: string): string | undefined {
  if (!path.startsWith('/') || path.includes('\0') || path.length > PATH_LENGTH_MAX) return undefined;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** True when a normal path lies at or below another: `/a` covers `/a/b`, not `/ab`. Case-sensitive. */
export function coversPath(outer: string, inner: string): boolean {
  return outer === '/' || inner === outer || inner.startsWith(`${outer}/`);
}
