import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import type { Desk } from '../../calls/desk.fixture.ts';

const SERVER = fileURLToPath(
  new URL('../../../../packages/sallyport/src/mcp-servers/test-servers/offering-server.mjs', import.meta.url),
);

/** What the test server offers; see `offering-server.mjs`. */
export interface Offering {
  readonly resources?: readonly object[];
  readonly templates?: readonly object[];
  readonly prompts?: readonly object[];
  readonly instructions?: string;
  /** Offers so many numbered resources instead. */
  readonly many?: number;
  /** Has tools with a user interface. */
  readonly apps?: boolean;
}

/** Adds an upstream that offers this. Its tools may run twice. @param more members of its definition */
export async function addServer(
  { layer }: Pick<Desk, 'layer'>,
  name: string,
  offering: Offering,
  more: object = {},
): Promise<void> {
  const args = [SERVER, JSON.stringify({ name, ...offering })];
  const transport = { type: 'stdio' as const, command: process.execPath, args };
  const overrides = { '*': { side_effect_policy: 'pure' as const } };
  await layer.ask('upstreams.add', { upstream: { name, transport, overrides, ...more } }, LOCAL_CALLER);
}

/** How a client connects. */
export interface ClientOptions {
  /** Default: the address of all upstreams. */
  readonly path?: string;
  readonly era?: '2025' | '2026';
  readonly capabilities?: object;
}

/** A client with this token; the caller closes it. */
export async function connect(
  { server }: Pick<Desk, 'server'>,
  token: string,
  { path = '/mcp', era = '2025', capabilities = {} }: ClientOptions = {},
): Promise<Client> {
  const negotiation = era === '2026' ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'offers', version: '1.0.0' }, { capabilities, ...negotiation });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}${path}`), { requestInit }));
  return client;
}

/** The text of a read resource. */
export async function read(client: Client, uri: string): Promise<string | undefined> {
  const { contents } = await client.readResource({ uri });
  const [first] = contents;
  return first !== undefined && 'text' in first ? first.text : undefined;
}
