import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { cancelHeld, drive, headers, named, target, until } from './drive.mjs';

const { url, command, args, env } = target;
const reports = [];
let changes = 0;
const client = new MultiServerMCPClient({
  mcpServers: {
    target:
      url === undefined
        ? { transport: 'stdio', command, args, env: { ...process.env, ...env } }
        : { transport: 'http', url, headers },
  },
  onProgress: (report) => reports.push(report),
  onToolsListChanged: () => {
    changes += 1;
  },
});
const tools = await client.getTools();
const call = (name, given = {}, signal = undefined) =>
  tools.find((tool) => tool.name === name).invoke({ type: 'tool_call', id: 'call', name, args: given }, { signal });

await drive({
  connects: () => tools.map(({ name }) => name),
  tool: () => {
    const { name, description, schema, metadata } = tools.find((tool) => tool.name === named('report'));
    return { name, description, inputSchema: schema, ...metadata };
  },
  structured: () => call(named('report')),
  error: async () => {
    const message = await call(named('fail'));
    return { isError: message.status === 'error', ...message };
  },
  media: () => call(named('media')),
  progress: async () => {
    await call(named('steps'));
    return reports;
  },
  cancelled: () => cancelHeld(call),
  question: () => call(named('ask')),
  changed: async () => {
    const before = changes;
    await call(named('grow'));
    return until(() => changes > before);
  },
  resources: () => client.listResources(),
});
