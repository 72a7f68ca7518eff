// The MCP SDK's own HTTP server: the v2 server package on node:http through its own adapter, a session for each client,
// answers as JSON, which is the faster of its two ways. One trivial tool, in process; no check but its own.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readBody, tellPort } from './own-server.ts';

type ToolAnswer = { readonly content: readonly { readonly type: 'text'; readonly text: string }[] };

/** The little of the SDK that is used here; its own types are there only when the peers are installed. */
interface ServerPackage {
  readonly McpServer: new (identity: {
    readonly name: string;
    readonly version: string;
  }) => {
    registerTool(
      name: string,
      tool: { readonly description: string; readonly inputSchema: unknown },
      run: (given: { readonly text: string }) => ToolAnswer,
    ): void;
    connect(transport: Transport): Promise<void>;
  };
  readonly fromJsonSchema: (schema: object) => unknown;
}
interface NodePackage {
  readonly NodeStreamableHTTPServerTransport: new (options: {
    readonly sessionIdGenerator: () => string;
    readonly enableJsonResponse: boolean;
    readonly onsessioninitialized: (id: string) => void;
  }) => Transport;
}
interface Transport {
  handleRequest(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
}

const { McpServer, fromJsonSchema } = (await import(packageNamed('server'))) as ServerPackage;
const { NodeStreamableHTTPServerTransport } = (await import(packageNamed('node'))) as NodePackage;

const INPUT = fromJsonSchema({
  type: 'object',
  properties: { text: { type: 'string', description: 'What to say.', maxLength: 1000 } },
  required: ['text'],
  additionalProperties: false,
});
const sessions = new Map<string, Transport>();

tellPort(
  createServer(async (request, response) => {
    const body: unknown = JSON.parse(await readBody(request));
    const known = sessions.get(String(request.headers['mcp-session-id']));
    await (known ?? (await openSession())).handleRequest(request, response, body);
  }),
);

async function openSession(): Promise<Transport> {
  const transport: Transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool('echo', { description: 'Says the text.', inputSchema: INPUT }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  await server.connect(transport);
  return transport;
}

function packageNamed(name: string): string {
  return `@modelcontextprotocol/${name}`;
}
