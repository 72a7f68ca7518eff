import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { UI_EXTENSION } from '../../../domain/tool/mcp-apps.ts';
import type { Peer } from '../../mcp-server.ts';

/** Member of a tool's `_meta` about its user interface, and the older spelling of its URI (SEP-1865). */
const UI = 'ui';
const OLDER_URI = 'ui/resourceUri';

/** True when the client declares that it shows user interfaces of tools. */
export function showsUi({ can }: Pick<Peer, 'can'>): boolean {
  const extensions = can?.['extensions'];
  return isObject(extensions) && extensions[UI_EXTENSION] !== undefined;
}

/** True for a tool that its server means for its user interface, and not for a model. */
export function isForAppsOnly(manifest: ToolManifest): boolean {
  const ui = metaOf(manifest)?.[UI];
  const visibility = isObject(ui) ? ui['visibility'] : undefined;
  return Array.isArray(visibility) && !visibility.includes('model');
}

/** The same tool with another URI of its interface; everything else about it is unchanged. */
export function withUiUri(manifest: ToolManifest, shown: (uri: string) => string): ToolManifest {
  const meta = metaOf(manifest);
  const ui = meta?.[UI];
  const older = meta?.[OLDER_URI];
  const hasUi = isObject(ui) && typeof ui['resourceUri'] === 'string';
  if (!hasUi && typeof older !== 'string') return manifest;
  const _meta = {
    ...meta,
    ...(hasUi ? { [UI]: { ...ui, resourceUri: shown(ui['resourceUri'] as string) } } : {}),
    ...(typeof older === 'string' ? { [OLDER_URI]: shown(older) } : {}),
  };
  const { executor } = manifest;
  return { ...manifest, executor: { ...executor, config: { ...executor.config, _meta } } };
}

function metaOf({ executor }: ToolManifest): Readonly<Record<string, unknown>> | undefined {
  const meta = executor.kind === 'mcp' ? executor.config?.['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
}
