import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { ANSWER, cancelHeld, drive, headers, named, target, until } from './drive.mjs';

const client = new Client({ name: 'sdk-v1', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, () => ANSWER);
const { url, command, args, env } = target;
await client.connect(
  url === undefined
    ? new StdioClientTransport({ command, args, env: { ...process.env, ...env } })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);
const call = (name, given = {}, signal = undefined, onprogress = undefined) =>
  client.callTool({ name: named(name), arguments: given }, undefined, { signal, onprogress });

await drive({
  connects: () => client.getServerVersion(),
  tool: async () => (await client.listTools()).tools.find(({ name }) => name === named('report')),
  structured: () => call('report'),
  error: () => call('fail'),
  media: () => call('media'),
  progress: async () => {
    const reports = [];
    await call('steps', {}, undefined, (report) => reports.push(report));
    return reports;
  },
  cancelled: () =>
    cancelHeld((name, given, signal) => client.callTool({ name, arguments: given }, undefined, { signal })),
  question: () => call('ask'),
  changed: async () => {
    let told = false;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      told = true;
    });
    await call('grow');
    return until(() => told);
  },
  resources: () => client.listResources(),
  prompts: () => client.listPrompts(),
});
