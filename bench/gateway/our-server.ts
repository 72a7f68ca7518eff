// The layer as an embedding program starts it, with everything on: tokens, policy, sandboxed upstream, PostgreSQL, audit.
// Only the bounds that a benchmark would run into are raised, and the folder of the upstream is allowed.
import { dirname } from 'node:path';
import { collectGarbage } from '@sallyport/std/held-bytes';
import { createToolLayer, LOCAL_CALLER, serve } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { runCalls } from '../load/run-calls.ts';
import { CALL_NUMBER, type Load } from '../load/target.ts';
import { ECHO_SCRIPT } from '../peers/echo-script.ts';
import { type Held, OURS, type OurListening, type OurQuestion, TOOL, UPSTREAM_NAME } from './our-names.ts';
import { ECHO_ARGUMENTS } from './subject.ts';

const CALLS_AT_ONCE = 1_000;
const STREAMS = 2_000;

const PARAMETERS = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { text: { type: 'string', description: 'What to say.', maxLength: 1000 } },
  required: ['text'],
  additionalProperties: false,
};

/** The upstream's tool as an operator would register it who knows that it leaves nothing behind. */
const PURE: ToolManifest = {
  tool_id: TOOL.pure,
  tool_name: OURS.mcpPure,
  version: '1.0.0',
  description: 'Says the text.',
  parameters_schema: PARAMETERS,
  side_effect_policy: 'pure',
  executor: { kind: 'mcp', config: { upstream: UPSTREAM_NAME, tool: 'echo' } },
};

const NATIVE: ToolManifest = { ...PURE, tool_id: TOOL.native, tool_name: OURS.mcpNative, executor: { kind: 'native' } };

const [dataFolder = '.sallyport'] = process.argv.slice(2);
const layer = await createToolLayer({
  settings: {
    data_folder: dataFolder,
    'agent.mounts': [`${dirname(dirname(ECHO_SCRIPT))}:ro`],
    'calls.per_agent_max': CALLS_AT_ONCE,
    'calls.max': CALLS_AT_ONCE,
    'server.sessions_per_holder_max': STREAMS,
    'server.streams_max': STREAMS,
    'server.streams_per_tenant_max': STREAMS,
    'server.streams_per_holder_max': STREAMS,
    'log.level': 'error',
  },
});
await layer.ask(
  'upstreams.add',
  {
    upstream: { name: UPSTREAM_NAME, transport: { type: 'stdio', command: process.execPath, args: [ECHO_SCRIPT] } },
  },
  LOCAL_CALLER,
);
await layer.ask('tools.register', { manifest: PURE }, LOCAL_CALLER);
await layer.registerFunction(NATIVE, ({ text }) => ({ content: [{ type: 'text', text }] }));
const { capability_token: token } = await layer.mintToken({ tool_id: '*' });
const server = await serve(layer, { port: 0 });

process.on('message', async (question: OurQuestion) => process.send?.(await answerTo(question)));

async function answerTo(question: OurQuestion): Promise<Load | Held> {
  if (question.asks === 'calls') return runCalls(Array(question.callers).fill({ call }), question.span);
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMb: (heapUsed + external) / 1e6, residentMb: rss / 1e6 };
}

/** A call without a door. */
async function call(number: number): Promise<void> {
  const text = ECHO_ARGUMENTS.text.replace(CALL_NUMBER, String(number));
  const { status, error } = await layer.ask(
    'tools.invoke',
    { tool_id: TOOL.native, parameters: { text } },
    { door: 'library', token },
  );
  if (status !== 'success') throw new Error(error?.message);
}

const end = async (): Promise<void> => {
  await server.close();
  await layer.close();
  process.exit();
};
process.once('SIGTERM', end);
process.once('disconnect', end);
process.send?.({ url: server.url, token } satisfies OurListening);
