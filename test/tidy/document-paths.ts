import { posix } from 'node:path';

/**
 * Says which paths a document names that do not exist: relative links, and paths in code quotes that begin with a folder of
 * the project or of src (`pipeline/order.ts` is short for `src/pipeline/order.ts`). Patterns and placeholders are left alone.
 */
export function deadPaths(document: string, markdown: string, entries: ReadonlySet<string>): string[] {
  const links = [...markdown.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !entries.has(normal(posix.join(posix.dirname(document), link))));
  const quotes = [...markdown.matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)*\/?)`/g)]
    .map(([, quote = '']) => normal(quote))
    .filter((path) => path.includes('/') && isOurs(path, entries))
    .filter((path) => !entries.has(path) && !entries.has(`src/${path}`));
  return [...links, ...quotes].map((path) => `${document} names ${path}, which does not exist`);
}

function isOurs(path: string, entries: ReadonlySet<string>): boolean {
  const [first = ''] = path.split('/');
  return entries.has(first) || entries.has(`src/${first}`);
}

function normal(path: string): string {
  return path.replace(/\/$/, '');
}
