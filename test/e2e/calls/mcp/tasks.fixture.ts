import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Server } from '../../../../packages/sallyport/src/index.ts';

type Json = Record<string, unknown>;

/** A client of 2025-11-25 that knows tasks, of the library's first major version. */
export interface TaskClient extends AsyncDisposable {
  readonly client: Client;
  /** Calls a tool as a task and gives what its stream said: the task, its states, and the result or error. */
  stream(
    name: string,
    args: Json,
  ): Promise<{ readonly statuses: string[]; readonly taskId: string; readonly end: Json }>;
}

/** @param onElicit answers questions to the user; without it the client declares that it can show none */
export async function taskClient(
  { url }: Pick<Server, 'url'>,
  token: string,
  onElicit?: (message: string, params: Json) => Json | Promise<Json>,
): Promise<TaskClient> {
  const capabilities = onElicit === undefined ? {} : { elicitation: { form: {}, url: {} } };
  const client = new Client({ name: 'tasks', version: '1.0.0' }, { capabilities });
  if (onElicit !== undefined)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => onElicit(params.message, params) as never);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return {
    client,
    async stream(name, args) {
      const statuses: string[] = [];
      let taskId = '';
      let end: Json = {};
      const options = { task: { ttl: 60_000 } };
      for await (const message of client.experimental.tasks.callToolStream(
        { name, arguments: args },
        CallToolResultSchema,
        options,
      )) {
        if (message.type === 'taskCreated') taskId = message.task.taskId;
        if (message.type === 'taskStatus') statuses.push(message.task.status);
        if (message.type === 'result') end = message.result as Json;
        if (message.type === 'error') end = { error: message.error.message };
      }
      return { statuses, taskId, end };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
    },
  };
}

const VERSION = '2026-07-28';

/** An answer of the endpoint. */
export interface Answered {
  readonly status: number;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

/** Sends one request of 2026-07-28. @param can the client's capabilities; default: tasks and forms */
export async function modern(
  { url }: Pick<Server, 'url'>,
  token: string,
  method: string,
  params: Json,
  can: Json = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
): Promise<Answered> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'tasks', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': can,
  };
  const name = params['name'] ?? params['taskId'];
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  return { status: response.status, ...((await response.json()) as Omit<Answered, 'status'>) };
}

/** A session of 2025-11-25 without a library. @param capabilities those of the client; default: none */
export async function session({ url }: Pick<Server, 'url'>, token: string, capabilities: Json = {}) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
  };
  const post = (body: Json, signal?: AbortSignal): Promise<Response> =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
  const hello = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1.0.0' } };
  const opened = await post({ id: 0, method: 'initialize', params: hello });
  headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? '';
  const { result } = (await opened.json()) as { result: Json };
  let last = 0;
  return {
    capabilities: result['capabilities'] as Json,
    post,
    async ask(method: string, params: Json): Promise<Answered> {
      last += 1;
      const response = await post({ id: last, method, params });
      return { status: response.status, ...((await response.json()) as Omit<Answered, 'status'>) };
    },
  };
}
