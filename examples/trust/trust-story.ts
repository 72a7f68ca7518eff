import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { EmbeddedToolLayer } from '../../packages/sallyport/src/index.ts';
import type { CommandResult } from '../first-call/sallyport-process.ts';
import type { Story } from '../first-call/story.ts';
import type { ModelStandIn } from './model-stand-in.ts';
import type { OutgoingPost } from './outgoing-post.ts';

/** Whom a token speaks for. */
export type Claims = Parameters<EmbeddedToolLayer['mintToken']>[0];

/** What was answered over REST. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Something wrong with a call or a request. */
export interface Refusal {
  readonly e_code: string;
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What every chapter gets. */
export interface TrustParts {
  readonly story: Story;
  readonly layer: EmbeddedToolLayer;
  readonly url: string;
  /** Data folder of the layer. */
  readonly folder: string;
  /** Folder that `save-note` may write to. */
  readonly notes: string;
  readonly model: ModelStandIn;
  /** The server that the webhook calls. */
  readonly post: OutgoingPost;
  /** How often a tool of the story has run. */
  readonly runsOf: (tool: string) => number;
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
  /** The same with something on standard input. */
  readonly reading: (stdin: string, ...args: string[]) => Promise<CommandResult>;
}

/** The agent that calls in chapters that need no particular one. */
export const AGENT = 'did:example:agent';

/** Headers of who presents a token. */
export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** GET, or POST where there is a body. */
export async function ask(
  { url }: Pick<TrustParts, 'url'>,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<Answer> {
  const sent = {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const response = await fetch(url + path, body === undefined ? { headers } : sent);
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** A token of the story's agent, or of whom the claims name. */
export async function tokenFor({ layer }: Pick<TrustParts, 'layer'>, claims: Claims = {}): Promise<string> {
  return (await layer.mintToken({ agent_did: AGENT, ...claims })).capability_token;
}

/** Calls a tool over REST with a token of its own. */
export async function invoke(
  parts: TrustParts,
  tool_id: string,
  parameters: object,
  more: object = {},
  claims: Claims = {},
): Promise<Answer> {
  const headers = bearer(await tokenFor(parts, claims));
  return ask(parts, '/v1/invocations', headers, { tool_id, parameters, ...more });
}

/** Calls a tool with the official MCP client. */
export async function callOverMcp(parts: TrustParts, name: string, given: object, _meta?: Record<string, unknown>) {
  const client = new Client({ name: 'trust', version: '1.0.0' });
  const requestInit = { headers: bearer(await tokenFor(parts)) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${parts.url}/mcp`), { requestInit }));
  const call = { name, arguments: { ...given }, ...(_meta === undefined ? {} : { _meta }) };
  return client.callTool(call).finally(() => client.close());
}

/** With what a call or a request was refused; undefined when it was not. */
export function refusalOf({ body }: Answer): Refusal | undefined {
  return (body['e_code'] === undefined ? body['error'] : body) as Refusal | undefined;
}

/** The call was refused with this code. */
export function assertRefused(answer: Answer, eCode: string): void {
  assert.equal(refusalOf(answer)?.e_code, eCode, JSON.stringify(answer.body));
}

/** The call ran and answered so. */
export function assertResult(answer: Answer, result: unknown): void {
  assert.deepEqual([answer.body['status'], answer.body['result']], ['success', result], JSON.stringify(answer.body));
}

/** Events of one call, as an operator reads them. */
export async function eventsOf(parts: TrustParts, { body }: Answer): Promise<string> {
  const headers = bearer(await tokenFor(parts, { roles: ['viewer'] }));
  const { body: found } = await ask(parts, `/v1/audit?invocation_id=${String(body['invocation_id'])}`, headers);
  return JSON.stringify(found['events']);
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
/** What `npm run sallyport` runs. */
const START = fileURLToPath(new URL('../../packages/sallyport/bin/sallyport.mjs', import.meta.url));

/** The command line on one data folder, with something on standard input. */
export function readingCommandLine(dataFolder: string): TrustParts['reading'] {
  const env = { ...process.env, SALLYPORT_DATA_FOLDER: dataFolder };
  return (stdin, ...args) =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [START, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr });
      });
      child.stdin?.end(stdin);
    });
}
