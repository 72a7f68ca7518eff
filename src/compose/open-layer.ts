import type { LayerOptions, OpenedLayer } from '../doors/cli/cli-parts.ts';
import { createRemoteLayer } from '../doors/remote/remote-layer.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';
import type { EmbeddedToolLayer, ToolLayerOptions } from './create-tool-layer.ts';
import { readSettings } from './read-settings.ts';
import { isOwnersSocket } from './running-layer/local-socket.ts';
import { type RunningLayer, readRunningLayer } from './running-layer/running-layer-file.ts';
import type { Settings } from './settings.ts';

/** What the options of a command say of the settings. */
export function settingsOf({ dataFolder }: LayerOptions): Partial<Settings> {
  return dataFolder === undefined ? {} : { data_folder: dataFolder };
}

/**
 * The layer of a data folder for one command: the one that serves it already, else one opened in this process. Either
 * way the caller is the operator: who may read the folder owns the layer.
 */
export async function openLayer(
  options: LayerOptions,
  more: Pick<ToolLayerOptions, 'environment'> = {},
): Promise<OpenedLayer> {
  const found = await findLayer(options, more);
  if ('running' in found) return { layer: found.layer, caller: { door: 'cli' }, close: async () => undefined };
  const { own } = found;
  return { layer: own, caller: { door: 'cli', local: true }, close: () => own.close() };
}

/** A layer that serves the data folder, with the operator's way to ask it; or one of this process, for whoever closes it. */
export type FoundLayer =
  | { readonly running: RunningLayer; readonly layer: ToolLayer }
  | { readonly own: EmbeddedToolLayer };

/** As {@link openLayer}, for those who need more than to ask. */
export async function findLayer(
  options: LayerOptions,
  more: Pick<ToolLayerOptions, 'environment'> = {},
): Promise<FoundLayer> {
  const given = settingsOf(options);
  const running = await runningLayer(readSettings({ given, ...more })['data_folder']);
  if (running !== undefined) return running;
  // A whole layer is loaded only when it is needed: it takes ten times as long as the way to one that runs.
  const { createToolLayer } = await import('./create-tool-layer.ts');
  return { own: await createToolLayer({ settings: given, ...more }) };
}

/** A process that merely has the number of a layer that crashed does not answer for it. */
async function runningLayer(
  dataFolder: string,
): Promise<{ readonly running: RunningLayer; readonly layer: ToolLayer } | undefined> {
  const running = await readRunningLayer(dataFolder);
  if (running === undefined || !(await isOwnersSocket(dataFolder, running.socket))) return undefined;
  const layer = createRemoteLayer(running);
  const answers = await layer.ask('health', {}, { door: 'cli' }).then(
    () => true,
    () => false,
  );
  return answers ? { running, layer } : undefined;
}
