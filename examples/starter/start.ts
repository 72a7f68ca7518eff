import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rememberLayer } from '../../packages/sallyport/src/compose/running-layer/last-layer.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  serve,
  ToolLayerError,
} from '../../packages/sallyport/src/index.ts';
import { ensureSystemPackages } from '../../scripts/machine/system-packages.ts';
import { ADD, add } from './add.ts';
import { startWeatherApi } from './weather-api.ts';

/** How long the printed token is good for: it stays in the scrollback of a terminal. Clients get tokens of their own. */
const TOKEN_HOURS = 24;

/** The clients that are named; `sallyport connect --help` names all. */
const CLIENTS = ['claude-desktop', 'claude-code', 'cursor', 'vscode'];

const { values } = parseArgs({
  options: { port: { type: 'string' }, host: { type: 'string' }, 'data-folder': { type: 'string' } },
});

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const textOf = (name: string): Promise<string> => readFile(here(name), 'utf8');

/**
 * The weather API answers beside the layer, and each of its operations is a tool. Its address is part of its version: where
 * it answers as it did the last time, the tools are there already.
 */
async function addWeather(layer: EmbeddedToolLayer): Promise<AsyncDisposable> {
  const { tools } = await layer.ask('tools.list', { page_size: 200 }, LOCAL_CALLER);
  const known = tools.filter(({ tool_id }) => tool_id.startsWith('weather__'));
  const api = await weatherApi(known[0]?.versions[0]?.split('.')[2]);
  const version = `1.0.${api.port}`;
  const old = known.flatMap(({ tool_id, versions }) =>
    versions.filter((one) => one !== version).map((one) => ({ tool_id, version: one })),
  );
  for (const one of old) await layer.ask('tools.remove', { ...one, force: true }, LOCAL_CALLER);
  if (known.length === 0 || old.length > 0) {
    const document = (await textOf('weather.openapi.json')).replace('"version": "1.0.0"', `"version": "${version}"`);
    const base_url = `http://127.0.0.1:${api.port}`;
    await layer.ask('tools.import-openapi', { document, name: 'weather', base_url }, LOCAL_CALLER);
  }
  return { [Symbol.asyncDispose]: () => api.close() };
}

/** Where it was the last time when that address is free, else anywhere. */
function weatherApi(lastPort = '0'): ReturnType<typeof startWeatherApi> {
  const given = process.env['EXAMPLE_API_PORT'];
  return given === undefined
    ? startWeatherApi(Number(lastPort)).catch(() => startWeatherApi(0))
    : startWeatherApi(Number(given));
}

/** A real MCP server, in a sandbox that sees nothing but the server itself. */
async function addEverything(layer: EmbeddedToolLayer): Promise<void> {
  const { upstreams } = await layer.ask('upstreams.list', {}, LOCAL_CALLER);
  if (upstreams.some(({ name }) => name === 'everything')) return;
  const command = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'], cwd: here('../..') };
  await layer.ask(
    'upstreams.add',
    { upstream: { name: 'everything', transport: { type: 'stdio', ...command } } },
    LOCAL_CALLER,
  );
}

/** What a part of the example costs when it does not work here; the rest goes on. */
const orSay = async (what: string, part: Promise<unknown>): Promise<void> => {
  await part.catch((problem: unknown) => {
    if (!(problem instanceof ToolLayerError)) throw problem;
    console.log(`Left out: ${what}. ${problem.message}`);
  });
};

async function main(): Promise<void> {
  const { advice } = await ensureSystemPackages({ install: true });
  if (advice !== undefined) console.log(advice);
  await using opened = new AsyncDisposableStack();
  const dataFolder = values['data-folder'];
  const layer = opened.use(
    await createToolLayer({
      ...(dataFolder === undefined ? {} : { settings: { data_folder: dataFolder } }),
      withReferenceServers: true,
    }),
  );
  await Promise.all([
    layer.registerFunction(ADD, add),
    orSay(
      'the sandboxed shell tool',
      textOf('count-words.json').then((text) =>
        layer.ask('tools.register', { manifest: JSON.parse(text) }, LOCAL_CALLER),
      ),
    ),
    addWeather(layer).then((api) => opened.use(api)),
    orSay('the MCP server', addEverything(layer)),
  ]);
  const address = {
    ...(values.host === undefined ? {} : { host: values.host }),
    ...(values.port === undefined ? {} : { port: Number(values.port) }),
  };
  const server = opened.use(await serve(layer, address));
  await rememberLayer(layer.settings.data_folder);
  await printUsage(layer, server.url);
  await stopSignal();
}

async function printUsage(layer: EmbeddedToolLayer, url: string): Promise<void> {
  const { capability_token: token } = await layer.mintToken({
    agent_did: 'did:example:first-agent',
    hosts: ['127.0.0.1'],
    ports: [0],
    expires_in_seconds: TOKEN_HOURS * 3600,
  });
  const { pagination } = await layer.ask('tools.list', {}, LOCAL_CALLER);
  const folder = values['data-folder'];
  const at = folder === undefined ? '' : ` --data-folder ${JSON.stringify(resolve(folder))}`;
  console.log(`Sallyport is ready at ${url} (${pagination.total_count} tools)

Try it:
  curl -s ${url}/v1/invocations -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '{"tool_id":"add","parameters":{"a":2,"b":3}}'

The token in it is good for ${TOKEN_HOURS} hours, for every tool, and reaches this machine alone.

Connect an MCP client, with a token of its own (--undo takes it out again, without --write it is printed):
${CLIENTS.map((client) => `  npx sallyport connect ${client} --write${at}`).join('\n')}
Other clients and options: npx sallyport connect --help

Stop it with Ctrl-C.`);
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

main().catch((problem: unknown) => {
  if (!(problem instanceof ToolLayerError)) throw problem;
  console.error(`${problem.code} ${problem.message}`);
  process.exitCode = 3;
});
