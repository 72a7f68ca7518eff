import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Clock } from '@sallyport/std/clock';
import { openLayer } from '../../../packages/sallyport/src/compose/open-layer.ts';
import { runCli } from '../../../packages/sallyport/src/doors/cli/run-cli.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  type Server,
  type Settings,
  serve,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import {
  prepareDatabase,
  temporaryDataFolder,
} from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

type Json = Readonly<Record<string, unknown>>;
export type Mint = Parameters<EmbeddedToolLayer['mintToken']>[0];

/** An answer over REST. */
export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** A call that waits for a person. */
export interface Waiting {
  readonly approvalId: string;
  readonly invocationId: string;
}

/** A wall clock that a test sets; monotonic time advances by itself. */
export interface SetClock extends Clock {
  /** Moves the wall clock forward by this many ms. */
  jump(ms: number): void;
}

/** Follows the machine's clock until a test sets it. */
export function setClock(): SetClock {
  let by = 0;
  return {
    now: () => Date.now() + by,
    monotonic: () => performance.now(),
    jump: (ms) => {
      by += ms;
    },
  };
}

/** How the layer of a test differs from the default. */
export interface DeskOptions {
  readonly settings?: Partial<Settings>;
  /** Text of the approvals file. */
  readonly terms?: string;
  /** Text of a Cedar file that is added to the default one. */
  readonly policy?: string;
  readonly clock?: Clock;
  /** The data folder. Default: a new one, removed at the end. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A layer with open doors and tools that record their runs, and functions to call it through each door. */
export interface Desk extends AsyncDisposable {
  readonly layer: EmbeddedToolLayer;
  readonly server: Server;
  readonly folder: string;
  /** Tool and argument of each run, in the order of the runs. */
  readonly runs: string[];
  token(claims?: Mint): Promise<string>;
  /** Sends a request over REST. */
  rest(method: string, path: string, token: string, body?: object): Promise<Answer>;
  /** Calls `tool` with `n` over REST. */
  invoke(tool: string, n: number, more?: object, token?: string): Promise<Answer>;
  /** Like `invoke`, for a call that has to wait for a person. */
  waits(tool: string, n: number, more?: object, token?: string): Promise<Waiting>;
  /** The record of a call. */
  status(invocationId: string): Promise<Json>;
  /** The record of a call, once it is in this state; waits until the test times out. */
  reaches(invocationId: string, state: string): Promise<Json>;
  /** Runs the command line on this data folder. */
  cli(argv: readonly string[], signal?: AbortSignal, onOut?: (text: string) => void): Promise<CliAnswer>;
  /** An MCP client whose user answers with `onElicit`; a client without `onElicit` cannot ask its user. */
  mcp(token: string, onElicit?: (params: Elicited) => object, era?: '2025' | '2026'): Promise<Client>;
}

/** Result of a run of the command line. */
export interface CliAnswer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The question that an MCP client shows to its user. */
export interface Elicited {
  readonly message: string;
  readonly mode?: string | undefined;
}

const PARAMETERS = {
  type: 'object',
  properties: { n: { type: 'integer', maximum: 100, description: 'How much.' } },
  required: ['n'],
  additionalProperties: false,
};

/** `pay` needs an approver, `send` a confirmation, `plain` neither; none of the tools may run twice. */
export const TOOLS: readonly ToolManifest[] = [
  toolOf('pay', { execution_config: { requires_approval: true } }),
  toolOf('send', { requires_confirmation: true, confirmation_prompt: 'Send it?' }),
  toolOf('plain', {}),
];

/** A native tool that takes `n` and may not run twice. */
export function toolOf(tool_id: string, more: Partial<ToolManifest>): ToolManifest {
  return {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: `Does ${tool_id}.`,
    side_effect_policy: 'irreversible',
    parameters_schema: PARAMETERS,
    executor: { kind: 'native' },
    ...more,
  };
}

export const ALICE: Mint = { agent_did: 'did:agent:console', user_did: 'did:user:alice', roles: ['approver'] };
export const BOB: Mint = { agent_did: 'did:agent:console', user_did: 'did:user:bob', roles: ['approver'] };
/** The agent that makes the calls. */
export const AGENT: Mint = { agent_did: 'did:agent:a', user_did: 'did:user:u', session_id: 's' };
const LONG_SECONDS = 30 * 86_400;

export async function openDesk(options: DeskOptions = {}): Promise<Desk> {
  const folder = options.folder ?? (await temporaryDataFolder('sallyport-desk-'));
  const { terms, policy, clock, settings = {}, environment = {} } = options;
  await prepareDatabase(folder);
  await mkdir(join(folder, 'policies'), { recursive: true });
  if (terms !== undefined) await writeFile(join(folder, 'approvals.toml'), terms);
  if (policy !== undefined) {
    await writeFile(join(folder, 'policies', 'default.cedar'), '@id("all")\npermit (principal, action, resource);');
    await writeFile(join(folder, 'policies', 'own.cedar'), policy);
  }
  const layer = await createToolLayer({
    settings: {
      data_folder: folder,
      'agent.mounts': ['.:ro', `${tmpdir()}:rw`],
      'approvals.sweep_seconds': 0.1,
      ...settings,
    },
    log: silentLog,
    environment,
    ...(clock === undefined ? {} : { clock }),
  });
  const runs: string[] = [];
  for (const tool of TOOLS) {
    await layer.registerFunction(tool, ({ n }) => {
      runs.push(`${tool.tool_id} ${String(n)}`);
      return { done: n };
    });
  }
  const server = await serve(layer, { port: 0 });
  return deskOver(layer, server, folder, runs, async () => {
    await server.close();
    await layer.close();
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  });
}

async function deskOver(
  layer: EmbeddedToolLayer,
  server: Server,
  folder: string,
  runs: string[],
  close: () => Promise<void>,
): Promise<Desk> {
  const clients: Client[] = [];
  const token = async (claims: Mint = {}) =>
    (await layer.mintToken({ expires_in_seconds: LONG_SECONDS, ...claims })).capability_token;
  const own = await token(AGENT);
  const rest: Desk['rest'] = (method, path, bearer, body) => restOver(server.url, method, path, bearer, body);
  const invoke: Desk['invoke'] = (tool_id, n, more = {}, bearer = own) =>
    rest('POST', '/v1/invocations', bearer, { tool_id, parameters: { n }, ...more });
  const status = async (invocation_id: string): Promise<Json> =>
    layer.ask('invocations.get', { invocation_id }, LOCAL_CALLER) as unknown as Promise<Json>;
  return {
    layer,
    server,
    folder,
    runs,
    token,
    rest,
    invoke,
    status,
    async waits(tool, n, more, bearer) {
      const { body } = await invoke(tool, n, more, bearer);
      if (body['status'] !== 'pending_approval') throw new Error(`it does not wait: ${JSON.stringify(body)}`);
      const { approval_id } = body['approval'] as { approval_id: string };
      return { approvalId: approval_id, invocationId: String(body['invocation_id']) };
    },
    async reaches(invocationId, state) {
      for (;;) {
        const seen = await status(invocationId);
        if (seen['state'] === state) return seen;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    cli: (argv, signal, onOut) => cliOn(folder, argv, signal, onOut),
    async mcp(bearer, onElicit, era) {
      const client = clientOf(onElicit, era);
      clients.push(client);
      const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      await close();
    },
  };
}

async function restOver(url: string, method: string, path: string, token: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = body === undefined ? { headers } : { headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, { method, ...sent });
  return { status: response.status, body: (await response.json()) as Json };
}

/** An MCP client; it declares that its user can be asked when `onElicit` is given. */
export function clientOf(onElicit?: (params: Elicited) => object, era: '2025' | '2026' = '2025'): Client {
  const capabilities = onElicit === undefined ? {} : { elicitation: { form: {}, url: {} } };
  const negotiation = era === '2026' ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities, ...negotiation });
  if (onElicit !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => onElicit(params as Elicited) as never);
  return client;
}

/** Runs one command, which connects to the layer that serves the folder. */
async function cliOn(
  dataFolder: string,
  argv: readonly string[],
  signal: AbortSignal = new AbortController().signal,
  onOut: (text: string) => void = () => {},
): Promise<CliAnswer> {
  const said = { out: '', err: '' };
  const nobody = async (): Promise<never> => Promise.reject(new Error('this is not for tests'));
  const code = await runCli(argv, {
    io: {
      stdin: (async function* () {})(),
      stdout: {
        write: (text: string) => {
          said.out += text;
          onOut(text);
        },
      },
      stderr: { write: (text: string) => (said.err += text) },
      env: {},
      cwd: dataFolder,
      signal,
    },
    version: '0.0.0',
    program: [],
    openLayer: () => openLayer({ dataFolder }, { environment: {} }),
    serve: nobody,
    mcpStdio: nobody,
    doctor: nobody,
    migrateSettings: nobody,
  });
  return { code, ...said };
}
