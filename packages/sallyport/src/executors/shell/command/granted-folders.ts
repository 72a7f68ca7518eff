import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { FilesystemPermission } from '../../../../api/schemas/tool-manifest.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';
import { realPathOf } from '../../../permission/compute-grant.ts';

/**
 * The folders of a grant, checked to lead where they led when granted: a tool that may write around a folder could have
 * replaced it with a link. This check by text gives an early and clear refusal; a link can still appear before the
 * start. The guarantees are the sandbox, which mounts no link, and the snapshot, which opens none.
 * @throws E3105 for a folder that leads elsewhere
 */
export function checkedMounts({ filesystem, links }: Grant): readonly FilesystemPermission[] {
  for (const { path } of filesystem) {
    const real = realPathOf(path);
    // A missing or unreachable folder is refused by the driver with its own message.
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
 * Checks that the working directory is in the granted folders, by its name and by its target.
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
