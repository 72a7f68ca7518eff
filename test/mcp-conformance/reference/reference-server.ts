// The MCP server that the public conformance suite meets through the layer, over stdio. Only for tests.
// usage: reference-server.ts [older]   older: sessions of 2025-11-25 only, without tasks
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { registerAsking } from './asking.ts';
import { registerPrompts } from './prompts.ts';
import { acceptSubscriptions, registerResources } from './resources.ts';
import { answerAboutTasks, asTask, inCall, registerJobs, TASKS } from './tasks.ts';
import {
  registerChangingTools,
  registerContentTools,
  registerLoggingTools,
  registerProgressTool,
  registerSchemaTool,
} from './tools.ts';

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

const isOlder = process.argv[2] === 'older';

function createReferenceServer(): McpServer {
  const server = new McpServer(
    { name: 'reference', version: '1.0.0' },
    {
      capabilities: isOlder ? CAPABILITIES : { ...CAPABILITIES, extensions: { [TASKS]: {} } },
      instructions: 'Everything here is for tests.',
    },
  );
  registerContentTools(server);
  registerProgressTool(server);
  registerSchemaTool(server);
  registerLoggingTools(server);
  registerChangingTools(server);
  registerAsking(server);
  registerJobs(server, isOlder ? inCall : asTask);
  if (!isOlder) answerAboutTasks(server);
  registerResources(server);
  registerPrompts(server);
  acceptSubscriptions(server);
  return server;
}

if (isOlder) await createReferenceServer().connect(new StdioServerTransport());
else serveStdio(createReferenceServer);
