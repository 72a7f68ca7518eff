import { type InputRequests, inputRequired } from '@modelcontextprotocol/server';

type Properties = Parameters<typeof inputRequired.elicit>[0]['requestedSchema'] extends infer Schema
  ? Extract<Schema, { properties: unknown }>['properties']
  : never;

const form = (message: string, properties: Properties) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
  });

/** Asks the language model of the client. */
export const complete = (said: string, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: said } }], maxTokens });

const NAME = form('What is your name?', { name: { type: 'string' } });
const CONFIRM = form('Please confirm', { ok: { type: 'boolean' } });

/** Asks for a name and an address, with the words of the call. */
export const ACCOUNT = (message: string): InputRequests => ({
  account: form(message, { username: { type: 'string' }, email: { type: 'string' } }),
});

const DEFAULTS: Properties = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = ['value1', 'value2', 'value3'].map((value, at) => ({ const: value, title: `Choice ${at + 1}` }));
const ENUMS: Properties = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
};

/** What tools without arguments ask, round by round, by their names. */
export const ROUNDS: Readonly<Record<string, readonly InputRequests[]>> = {
  test_elicitation_sep1034_defaults: [{ who: form('Who are you?', DEFAULTS) }],
  test_elicitation_sep1330_enums: [{ choice: form('Choose.', ENUMS) }],
  test_missing_capability: [{ there: complete('Are you there?') }],
  test_streaming_elicitation: [{ confirm: CONFIRM }],
  test_input_required_result_elicitation: [{ user_name: NAME }],
  test_input_required_result_sampling: [{ capital_question: complete('What is the capital of France?') }],
  test_input_required_result_list_roots: [{ client_roots: inputRequired.listRoots() }],
  test_input_required_result_request_state: [{ confirm: CONFIRM }],
  test_input_required_result_multiple_inputs: [
    { user_name: NAME, greeting: complete('Generate a greeting', 50), client_roots: inputRequired.listRoots() },
  ],
  test_input_required_result_multi_round: [
    { step1: NAME },
    { step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }) },
  ],
  test_input_required_result_tampered_state: [{ confirm: CONFIRM }],
};

/** What the tool asks that asks for no more than its client can answer. */
export const BY_CAPABILITY: Readonly<Record<'elicitation' | 'sampling', InputRequests>> = {
  elicitation: { user_name: NAME },
  sampling: { hello: complete('Hello?') },
};
/** What the prompt asks. */
export const CONTEXT: InputRequests = {
  user_context: form('What context should the prompt use?', { context: { type: 'string' } }),
};
/** What the job asks before it deletes a file. */
export const DELETE: InputRequests = { confirm: form('Delete it?', { confirm: { type: 'boolean' } }) };
/** What a job asks at once. */
export const TWO: InputRequests = {
  first: form('The first name?', { name: { type: 'string' } }),
  second: form('The second name?', { name: { type: 'string' } }),
};
/** What a tool asks before it begins a task. */
export const USER: InputRequests = { user_name: NAME };
