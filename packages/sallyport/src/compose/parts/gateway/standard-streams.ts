import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Caller } from '../../../domain/principal/principal.ts';
import { valuesOf } from '../../../domain/settings/setting.ts';
import { EXIT, type StdioOptions } from '../../../doors/cli/cli-parts.ts';
import { TRANSPORT_SETTINGS } from '../../../doors/mcp-transports/settings.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { createPinoLog } from '../../../telemetry/pino-log.ts';
import type { EmbeddedToolLayer } from '../../create-tool-layer.ts';
import { findLayer, settingsOf } from '../../open-layer.ts';
import { readSettings } from '../../read-settings.ts';
import { lastLayer } from '../../running-layer/last-layer.ts';
import { isAlive, type RunningLayer } from '../../running-layer/running-layer-file.ts';
import { SETTINGS } from '../../settings.ts';
import { redactFields, redactorOf } from '../from-settings/redactor.ts';
import { hasInstanceId } from '../keys/instance-id.ts';

/** Lifetime of the token of a stdio session when the client brings none. */
const STDIO_TOKEN_SECONDS = 30 * 24 * 3600;

/** How long to wait for a layer that another process is opening, ms; clients wait about a minute for this one. */
const OPENING_MS = 30_000;
/** Ms between two checks whether another client's layer is still there. */
const LOOK_MS = 200;

/** The streams of one client, and the signal that ends its session early. */
export interface StandardStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
  /** Writes a line for a person who debugs the client. */
  note(line: string): void;
}

/**
 * Serves MCP on a pair of streams until the client ends it; only MCP messages are written to `output`. The client is an
 * agent like any other, with a token of its own, and its user is asked as at every other client. When a layer already
 * serves the data folder, that layer's gateway answers.
 * @returns the exit code
 */
export async function serveStandardStreams(given: StdioOptions, streams: StandardStreams): Promise<number> {
  const { folder, how, options } = await place(given);
  const isNew = !(await hasInstanceId(folder));
  const found = await findLayer(options, { patienceMs: OPENING_MS });
  const note = (what: string): void => streams.note(`sallyport mcp: data folder ${folder} (${how}). ${what}`);
  if ('running' in found) {
    note(`The layer at ${found.running.url} serves it and answers here.`);
    const isLost = await relayWhileThere(found.layer, found.running, options, streams);
    if (isLost) {
      note(
        'The client that had opened that layer has ended, and the layer with it. Start this server anew: it opens the layer then.',
      );
      return EXIT.unreachable;
    }
  } else {
    note(isNew ? MADE : 'No layer serves it, so this process does.');
    await serve(found.own, options, streams);
  }
  return EXIT.ok;
}

const MADE =
  'No layer had used it, so it was made, without any tools. To use another, name it with --data-folder or SALLYPORT_DATA_FOLDER.';

/**
 * MCP clients start their servers in folders of their own: when no data folder is named and the default one holds no
 * layer, the layer that this user started last is used.
 */
export async function place(
  given: StdioOptions,
): Promise<{ readonly folder: string; readonly how: string; readonly options: StdioOptions }> {
  const named = resolve(readSettings({ given: settingsOf(given) })['data_folder']);
  if (given.dataFolder !== undefined) return { folder: named, how: 'from --data-folder', options: given };
  const isDefault = named === resolve(DEFAULT_FOLDER);
  const last = isDefault && !(await hasInstanceId(named)) ? await lastLayer() : undefined;
  if (last === undefined || !(await hasInstanceId(last)))
    return { folder: named, how: isDefault ? 'of the working folder' : 'from the settings', options: given };
  return { folder: last, how: 'of the layer that was started last', options: { ...given, dataFolder: last } };
}

const DEFAULT_FOLDER = SETTINGS.filter(({ key }) => key === 'data_folder').map((row) => String(row.default))[0] ?? '';

async function serve(layer: EmbeddedToolLayer, options: StdioOptions, streams: StandardStreams): Promise<void> {
  const [{ openGateway }, { serveStdio }] = await Promise.all([
    import('./open-gateway.ts'),
    import('../../../doors/mcp-transports/stdio/serve-stdio.ts'),
  ]);
  await using opened = new AsyncDisposableStack();
  opened.use(layer);
  const warned = layer.forServer.warnOfSandboxes();
  opened.defer(() => warned);
  const gateway = opened.adopt(await openGateway(layer), (each) => each.close());
  const token = options.token ?? (await mintFor(layer, { door: 'cli', local: true }));
  // Other clients that start this program find the layer by its address.
  const { serve: openDoors } = await import('../../serve.ts');
  opened.use(await openDoors(layer, { host: '127.0.0.1', port: 0, endsWithClient: true }));
  await serveStdio({
    server: options.server === undefined ? gateway.serverIn(options.tools) : gateway.serverOfUpstream(options.server),
    log: layer.log,
    caller: { door: 'mcp', token },
    settings: valuesOf(TRANSPORT_SETTINGS, layer.settings),
    ...streams,
  });
}

/** @returns true when the layer ended before the client did; a layer that is restarted at its address is waited for */
async function relayWhileThere(
  layer: ToolLayer,
  running: RunningLayer,
  options: StdioOptions,
  streams: StandardStreams,
): Promise<boolean> {
  const lost = new AbortController();
  const look = setInterval(() => {
    if (running.endsWithClient === true && !isAlive(running.pid)) lost.abort();
  }, LOOK_MS);
  try {
    await relay(layer, running, options, { ...streams, signal: AbortSignal.any([streams.signal, lost.signal]) });
  } finally {
    clearInterval(look);
  }
  return lost.signal.aborted;
}

async function relay(
  layer: ToolLayer,
  { url }: RunningLayer,
  options: StdioOptions,
  streams: StandardStreams,
): Promise<void> {
  const { relayStdio } = await import('../../../doors/mcp-transports/stdio/relay-stdio.ts');
  const settings = readSettings({ given: settingsOf(options) });
  const log = createPinoLog('warn', redactFields(redactorOf(settings)));
  const token = options.token ?? (await mintFor(layer, { door: 'cli' }));
  const path = options.server === undefined ? '/mcp' : `/mcp/servers/${encodeURIComponent(options.server)}`;
  const endpoint = new URL(url + path);
  if (options.tools !== undefined) endpoint.searchParams.set('tools', options.tools);
  await relayStdio({ url: endpoint, token, log, settings: valuesOf(TRANSPORT_SETTINGS, settings), ...streams });
}

async function mintFor(layer: ToolLayer, caller: Caller): Promise<string> {
  const request = { agent_did: 'did:sallyport:mcp-client', expires_in_seconds: STDIO_TOKEN_SECONDS };
  return (await layer.ask('tokens.mint', request, caller)).capability_token;
}
