import type { FilesystemPermission } from '../../../../api/schemas/tool-manifest.ts';

/** One folder (or file) of the grant, split into parts. */
export interface Root {
  readonly path: string;
  readonly parts: readonly string[];
  readonly mode: FilesystemPermission['mode'];
}

/** The folders of a grant. A relative path starts at the first. */
export function rootsOf(filesystem: readonly FilesystemPermission[]): readonly Root[] {
  return filesystem
    .filter(({ path }) => path.startsWith('/'))
    .map(({ path, mode }) => {
      const parts = path.split('/').filter((part) => part !== '');
      return { path: `/${parts.join('/')}`, parts, mode };
    });
}

/** True when the parts are at or below the root. */
const covers = ({ parts }: Root, path: readonly string[]): boolean =>
  parts.length <= path.length && parts.every((part, index) => part === path[index]);

/** The root exactly at these parts. */
export function rootAt(roots: readonly Root[], path: readonly string[]): Root | undefined {
  return roots.find((root) => root.parts.length === path.length && covers(root, path));
}

/** True when a root may still follow below these parts. */
export function leadsToRoot(roots: readonly Root[], path: readonly string[]): boolean {
  return roots.some(({ parts }) => parts.length > path.length && path.every((part, index) => part === parts[index]));
}

/**
 * True when a path may be written: the nearest root decides, so a read-only folder within a writable one stays
 * read-only.
 */
export function isWritable(roots: readonly Root[], path: readonly string[]): boolean {
  const above = roots.filter((root) => covers(root, path));
  const nearest = Math.max(0, ...above.map(({ parts }) => parts.length));
  return above.some(({ parts, mode }) => parts.length === nearest && mode === 'rw');
}
