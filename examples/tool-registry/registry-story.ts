import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { EmbeddedToolLayer } from '../../packages/sallyport/src/index.ts';
import type { CommandResult } from '../first-call/sallyport-process.ts';
import type { Story } from '../first-call/story.ts';

/** Whom a token speaks for. */
export type Claims = Parameters<EmbeddedToolLayer['mintToken']>[0];

/** What was answered over REST. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What every chapter gets. */
export interface RegistryParts {
  readonly story: Story;
  readonly layer: EmbeddedToolLayer;
  readonly url: string;
  readonly helpDesk: { readonly url: string; readonly port: number };
  /** Path of a file that belongs to the story. */
  readonly here: (name: string) => string;
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
}

/** The agent that calls in chapters that need no particular one. */
export const AGENT = 'did:example:agent';

/** GET, or POST where there is a body, with a token for whom the claims name. */
export async function overRest(
  { layer, url }: RegistryParts,
  path: string,
  claims: Claims,
  body?: object,
): Promise<Answer> {
  const { capability_token } = await layer.mintToken({ agent_did: AGENT, ...claims });
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${capability_token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** Calls a tool over REST. */
export function invoke(
  parts: RegistryParts,
  tool_id: string,
  parameters: object,
  { tool_version, ...claims }: NonNullable<Claims> = {},
): Promise<Answer> {
  const range = tool_version === undefined ? {} : { tool_version };
  const { port } = parts.helpDesk;
  const request = { tool_id, ...range, parameters };
  return overRest(parts, '/v1/invocations', { hosts: ['127.0.0.1'], ports: [port], ...claims }, request);
}

/** Code with which a call or a request was refused; undefined when it was not. */
export function codeOf({ body }: Answer): unknown {
  const { error } = body as { error?: { e_code: string } };
  return body['e_code'] ?? error?.e_code;
}

/** What an MCP client was refused with. */
export async function refusalOf(asked: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> {
  const refused = await asked.then(
    () => undefined,
    (thrown: { code: number; message: string }) => ({ code: thrown.code, message: thrown.message }),
  );
  return refused ?? assert.fail('it was not refused');
}

/** The command ended well; what it printed as JSON. */
export async function asJson(parts: RegistryParts, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await parts.sallyport(...args, '--json');
  assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Works with the official MCP client at one of the layer's addresses, as an agent. */
export async function withMcpClient<T>(
  { layer, url, helpDesk }: RegistryParts,
  path: string,
  claims: Claims,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const network = { hosts: ['127.0.0.1'], ports: [helpDesk.port] };
  const { capability_token } = await layer.mintToken({ ...network, ...claims });
  const client = new Client({ name: 'tool-registry', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${capability_token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url + path), { requestInit }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Asks again until it holds. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + UNTIL_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `${what}: not after ${UNTIL_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const UNTIL_MS = 30_000;
