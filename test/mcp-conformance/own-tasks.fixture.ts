import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { EmbeddedToolLayer, NativeFunction } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** A tool that the public suite expects. */
function toolOf(tool_id: string, properties: Record<string, unknown>, more: Partial<ToolManifest> = {}): ToolManifest {
  return {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: `The tool ${tool_id} of the public suite.`,
    side_effect_policy: 'pure',
    parameters_schema: { type: 'object', properties, additionalProperties: false },
    executor: { kind: 'native' },
    ...more,
  };
}

const OPTIONAL = { task_support: 'optional' } as const;
const TEXT = { type: 'string' };
const FORM = { type: 'object', properties: { name: TEXT } };

const NAME = { message: 'What is your name?', requestedSchema: FORM };
const NO_STATE = new TextEncoder().encode('{}');

/** Asks before it becomes a task. */
const greetLater: NativeFunction = async (_given, { client, checkpoints, becomeTask }) => {
  const { name } = JSON.parse(new TextDecoder().decode(checkpoints.restored?.bytes ?? NO_STATE)) as { name?: string };
  if (name !== undefined) return `Hello, ${name}!`;
  const { action, content } = { content: {}, ...(await client.elicit(NAME, 'user_name')) };
  const said = { name: action === 'accept' ? String(content['name']) : 'stranger' };
  return becomeTask === undefined ? `Hello, ${said.name}!` : becomeTask(said);
};

const TOOLS: readonly (readonly [ToolManifest, NativeFunction])[] = [
  [toolOf('greet', { name: TEXT }), ({ name }) => `Hello, ${String(name)}!`],
  [toolOf('test_tool_with_task', {}), greetLater],
  [
    toolOf(
      'slow_compute',
      { seconds: { type: 'number' }, label: TEXT },
      {
        execution_config: { ...OPTIONAL, default_timeout_seconds: 120 },
      },
    ),
    async ({ seconds, label }, { signal }) => {
      await sleep(Number(seconds) * 1000, undefined, { signal });
      return `computed ${String(label)}`;
    },
  ],
  [
    toolOf('failing_job', {}, { execution_config: { task_support: 'required' } }),
    async () => {
      await sleep(100);
      throw new Error('It always fails.');
    },
  ],
  [
    toolOf('protocol_error_job', {}, { execution_config: OPTIONAL }),
    () => {
      throw new ToolLayerError('E3900', 'The job broke.');
    },
  ],
  [
    toolOf('multi_input', {}, { execution_config: OPTIONAL }),
    (_given, { client }) =>
      Promise.all(
        ['first', 'second'].map((which) => client.elicit({ message: `The ${which}?`, requestedSchema: FORM })),
      ),
  ],
  [
    toolOf('confirm_delete', { filename: TEXT }, { execution_config: OPTIONAL, requires_confirmation: true }),
    ({ filename }) => `deleted ${String(filename)}`,
  ],
];

/** Registers the functions that the public suite calls as tasks. */
export async function registerOwnTasks(layer: EmbeddedToolLayer): Promise<void> {
  for (const [manifest, run] of TOOLS) await layer.registerFunction(manifest, run);
}
