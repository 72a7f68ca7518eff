import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ToolInvokeResponse } from '../../../../packages/sallyport/api/schemas/invocation.ts';
import type { OutputFilter } from '../../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../../packages/sallyport/src/manifest.ts';
import { DOUBLE, type OpenLayer } from '../../layer.fixture.ts';

/** The file of output filters of the tests. */
export const FILTERS = String.raw`
[[filter]]
id = "exactly"
tool = { exact = "install" }
drop = ['^npm notice', '^added \d+ packages']
keep = ['ERR!']

[[filter]]
id = "beginning"
tool = { prefix = "build-" }
drop = ['^npm notice']

[[filter]]
id = "pattern"
tool = { regex = '^job-[0-9]+$' }
keep = ['ERR!']
others = "drop"

[[filter]]
id = "of-command"
command = { prefix = "printf %b " }
drop = ['^npm notice']

[[filter]]
id = "promised"
tool = { exact = "promised" }
drop = ['^npm notice']

[[filter]]
id = "joining"
tool = { prefix = "joined" }
drop = ['^noise: ']
`;

/** Filters in code: one that adds up, and one that has a fault. */
export const OWN_FILTERS: readonly OutputFilter[] = [
  {
    id: 'counting',
    matches: ({ toolId, arguments: { n } }) => toolId === 'counted' && n === 1,
    filter: (text) => ({ text: `${text.split('\n').length} lines`, confidence: 'full' }),
  },
  {
    id: 'faulty',
    matches: ({ toolId }) => toolId === 'faulty',
    filter: () => {
      throw new Error('no');
    },
  },
];

/** What an installer writes: of these lines a filter knows all but the third. */
export const WRITTEN = 'npm notice new version\nnpm ERR! code E1\nhow odd\nadded 12 packages\n';

/** A tool without result schema. */
export const tool = (tool_id: string, more: Partial<ToolManifest> = {}): ToolManifest => {
  const { result_schema: _, ...about } = { ...DOUBLE, result_schema: undefined };
  return { ...about, tool_id, ...more };
};

/** Calls a tool over REST. */
export async function called(
  { server, token: own }: Pick<OpenLayer, 'server' | 'token'>,
  tool_id: string,
  { n = 1, token = own, ...more }: Record<string, unknown> & { readonly token?: string } = {},
): Promise<ToolInvokeResponse> {
  const response = await fetch(`${server.url}/v1/invocations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool_id, parameters: { n }, ...more }),
  });
  return (await response.json()) as ToolInvokeResponse;
}

/** A GET over REST. */
export async function got({ server, token: own }: Pick<OpenLayer, 'server' | 'token'>, path: string, token = own) {
  const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Asks as an MCP client. */
export async function overMcp<T>(
  { server, token: own }: Pick<OpenLayer, 'server' | 'token'>,
  ask: (client: Client) => Promise<T>,
  path = '/mcp',
  token = own,
): Promise<T> {
  const client = new Client({ name: 'short-results', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url + path), { requestInit: { headers } }));
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
}

/** The texts of an MCP result. */
export const textsOf = ({ content }: { readonly content?: unknown }): readonly string[] =>
  (content as readonly { readonly text: string }[]).map(({ text }) => text);
