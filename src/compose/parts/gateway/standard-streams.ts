import type { Readable, Writable } from 'node:stream';
import type { Caller } from '../../../domain/principal/principal.ts';
import { EXIT, type StdioOptions } from '../../../doors/cli/cli-parts.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { createPinoLog } from '../../../telemetry/pino-log.ts';
import type { EmbeddedToolLayer } from '../../create-tool-layer.ts';
import { findLayer, settingsOf } from '../../open-layer.ts';
import { readSettings } from '../../read-settings.ts';
import type { RunningLayer } from '../../running-layer/running-layer-file.ts';
import type { Settings } from '../../settings.ts';
import { redactFields, redactorOf } from '../from-settings/redactor.ts';

/** How long the token of a stdio session is good for when the client brings none. */
const STDIO_TOKEN_SECONDS = 30 * 24 * 3600;

/** The streams of one client, and what ends its session early. */
export interface StandardStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/**
 * Serves MCP on a pair of streams until the client ends it: nothing else is written to `output`. The client is an agent like
 * any other, with a token of its own, and its user is asked as at every other client. Where a layer serves the data folder
 * already, its own gateway answers.
 * @returns the exit code
 */
export async function serveStandardStreams(options: StdioOptions, streams: StandardStreams): Promise<number> {
  const found = await findLayer(options);
  if ('running' in found) await relay(found.layer, found.running, options, streams);
  else await serve(found.own, options, streams);
  return EXIT.ok;
}

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
  await serveStdio({
    server: gateway.serverIn(options.tools),
    log: layer.log,
    caller: { door: 'mcp', token },
    settings: graceOf(layer.settings),
    ...streams,
  });
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
  const endpoint = new URL(`${url}/mcp`);
  if (options.tools !== undefined) endpoint.searchParams.set('tools', options.tools);
  await relayStdio({ url: endpoint, token, log, settings: graceOf(settings), ...streams });
}

const graceOf = (settings: Settings) => ({ closeGraceMs: settings['shutdown.grace_seconds'] * 1000 });

async function mintFor(layer: ToolLayer, caller: Caller): Promise<string> {
  const request = { agent_did: 'did:sallyport:mcp-client', expires_in_seconds: STDIO_TOKEN_SECONDS };
  return (await layer.ask('token.mint', request, caller)).capability_token;
}
