import type { FilesystemPermission, NetworkPermission, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { normalHost, normalPattern } from './host-pattern.ts';
import { normalPath } from './normal-path.ts';
import type { Violation } from './violation.ts';

/** A manifest's requests, in normal form. */
export interface Wanted {
  readonly filesystem: readonly FilesystemPermission[];
  /** Exact hosts. */
  readonly network: readonly NetworkPermission[];
  /** `*` and `*.name`: as much of them as all sides allow. */
  readonly patterns: readonly NetworkPermission[];
  readonly credentials: readonly string[];
  /** Permissions that are no valid path or host, as the manifest states them. */
  readonly malformed: readonly Violation[];
  readonly nothing: boolean;
}

const wantedByManifest = new WeakMap<ToolManifest, Wanted>();

/** Computed once per manifest. */
export function wantedBy(manifest: ToolManifest): Wanted {
  const known = wantedByManifest.get(manifest);
  if (known !== undefined) return known;
  const { filesystem = [], network = [], credentials = [] } = manifest.permissions ?? {};
  const malformed: Violation[] = [];
  const paths = filesystem.flatMap(({ path, mode }): FilesystemPermission[] => {
    const normal = normalPath(path);
    if (normal === undefined) malformed.push(notPossible('E3203', `filesystem:${mode}:${path}`, 'absolute path'));
    return normal === undefined ? [] : [{ path: normal, mode }];
  });
  const patterns = network.flatMap(({ host, port }): NetworkPermission[] => {
    const pattern = normalPattern(host);
    return pattern === undefined ? [] : [{ host: pattern, port }];
  });
  const addresses = network.flatMap(({ host, port }): NetworkPermission[] => {
    if (normalPattern(host) !== undefined) return [];
    const normal = normalHost(host);
    if (normal === undefined)
      malformed.push(notPossible('E3204', `network:${host}:${port}`, 'exact host, *.name or *'));
    return normal === undefined ? [] : [{ host: normal, port }];
  });
  const nothing = filesystem.length + network.length + credentials.length === 0;
  const wanted: Wanted = {
    filesystem: paths,
    network: addresses,
    patterns,
    credentials: [...credentials],
    malformed,
    nothing,
  };
  wantedByManifest.set(manifest, wanted);
  return wanted;
}

function notPossible(code: 'E3203' | 'E3204', wanted: string, form: string): Violation {
  return {
    code,
    wanted,
    message: `The tool's manifest asks for ${wanted}, which is no ${form}. Correct the manifest.`,
  };
}
