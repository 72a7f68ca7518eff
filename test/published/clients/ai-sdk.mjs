import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { ANSWER, cancelHeld, drive, headers, named, target } from './drive.mjs';

const { url, command, args, env } = target;
const transport =
  url === undefined
    ? new StdioMCPTransport({ command, args, env: { ...process.env, ...env } })
    : { type: 'http', url, headers };
const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
client.onElicitationRequest(ElicitationRequestSchema, () => ANSWER);
const tools = await client.tools();
const call = (name, given = {}, abortSignal = undefined) =>
  tools[name].execute(given, { abortSignal, toolCallId: 'call', messages: [] });

await drive({
  connects: () => Object.keys(tools),
  tool: async () => (await client.listTools()).tools.find(({ name }) => name === named('report')),
  structured: () => call(named('report')),
  error: () => call(named('fail')),
  media: () => call(named('media')),
  cancelled: () => cancelHeld(call),
  question: () => call(named('ask')),
  resources: () => client.listResources(),
  prompts: () => client.listPrompts(),
});
