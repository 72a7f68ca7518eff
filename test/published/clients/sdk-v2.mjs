import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ANSWER, cancelHeld, drive, headers, named, target, until } from './drive.mjs';

let changes = 0;
const client = new Client(
  { name: 'sdk-v2', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: 'auto' },
    listChanged: {
      tools: {
        autoRefresh: false,
        debounceMs: 0,
        onChanged: () => {
          changes += 1;
        },
      },
    },
  },
);
client.setRequestHandler('elicitation/create', () => ANSWER);
const { url, command, args, env } = target;
await client.connect(
  url === undefined
    ? new StdioClientTransport({ command, args, env: { ...process.env, ...env } })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);
const call = (name, given = {}, options = {}) => client.callTool({ name: named(name), arguments: given }, options);

await drive({
  connects: () => client.getServerVersion(),
  tool: async () => (await client.listTools()).tools.find(({ name }) => name === named('report')),
  structured: () => call('report'),
  error: () => call('fail'),
  media: () => call('media'),
  progress: async () => {
    const reports = [];
    await call('steps', {}, { onprogress: (report) => reports.push(report) });
    return reports;
  },
  cancelled: () => cancelHeld((name, given, signal) => client.callTool({ name, arguments: given }, { signal })),
  question: () => call('ask'),
  changed: async () => {
    const before = changes;
    await call('grow');
    return until(() => changes > before);
  },
  resources: () => client.listResources(),
  prompts: () => client.listPrompts(),
});
