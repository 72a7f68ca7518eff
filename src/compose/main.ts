import process from 'node:process';
import type { Caller } from '../domain/principal/principal.ts';
import { type CliParts, EXIT, type LayerOptions, type StdioOptions } from '../doors/cli/cli-parts.ts';
import { runCli } from '../doors/cli/run-cli.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';
import { openLayer, settingsOf } from './open-layer.ts';
import { readSettings } from './read-settings.ts';
import { VERSION } from './version.ts';

/** How long the token of a stdio session is good for when the client brings none. */
const STDIO_TOKEN_SECONDS = 30 * 24 * 3600;

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());

// Whoever reads the output may have enough of it, as `head` has: that ends the command like a signal does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  stopped.abort();
});

/** What only some commands need is loaded by them: most ask a layer that runs already, and take a third of the time so. */
const parts: CliParts = {
  io: {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: stopped.signal,
  },
  version: VERSION,
  openLayer: (options) => openLayer(options),
  serve: serveUntilStopped,
  mcpStdio: serveStandardStreams,
  doctor: async (options) => (await import('./doctor.ts')).doctor(options),
};

process.exitCode = await runCli(process.argv.slice(2), parts);

async function serveUntilStopped(options: LayerOptions & { host?: string; port?: number }): Promise<number> {
  const { host, port } = options;
  const [{ createToolLayer }, { serve }] = await Promise.all([import('./create-tool-layer.ts'), import('./serve.ts')]);
  await using layer = await createToolLayer({ settings: settingsOf(options) });
  await using server = await serve(layer, {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
  });
  process.stdout.write(`Sallyport is ready at ${server.url}\n`);
  await new Promise<void>((resolve) => {
    if (stopped.signal.aborted) resolve();
    stopped.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return EXIT.ok;
}

/** Nothing but MCP goes to standard output; the client is an agent like any other, with a token of its own. */
async function serveStandardStreams(options: StdioOptions): Promise<number> {
  const [{ createGateway }, { serveStdio }, { createPinoLog }, { redactFields, redactorOf }] = await Promise.all([
    import('../doors/mcp-gateway/create-gateway.ts'),
    import('../doors/mcp-transports/stdio/serve-stdio.ts'),
    import('../telemetry/pino-log.ts'),
    import('./parts/from-settings/redactor.ts'),
  ]);
  const { layer, caller, close } = await openLayer(options);
  const settings = readSettings({ given: settingsOf(options) });
  const { 'mcp.tools': toolsMode, 'mcp.auto_tools_max': autoToolsMax } = settings;
  const log = createPinoLog('warn', redactFields(redactorOf(settings)));
  const gateway = createGateway({ layer, log, version: VERSION, settings: { toolsMode, autoToolsMax } });
  try {
    const token = options.token ?? (await mintFor(layer, caller));
    const { stdin: input, stdout: output } = process;
    const server = gateway.serverIn(options.tools);
    await serveStdio({ server, log, input, output, caller: { door: 'mcp', token }, signal: stopped.signal });
    return EXIT.ok;
  } finally {
    gateway.close();
    await close();
  }
}

async function mintFor(layer: ToolLayer, caller: Caller): Promise<string> {
  const request = { agent_did: 'did:sallyport:mcp-client', expires_in_seconds: STDIO_TOKEN_SECONDS };
  return (await layer.ask('token.mint', request, caller)).capability_token;
}
