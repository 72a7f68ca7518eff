import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedToolLayer, NativeCallContext, NativeFunction } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import SCHEMA_2020_12 from './reference/schema-2020-12.json' with { type: 'json' };

/** Ms between two steps of the tools that report what they do. */
const STEP_MS = 20;
/** One black pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** A sound without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

type Json = Readonly<Record<string, unknown>>;
type Call = (context: NativeCallContext, given: Json) => unknown;

const text = (said: string): Json => ({ content: [{ type: 'text', text: said }] });
const form = (properties: Json): Json => ({ type: 'object', properties, required: Object.keys(properties) });
const say = (answer: unknown): Json => text(JSON.stringify(answer));

const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' };
const RESOURCE = {
  type: 'resource',
  resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource.' },
};
const NAME = { message: 'What is your name?', requestedSchema: form({ name: { type: 'string' } }) };
const CONFIRM = { message: 'Please confirm', requestedSchema: form({ ok: { type: 'boolean' } }) };
const ask = (said: string, maxTokens = 100): Json => ({
  messages: [{ role: 'user', content: { type: 'text', text: said } }],
  maxTokens,
});

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = ['value1', 'value2', 'value3'].map((value, at) => ({ const: value, title: `Choice ${at + 1}` }));
const ENUMS = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
};

/** What each tool of the public suite does, by its name. */
const CALLS: Readonly<Record<string, Call>> = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [IMAGE] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({ content: [RESOURCE] }),
  test_multiple_content_types: () => ({ content: [{ type: 'text', text: 'Several.' }, IMAGE, RESOURCE] }),
  test_error_handling: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  test_tool_with_logging: async ({ client }) => {
    for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      client.log('info', step);
      await sleep(STEP_MS);
    }
    return text('Logged.');
  },
  test_logging_tool: ({ client }) => {
    client.log('emergency', 'Nobody may see this.');
    return text('Logged.');
  },
  test_tool_with_progress: async ({ progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100 });
      await sleep(STEP_MS);
    }
    return text('Done.');
  },
  test_sampling: async ({ client }, { prompt }) =>
    text(`LLM response: ${JSON.stringify((await client.sample(ask(String(prompt)))).content)}`),
  test_elicitation: async ({ client }, { message }) => {
    const requestedSchema = form({ username: { type: 'string' }, email: { type: 'string' } });
    return say(await client.elicit({ message: String(message), requestedSchema }));
  },
  test_elicitation_sep1034_defaults: async ({ client }) =>
    say(await client.elicit({ message: 'Who are you?', requestedSchema: form(DEFAULTS) })),
  test_elicitation_sep1330_enums: async ({ client }) =>
    say(await client.elicit({ message: 'Choose.', requestedSchema: form(ENUMS) })),
  test_missing_capability: async ({ client }) => say(await client.sample(ask('Are you there?'))),
  test_streaming_elicitation: async ({ client }) => say(await client.elicit(CONFIRM)),
  test_input_required_result_elicitation: async ({ client }) => say(await client.elicit(NAME, 'user_name')),
  test_input_required_result_sampling: async ({ client }) =>
    say(await client.sample(ask('What is the capital of France?'), 'capital_question')),
  test_input_required_result_list_roots: async ({ client }) => say(await client.listRoots('client_roots')),
  test_input_required_result_request_state: async ({ client }) => {
    await client.elicit(CONFIRM, 'confirm');
    return text('state-ok');
  },
  test_input_required_result_multiple_inputs: async ({ client }) =>
    say(
      await Promise.all([
        client.elicit(NAME, 'user_name'),
        client.sample(ask('Generate a greeting', 50), 'greeting'),
        client.listRoots('client_roots'),
      ]),
    ),
  test_input_required_result_multi_round: async ({ client }) => {
    const color = {
      message: 'Step 2: What is your favorite color?',
      requestedSchema: form({ color: { type: 'string' } }),
    };
    return say([await client.elicit(NAME, 'step1'), await client.elicit(color, 'step2')]);
  },
  test_input_required_result_tampered_state: async ({ client }) => say(await client.elicit(CONFIRM, 'confirm')),
  test_input_required_result_capabilities: async ({ client }) =>
    say(await Promise.all([client.elicit(NAME, 'user_name'), client.sample(ask('Hello?'), 'hello')])),
};

/** Registers the tools that the public suite calls, as functions of the embedding program. */
export async function registerOwnFunctions(layer: EmbeddedToolLayer): Promise<void> {
  for (const [name, call] of Object.entries(CALLS))
    await layer.registerFunction(manifestOf(name), (given, context) => call(context, given));
  await layer.registerFunction(manifestOf('json_schema_2020_12_tool', SCHEMA_2020_12), (given) => say(given));
  let changes = 0;
  const change: NativeFunction = async () => {
    changes += 1;
    await layer.registerFunction(manifestOf(`test_added_${changes}`), () => text('Added.'));
    return text('Changed.');
  };
  await layer.registerFunction(manifestOf('test_trigger_tool_change'), change);
  await layer.registerFunction(manifestOf('test_trigger_prompt_change'), async () => {
    changes += 1;
    await layer.registerPrompt({ name: `test_added_${changes}`, description: 'Was added.', get: () => 'Added.' });
    return text('Changed.');
  });
}

function manifestOf(tool_id: string, parameters_schema: Json = { type: 'object' }): ToolManifest {
  return {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: `Does what the public suite wants of ${tool_id}.`,
    side_effect_policy: 'pure',
    parameters_schema,
    executor: { kind: 'native', config: { mcp_result: true } },
  };
}
