import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { cancelHeld, drive, headers, named, target } from './drive.mjs';

const { url, command, args, env } = target;
const server =
  url === undefined
    ? new MCPServerStdio({ name: 'target', command, args, env: { ...process.env, ...env } })
    : new MCPServerStreamableHttp({ name: 'target', url, requestInit: { headers } });
await server.connect();
const call = (name, given = {}, signal = undefined) => server.callToolResult(name, given, null, { signal });

await drive({
  connects: () => server.name,
  tool: async () => (await server.listTools()).find(({ name }) => name === named('report')),
  structured: () => call(named('report')),
  error: () => call(named('fail')),
  media: () => call(named('media')),
  cancelled: () => cancelHeld(call),
  question: () => call(named('ask')),
  resources: () => server.listResources(),
});
