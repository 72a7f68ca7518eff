import { posix } from 'node:path';

/** Packages whose folders documents name; paths in the package `sallyport` are named without the package. */
const PACKAGES = new Set(['std', 'guards', 'sandbox']);

/**
 * Finds paths in a document that do not exist: relative links, and paths in code quotes that begin with a folder of the
 * project, of a package (`sandbox/linux` is short for `packages/sandbox/src/linux`) or of the layer
 * (`pipeline/order.ts`). Patterns and placeholders are left alone.
 */
export function deadPaths(document: string, markdown: string, entries: ReadonlySet<string>): string[] {
  const links = [...markdown.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !entries.has(normal(posix.join(posix.dirname(document), link))));
  const quotes = [...markdown.matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)*\/?)`/g)]
    .map(([, quote = '']) => normal(quote))
    .filter((path) => path.includes('/') && isOurs(path, entries))
    .filter((path) => !places(path).some((place) => entries.has(place)));
  return [...links, ...quotes].map((path) => `${document} names ${path}, which does not exist`);
}

function isOurs(path: string, entries: ReadonlySet<string>): boolean {
  const [first = ''] = path.split('/');
  return places(first).some((place) => entries.has(place));
}

/** The full paths that a path in a document may stand for. */
function places(path: string): string[] {
  const [first = '', ...rest] = path.split('/');
  const own = PACKAGES.has(first) ? [posix.join('packages', first, 'src', ...rest)] : [];
  return [path, ...own, `packages/sallyport/${path}`, `packages/sallyport/src/${path}`, `packages/guards/src/${path}`];
}

function normal(path: string): string {
  return path.replace(/\/$/, '');
}
