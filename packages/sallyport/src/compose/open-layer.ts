import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { LayerOptions, OpenedLayer, WhenAbsent } from '../doors/cli/cli-parts.ts';
import { createRemoteLayer } from '../doors/remote/remote-layer.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';
import type { EmbeddedToolLayer, ToolLayerOptions } from './create-tool-layer.ts';
import { hasInstanceId } from './parts/keys/instance-id.ts';
import { readSettings } from './read-settings.ts';
import { isOwnersSocket } from './running-layer/local-socket.ts';
import { type RunningLayer, readRunningLayers } from './running-layer/running-layer-file.ts';
import type { Settings } from './settings.ts';

/** The settings that a command's options set. */
export function settingsOf({ dataFolder }: LayerOptions): Partial<Settings> {
  return dataFolder === undefined ? {} : { data_folder: dataFolder };
}

/**
 * The layer of a data folder for one command: the layer that serves it already, else one opened in this process. In
 * both cases the caller is the operator: access to the folder means ownership of the layer.
 */
export async function openLayer(options: LayerOptions, more: FindOptions): Promise<OpenedLayer> {
  const found = await findLayer(options, more);
  const dataFolder = resolve(readSettings({ given: settingsOf(options), ...more })['data_folder']);
  if ('running' in found) {
    const { layer, running } = found;
    return { layer, caller: { door: 'cli' }, dataFolder, url: running.url, close: async () => undefined };
  }
  const { own, close } = found;
  return { layer: own, caller: { door: 'cli', local: true }, dataFolder, close };
}

/**
 * A layer that serves the data folder, with the operator's connection to it; or one of this process, which the caller
 * must close.
 */
export type FoundLayer =
  | { readonly running: RunningLayer; readonly layer: ToolLayer }
  | { readonly own: EmbeddedToolLayer; close(): Promise<void> };

/** Options of the search for a layer. */
export interface FindOptions extends Pick<ToolLayerOptions, 'environment'> {
  /** 'make' when absent. */
  readonly whenAbsent?: WhenAbsent;
  /** Ms to wait for a layer that another process is opening; no wait when absent. */
  readonly patienceMs?: number;
}

/** Ms between two searches for a layer that is being opened. */
const LOOK_AGAIN_MS = 200;

/** Like {@link openLayer}, for callers that need more than to ask. */
export async function findLayer(
  options: LayerOptions,
  { whenAbsent = 'make', patienceMs = 0, ...more }: FindOptions,
): Promise<FoundLayer> {
  const given = settingsOf(options);
  const { data_folder: folder } = readSettings({ given, ...more });
  const end = performance.now() + patienceMs;
  for (;;) {
    const running = await runningLayer(folder);
    if (running !== undefined) return running;
    try {
      return await ownLayer(folder, { settings: given, ...more }, whenAbsent);
    } catch (thrown) {
      if (failureOf(thrown).details?.['problem'] !== 'folder-in-use' || performance.now() > end) throw thrown;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

/**
 * Opens a layer in this process. @throws E3812 with `details.problem` folder-in-use when another process has the data
 * folder
 */
async function ownLayer(folder: string, options: ToolLayerOptions, whenAbsent: WhenAbsent): Promise<FoundLayer> {
  const isAbsent = whenAbsent !== 'make' && !(await hasInstanceId(folder));
  if (isAbsent && whenAbsent === 'refuse') throw noLayer(folder);
  // Loaded only when needed: a whole layer takes ten times as long to load as a client of a running one.
  const { createToolLayer } = await import('./create-tool-layer.ts');
  if (isAbsent) return borrowed(createToolLayer, options);
  const own = await createToolLayer({ ...options, withReferenceServers: true });
  return { own, close: () => own.close() };
}

function noLayer(folder: string): ToolLayerError {
  const message = `No layer has used the data folder ${resolve(folder)} yet, so there is nothing in it. Start one there (sallyport serve), or name the folder of yours with --data-folder.`;
  return new ToolLayerError('E3310', message, { details: { layer: 'unreachable', data_folder: resolve(folder) } });
}

/** A layer for a command that only checks its input: its data folder is removed afterwards. */
async function borrowed(
  create: (options: ToolLayerOptions) => Promise<EmbeddedToolLayer>,
  options: ToolLayerOptions,
): Promise<FoundLayer> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // In the user's own database its rows would stay.
  const settings = { ...options.settings, data_folder: folder, 'database.url': '' };
  const own = opened.use(await create({ ...options, settings }));
  const open = opened.move();
  return { own, close: () => open.disposeAsync() };
}

/** Asks each layer for a sign of life: another process may have got the process id of a layer that crashed. */
async function runningLayer(
  dataFolder: string,
): Promise<{ readonly running: RunningLayer; readonly layer: ToolLayer } | undefined> {
  for (const running of await readRunningLayers(dataFolder)) {
    if (!(await isOwnersSocket(dataFolder, running.socket))) continue;
    const layer = createRemoteLayer(running);
    const answers = await layer.ask('health', {}, { door: 'cli' }).then(
      () => true,
      () => false,
    );
    if (answers) return { running, layer };
  }
  return undefined;
}
