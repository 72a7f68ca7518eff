// A program that the test starts: a layer that reports what it does, line by line, until it is killed.
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { createToolLayer, type Hook, LOCAL_CALLER, type Log, serve } from '../../packages/sallyport/src/index.ts';
import type { LayerOrder, LayerReady } from './kill/layer-process.ts';
import { CLIENTS } from './kill/plan.ts';
import { createFunction, FUNCTION_TOOLS, ownTools } from './kill/tools.ts';

const { settings, places, folder } = JSON.parse(process.argv[2] ?? '') as LayerOrder;

/** Writes a line for the test: a word, and its details as JSON. */
const say = (word: string, about: unknown = null): void => void writeSync(1, `${word} ${JSON.stringify(about)}\n`);

/** The fields of a log entry, cut short. */
const short = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      inspect(value, { depth: 1, breakLength: Infinity }).slice(0, 160),
    ]),
  );

const line =
  (level: string) =>
  (event: string, fields: Record<string, unknown> = {}): void => {
    if (event === 'recovering') say('recovering');
    if (level === 'warn' || level === 'error') say('log', { level, event, ...short(fields) });
  };
const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };

/** Refuses some results, so that the changes of the tool are taken back. */
const takeBack: Hook = {
  id: 'take-back',
  at: 'after',
  match: { tools: ['keep_file'] },
  run({ arguments: { content } }) {
    if (!String(content).startsWith('taken_back ')) return undefined;
    say('rollback');
    return { outcome: 'refuse', reason: 'The test takes it back.' };
  },
};

async function main(): Promise<void> {
  const layer = await createToolLayer({ settings, environment: {}, log, hooks: [takeBack] });
  for (const manifest of FUNCTION_TOOLS) {
    const run = createFunction(places, manifest.tool_id, (key) => say('effect', key));
    await layer.registerFunction(manifest, run);
  }
  for (const manifest of ownTools(places, folder)) await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  const server = await serve(layer, { port: 0 });
  const tokens: string[] = [];
  for (let client = 0; client < CLIENTS; client += 1) {
    const { capability_token } = await layer.mintToken({
      agent_did: `did:agent:client-${client}`,
      paths: [folder],
      mode: 'rw',
    });
    tokens.push(capability_token);
  }
  const operator = await layer.mintToken({ agent_did: 'did:agent:operator', roles: ['operator', 'admin'] });
  const { embeddedDatabase } = layer;
  const ready: LayerReady = {
    url: server.url,
    tokens,
    operator: operator.capability_token,
    ...(embeddedDatabase === undefined ? {} : { embeddedDatabase }),
  };
  say('ready', ready);
  process.once('SIGTERM', async () => {
    await server.close();
    await layer.close();
    process.exit(0);
  });
}

void main();
