import type { LayerOptions, OpenedLayer } from '../doors/cli/cli-parts.ts';
import { createRemoteLayer } from '../doors/remote/remote-layer.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';
import type { ToolLayerOptions } from './create-tool-layer.ts';
import { readSettings } from './read-settings.ts';
import { readRunningLayer } from './running-layer-file.ts';
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
  const given = settingsOf(options);
  const running = await runningLayer(readSettings({ given, ...more })['data_folder']);
  if (running !== undefined) return { layer: running, caller: { door: 'cli' }, close: async () => undefined };
  // A whole layer is loaded only when it is needed: it takes ten times as long as the way to one that runs.
  const { createToolLayer } = await import('./create-tool-layer.ts');
  const layer = await createToolLayer({ settings: given, ...more });
  return { layer, caller: { door: 'cli', local: true }, close: () => layer.close() };
}

/** A process that merely has the number of a layer that crashed does not answer for it. */
async function runningLayer(dataFolder: string): Promise<ToolLayer | undefined> {
  const running = await readRunningLayer(dataFolder);
  if (running === undefined) return undefined;
  const layer = createRemoteLayer({ url: running.url, token: running.token });
  const answers = await layer.ask('health', {}, { door: 'cli' }).then(
    () => true,
    () => false,
  );
  return answers ? layer : undefined;
}
