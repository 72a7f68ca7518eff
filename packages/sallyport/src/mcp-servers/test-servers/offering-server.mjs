// An MCP server over stdio, protocol 2025-11-25, that offers what its first argument says. Only for tests.
// usage: offering-server.mjs JSON   JSON: { "name", "resources", "templates", "prompts", "instructions", "many" }
import { createInterface } from 'node:readline';

const given = JSON.parse(process.argv[2] ?? '{}');
const { name = 'offering', instructions, many = 0 } = given;
let { resources = [], templates = [], prompts = [] } = given;
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const PAGE = 1_000;
/** How often each URI is subscribed to; a server would not count, but a test looks. */
const subscribed = new Map();
const changed = (uri) => write({ method: 'notifications/resources/updated', params: { uri } });

const TOOLS = [
  { name: 'update', description: 'Says that a resource changed.', properties: { uri: {}, times: {} } },
  {
    name: 'replace',
    description: 'Replaces what it offers.',
    properties: { resources: {}, templates: {}, prompts: {} },
  },
  { name: 'subscribed', description: 'Gives the subscriptions.', properties: {} },
  { name: 'log', description: 'Logs once it has answered.', properties: { level: {}, data: {} } },
  { name: 'exit', description: 'Ends this server.', properties: {} },
  { name: 'seen', description: 'Gives what it got as _meta.', properties: {} },
];
const toolOf = ({ properties, ...tool }) => ({ ...tool, inputSchema: { type: 'object', properties } });
const VIEW = { name: 'view', description: 'Shows something.', properties: {} };
const HELP = { name: 'help', description: 'Helps the view.', properties: {} };
const APPS = [
  {
    ...toolOf(VIEW),
    _meta: { ui: { resourceUri: 'ui://view/main.html', csp: { connectDomains: ['https://a.example'] } }, other: 1 },
  },
  { ...toolOf(HELP), _meta: { ui: { visibility: ['app'] } } },
];

const calls = {
  update: ({ uri, times = 1 }) => {
    for (let i = 0; i < times; i += 1) changed(uri);
    return text('updated');
  },
  replace: (asked) => {
    ({ resources = resources, templates = templates, prompts = prompts } = asked);
    write({ method: 'notifications/resources/list_changed' });
    return text('replaced');
  },
  log: (asked) => {
    setImmediate(() => write({ method: 'notifications/message', params: { logger: 'clock', ...asked } }));
    return text('logs');
  },
  subscribed: () => text(Object.fromEntries(subscribed)),
  exit: () => setTimeout(() => process.exit(0), 10) && text('bye'),
  seen: (_, meta) => ({ ...text(meta ?? {}), _meta: { 'example.com/result': 1 } }),
  view: () => text('shown'),
  help: () => text('helped'),
};

function listed({ cursor }) {
  const from = Number(cursor ?? 0);
  const all = many > 0 ? many : resources.length;
  const page = many > 0 ? Array.from({ length: Math.min(PAGE, many - from) }, (_, i) => numbered(from + i)) : resources;
  return from + page.length < all ? { resources: page, nextCursor: String(from + page.length) } : { resources: page };
}
const numbered = (i) => ({ uri: `many://${i}`, name: `number ${i}` });

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {} },
    serverInfo: { name, version: '1.0.0' },
    ...(instructions === undefined ? {} : { instructions }),
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [...TOOLS.map(toolOf), ...(given.apps === true ? APPS : [])] }),
  'tools/call': ({ name: tool, arguments: args = {}, _meta }) => calls[tool](args, _meta),
  'resources/list': listed,
  'resources/templates/list': () => ({ resourceTemplates: templates }),
  'resources/read': ({ uri }) =>
    uri.includes('missing') ? undefined : { contents: [{ uri, text: `${name} has ${uri}` }] },
  'resources/subscribe': ({ uri }) => subscribed.set(uri, (subscribed.get(uri) ?? 0) + 1) && {},
  'resources/unsubscribe': ({ uri }) => {
    subscribed.delete(uri);
    return {};
  },
  'prompts/list': () => ({ prompts }),
  'prompts/get': (asked) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `${name}: ${asked.name}` } }],
  }),
  'completion/complete': ({ ref }) => ({ completion: { values: [`${name}: ${ref.name ?? ref.uri}`] } }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const result = methods[method]?.(params);
  if (result !== undefined) return write({ id, result });
  const error = methods[method] === undefined ? [-32601, 'Method not found'] : [-32002, 'Resource not found'];
  return write({ id, error: { code: error[0], message: error[1] } });
});
