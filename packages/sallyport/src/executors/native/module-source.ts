import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { ModuleConfig } from './module-config.ts';
import { MODULE_BOUNDS } from './settings.ts';

/** A source, or the reason in one sentence why there is none. */
export type FoundSource = { readonly source: string } | { readonly problem: string };

/** Finds the sources of modules. Changed files are read again. */
export type FindSource = (module: ModuleConfig['module']) => FoundSource;

interface KeptFile {
  readonly mark: string;
  readonly source: string;
  readonly sha256: string;
}

/**
 * Makes the finder.
 * @param folder absolute path of the operator's folder of modules; absent: only sources in manifests are found
 */
export function createFindSource(folder: string | undefined): FindSource {
  const kept = new LRUCache<string, KeptFile>({ max: MODULE_BOUNDS.filesMax });
  return (module) => {
    if (typeof module === 'string') return { source: module };
    if (folder === undefined) {
      return { problem: 'this layer has no folder of modules, so write the source itself' };
    }
    try {
      const file = readFile(folder, module.path, kept);
      if ('problem' in file) return file;
      if (module.sha256 !== undefined && module.sha256 !== file.sha256) {
        return { problem: `${module.path} has another content than sha256 says` };
      }
      return { source: file.source };
    } catch {
      return { problem: `${module.path} cannot be read in the folder of modules` };
    }
  };
}

function readFile(
  folder: string,
  path: string,
  kept: LRUCache<string, KeptFile>,
): KeptFile | { readonly problem: string } {
  const root = realpathSync(folder);
  const real = realpathSync(join(root, path));
  if (!real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) {
    return { problem: `${path} leads out of the folder of modules` };
  }
  const { mtimeMs, size, ino } = statSync(real);
  if (size > MODULE_BOUNDS.sourceMax) return { problem: `${path} has more than ${MODULE_BOUNDS.sourceMax} bytes` };
  const mark = `${mtimeMs} ${size} ${ino}`;
  const known = kept.get(real);
  if (known?.mark === mark) return known;
  const bytes = readFileSync(real);
  const file: KeptFile = { mark, source: bytes.toString('utf8'), sha256: sha256(bytes) };
  kept.set(real, file);
  return file;
}
