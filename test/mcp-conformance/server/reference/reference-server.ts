// The MCP server that the public conformance suite meets through the layer, over stdio. Only for tests.
// usage: reference-server.ts [older]   older: sessions of 2025-11-25 only
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { registerPrompts } from './prompts.ts';
import { acceptSubscriptions, registerResources } from './resources.ts';
import { registerContentTools, registerProgressTool, registerSchemaTool } from './tools.ts';

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

function createReferenceServer(): McpServer {
  const server = new McpServer(
    { name: 'reference', version: '1.0.0' },
    { capabilities: CAPABILITIES, instructions: 'Everything here is for tests.' },
  );
  registerContentTools(server);
  registerProgressTool(server);
  registerSchemaTool(server);
  registerResources(server);
  registerPrompts(server);
  acceptSubscriptions(server);
  return server;
}

if (process.argv[2] === 'older') await createReferenceServer().connect(new StdioServerTransport());
else serveStdio(createReferenceServer);
