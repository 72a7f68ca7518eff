import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FilesystemPermission } from '../../../../api/schemas/tool-manifest.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';
import { realPathOf } from '../../../permission/compute-grant.ts';

/**
 * The folders of a grant, each of which still leads where it led when it was granted: a tool that may write around it
 * could have put a link in its place since. Compared by text, for an early and clear refusal: between this look and the start
 * a link can come, so what holds is the sandbox, which mounts no link, and the snapshot, which opens none.
 * @throws E3105 for one that does not
 */
export function checkedMounts({ filesystem, links }: Grant): readonly FilesystemPermission[] {
  for (const { path } of filesystem) {
    const real = realPathOf(path);
    // What is not there, or not reachable, the driver refuses in its own words.
    if (real === undefined || real === (links?.get(path) ?? path)) continue;
    throw new ToolLayerError(
      'E3105',
      `The granted folder ${path} is reached through a link now. Grant its real path.`,
      {
        details: { path },
      },
    );
  }
  return filesystem;
}

/**
 * The working directory lies in the granted folders, by its name and by what it leads to.
 * @throws E3105
 */
export function checkWorkingFolder(folder: string | undefined, { filesystem, links }: Grant): void {
  if (folder === undefined || folder === '/tmp') return;
  const within = (path: string, roots: readonly string[]): boolean => roots.some((root) => isWithin(path, root));
  const roots = filesystem.map(({ path }) => path);
  if (!within(folder, roots)) throw outside(folder, 'lies in');
  const real = realPathOf(folder);
  const realRoots = roots.map((path) => links?.get(path) ?? path);
  if (real !== undefined && !within(real, realRoots)) throw outside(folder, 'leads into');
}

const outside = (folder: string, how: string): ToolLayerError =>
  new ToolLayerError('E3105', `The working directory ${folder} ${how} no folder that the call may use.`, {
    details: { path: folder },
  });

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
