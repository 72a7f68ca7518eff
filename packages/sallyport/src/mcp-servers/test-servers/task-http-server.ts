import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

const TASKS = 'io.modelcontextprotocol/tasks';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const NAMED = /^(?:tasks\/get|tasks\/update|tasks\/cancel)$/;

/** A task of the test's server. */
export interface HeldTask {
  readonly taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  statusMessage?: string;
  inputRequests?: Json;
  result?: Json;
  error?: Json;
  /** Answers that it received. */
  readonly answers: Json;
}

/** A server of 2026-07-28 over HTTP that runs calls as tasks, which the test ends. */
export interface TaskServer extends AsyncDisposable {
  readonly url: string;
  readonly tasks: Map<string, HeldTask>;
  /** Names of the tools that were called, in order. */
  readonly called: string[];
  /** Ids of the tasks that were cancelled. */
  readonly cancelled: string[];
  /** Ends the one task that works. */
  end(text: string): void;
}

const QUESTION = (name: string): Json => ({
  method: 'elicitation/create',
  params: {
    message: `Which ${name}?`,
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, confirm: { type: 'boolean' } },
    },
  },
});
const COMPLETION = (more: Json = {}): Json => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Say it.' } }], maxTokens: 10, ...more },
});
/** What tools ask in the middle of their tasks. */
const ASKED: Readonly<Record<string, Json>> = {
  asks_in_task: { colour: QUESTION('colour') },
  samples_in_task: { words: COMPLETION(), folders: { method: 'roots/list', params: {} } },
  uses_tools_in_task: { words: COMPLETION({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }) },
};
const TOOLS = ['multi_input', 'test_tool_with_task', 'long_job', 'must_be_task', ...Object.keys(ASKED)];
const text = (said: string): Json => ({ content: [{ type: 'text', text: said }] });
const complete = (members: Json): Json => ({ resultType: 'complete', ...members });

class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What the server holds. */
type Held = Pick<TaskServer, 'tasks' | 'called' | 'cancelled'>;

/** Opens the server on a free port. */
export async function openTaskServer(): Promise<TaskServer> {
  const held: Held = { tasks: new Map(), called: [], cancelled: [] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      const { id, method, params = {} } = JSON.parse(Buffer.concat(chunks).toString()) as Json;
      response.setHeader('content-type', 'application/json');
      const say = (members: Json): void => void response.end(JSON.stringify({ jsonrpc: '2.0', id, ...members }));
      try {
        say({ result: answerTo(held, String(method), params as Json, request.headers) });
      } catch (thrown) {
        const { code, message, data } = thrown as RpcError;
        say({ error: { code, message, data } });
      }
    });
  });
  return opened(server, held);
}

function answerTo(held: Held, method: string, params: Json, headers: IncomingHttpHeaders): Json {
  const meta = params['_meta'] as Json | undefined;
  const { extensions } = (meta?.[CAPABILITIES] ?? {}) as { extensions?: Json };
  if (method === 'server/discover') return complete({ ...ABOUT });
  if (method === 'tools/list') return complete({ tools: TOOLS.map(toolOf), ttlMs: 0, cacheScope: 'private' });
  if (method === 'tools/call') return call(held, params, extensions?.[TASKS] !== undefined);
  if (!NAMED.test(method)) throw new RpcError(-32_601, 'Method not found');
  if (decoded(headers['mcp-name']) !== params['taskId']) throw new RpcError(-32_020, 'Header mismatch');
  if (extensions?.[TASKS] === undefined) throw new RpcError(-32_021, 'Missing required client capability');
  return aboutTask(held, method, params);
}

function begin({ tasks }: Held, more: Partial<HeldTask> = {}): Json {
  const task: HeldTask = { taskId: `task ${randomUUID()}`, status: 'working', answers: {}, ...more };
  tasks.set(task.taskId, task);
  return { resultType: 'task', ...shown(task) };
}

function call(held: Held, { name, inputResponses }: Json, isDeclared: boolean): Json {
  held.called.push(String(name));
  const said = inputResponses as Json | undefined;
  switch (name) {
    case 'multi_input':
      if (said !== undefined) return complete(text(JSON.stringify(said)));
      return { resultType: 'input_required', inputRequests: { first: QUESTION('first'), second: QUESTION('second') } };
    case 'test_tool_with_task': {
      if (said === undefined) return { resultType: 'input_required', inputRequests: { user: QUESTION('user') } };
      return begin(held, { status: 'completed', result: text(`Hello, ${JSON.stringify(said['user'])}`) });
    }
    default:
      if (ASKED[String(name)] !== undefined)
        return begin(held, { status: 'input_required', inputRequests: { ...ASKED[String(name)] } });
      if (isDeclared) return begin(held);
      if (name === 'long_job') return complete(text('at once'));
      throw new RpcError(-32_021, 'Missing required client capability', {
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      });
  }
}

function aboutTask({ tasks, cancelled }: Held, method: string, { taskId, inputResponses }: Json): Json {
  const task = tasks.get(String(taskId));
  if (task === undefined) throw new RpcError(-32_602, 'There is no such task.');
  if (method === 'tasks/get') return complete(shown(task));
  if (method === 'tasks/cancel') {
    cancelled.push(task.taskId);
    task.status = 'cancelled';
    return complete({});
  }
  Object.assign(task.answers, inputResponses);
  const result = text(JSON.stringify(task.answers));
  if (task.status === 'input_required') Object.assign(task, { status: 'completed', result, inputRequests: undefined });
  return complete({});
}

async function opened(server: Server, held: Held): Promise<TaskServer> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    ...held,
    url: `http://127.0.0.1:${port}/mcp`,
    end(said) {
      const task = [...held.tasks.values()].find(({ status }) => status === 'working');
      if (task === undefined) throw new Error('no task works');
      Object.assign(task, { status: 'completed', result: text(said) });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

const ABOUT = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, extensions: { [TASKS]: {} } },
  serverInfo: { name: 'tasks', version: '1.0.0' },
  ttlMs: 0,
  cacheScope: 'private',
};

const toolOf = (name: string): Json => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });

function shown({ answers: _answers, ...task }: HeldTask): Json {
  const at = '2026-01-01T00:00:00.000Z';
  return { ...task, createdAt: at, lastUpdatedAt: at, ttlMs: null, pollIntervalMs: 50 };
}

function decoded(header: string | string[] | undefined): string {
  const inner = /^=\?base64\?(.*)\?=$/.exec(String(header))?.[1];
  return inner === undefined ? String(header) : Buffer.from(inner, 'base64').toString();
}
