// An MCP server over stdio, protocol 2025-11-25, that uses each feature which the tests look for at each client.
import { createInterface } from 'node:readline';

const [STEPS, STEP_MS] = [3, 100];
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => [{ type: 'text', text: value }];
const tool = (name, properties = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties },
});
const key = { key: { type: 'string', description: 'Whose calls are meant.' } };

const REPORT = {
  name: 'report',
  title: 'Report of sums',
  description: 'Adds what is reported.',
  icons: [{ src: 'https://example.com/report.svg', mimeType: 'image/svg+xml' }],
  inputSchema: { type: 'object', properties: { part: { type: 'integer', description: 'The first part.' } } },
  outputSchema: { type: 'object', properties: { sum: { type: 'integer', description: 'The whole.' } } },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  execution: { taskSupport: 'optional' },
  _meta: { 'features.example/kind': 'sums' },
};
const tools = [REPORT, ...['fail', 'steps', 'ask', 'grow', 'media'].map((name) => tool(name))];
tools.push(tool('hold', key), tool('counts', key));

const MEDIA = [
  ...text('All kinds of content.'),
  { type: 'image', mimeType: 'image/png', data: 'aW1hZ2U=' },
  { type: 'audio', mimeType: 'audio/wav', data: 'YXVkaW8=' },
  { type: 'resource_link', uri: 'demo://linked', name: 'linked', mimeType: 'text/plain' },
  { type: 'resource', resource: { uri: 'demo://embedded', mimeType: 'text/plain', text: 'embedded text' } },
];
const QUESTION = {
  message: 'Who are you?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

/** Keys of held calls by the id of the request, and of those that were cancelled. */
const held = new Map();
const cancelled = [];
/** What is done with the answer to a question, by its id. */
const asked = new Map();

const calls = {
  // What is structured says more than the text, so that a client that shows the text alone is told apart.
  report: () => ({ content: text('42'), structuredContent: { sum: 42, only: 'structured' } }),
  fail: () => ({ content: text('The well is dry.'), isError: true }),
  media: () => ({ content: MEDIA }),
  counts: ({ arguments: { key: mine } }) => {
    const counts = { held: [...held.values()].includes(mine), cancelled: cancelled.includes(mine) };
    return { content: text(JSON.stringify(counts)), structuredContent: counts };
  },
  grow: () => {
    tools.push(tool(`grown-${tools.length}`));
    write({ method: 'notifications/tools/list_changed' });
    return { content: text('grown') };
  },
  steps: ({ _meta }, id) => {
    step(_meta?.progressToken, 1, () => write({ id, result: { content: text('done') } }));
  },
  hold: ({ arguments: { key: mine } }, id) => {
    held.set(id, mine);
  },
  ask: (_, id) => {
    asked.set(`q${id}`, (answer) => write({ id, result: { content: text(JSON.stringify(answer)) } }));
    write({ id: `q${id}`, method: 'elicitation/create', params: QUESTION });
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    serverInfo: { name: 'features', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': (params, id) => calls[params.name]({ arguments: {}, ...params }, id),
  'resources/list': () => ({ resources: [{ uri: 'demo://notes', name: 'notes' }] }),
  'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
};

/** Reports come one by one: some clients drop those that they read together with the result. */
function step(progressToken, progress, then) {
  if (progress > STEPS) return then();
  const params = { progressToken, progress, total: STEPS, message: `step ${progress}` };
  if (progressToken !== undefined) write({ method: 'notifications/progress', params });
  setTimeout(() => step(progressToken, progress + 1, then), STEP_MS);
}

function take({ id, method, params = {}, result, error }) {
  if (method === undefined) asked.get(id)?.(result ?? error);
  else if (method === 'notifications/cancelled' && held.has(params.requestId))
    cancelled.push(held.get(params.requestId));
  else if (id === undefined) return;
  else if (methods[method] === undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
  else {
    const answer = methods[method](params, id);
    if (answer !== undefined) write({ id, result: answer });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line)));
