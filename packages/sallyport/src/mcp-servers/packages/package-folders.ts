import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { InstalledPackage } from '../../../api/schemas/upstream.ts';
import type { WantedPackage } from './wanted-package.ts';

/** Written last: a folder without it was never finished. */
const RECORD = 'installed.json';

/** Output of an installer in its folder. */
export interface InstalledContent {
  readonly version: string;
  /** Every part with its version and integrity, in a stable order. */
  readonly lock: string;
}

/** Keeps installed packages, each under the hash of its content. */
export function createPackageFolders(root: string) {
  const pathOf = (id: string): string => join(root, id);
  return {
    find({ manager, spec }: WantedPackage): InstalledPackage | undefined {
      if (!existsSync(root)) return undefined;
      for (const id of readdirSync(root)) {
        const record = readRecord(join(root, id, RECORD));
        if (record?.manager === manager && record.specs.includes(spec)) return ofRecord(record, id);
      }
      return undefined;
    },
    /** @param install fills an empty folder that a sandbox may write to */
    async add(
      wanted: WantedPackage,
      install: (staging: string) => Promise<InstalledContent>,
    ): Promise<InstalledPackage> {
      // Sandboxes cannot see the layer's own folder: downloads are moved there once complete.
      const staging = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-install-')));
      try {
        const { version, lock } = await install(staging);
        const id = createHash('sha256').update(lock).digest('hex');
        const { manager, name, spec } = wanted;
        const specs = [...(readRecord(join(pathOf(id), RECORD))?.specs ?? []), spec];
        await keep(staging, pathOf(id), { manager, name, version, specs });
        return { manager, name, version, id };
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },
    folderOf({ id, name, version }: InstalledPackage): string {
      if (existsSync(join(pathOf(id), RECORD))) return pathOf(id);
      throw new ToolLayerError(
        'E3801',
        `The package ${name} ${version} of this upstream is not in the data folder any more. Remove the upstream and add it again.`,
      );
    },
  };

  async function keep(staging: string, path: string, record: PackageRecord): Promise<void> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const text = JSON.stringify(record);
    if (existsSync(join(path, RECORD))) {
      // The same content under another spec.
      await writeFile(join(path, `${RECORD}.new`), text);
      await rename(join(path, `${RECORD}.new`), join(path, RECORD));
      return;
    }
    const half = await mkdtemp(join(root, '.new-'));
    await cp(staging, half, { recursive: true, verbatimSymlinks: true });
    await writeFile(join(half, RECORD), text);
    await rm(path, { recursive: true, force: true });
    await rename(half, path);
  }
}

interface PackageRecord extends Pick<InstalledPackage, 'manager' | 'name' | 'version'> {
  readonly specs: readonly string[];
}

const ofRecord = ({ manager, name, version }: PackageRecord, id: string): InstalledPackage => ({
  manager,
  name,
  version,
  id,
});

function readRecord(path: string): PackageRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageRecord;
  } catch {
    return undefined;
  }
}
