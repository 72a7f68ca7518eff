import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { once } from './asking.ts';
import { DELETE, TWO, USER } from './questions.ts';

/** The extension, by which clients and servers say that they know tasks. */
export const TASKS = 'io.modelcontextprotocol/tasks';
const POLL_MS = 50;
const FAILING_MS = 100;

type Members = Record<string, unknown>;

interface Task {
  readonly taskId: string;
  readonly createdAt: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  inputRequests?: InputRequests;
  result?: CallToolResult;
  error?: { code: number; message: string };
}

/** A task with what is not shown of it. */
interface Held {
  readonly task: Task;
  readonly answers: Members;
  readonly ended: AbortController;
  /** What it answers once all of its questions are answered. */
  readonly say: (answers: Members) => string;
}

const held = new Map<string, Held>();
const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });

/** What a job does: works, or asks and answers once all is answered. */
interface Job {
  readonly work?: (signal: AbortSignal) => Promise<CallToolResult>;
  readonly asked?: InputRequests;
  readonly say?: Held['say'];
}

/** Runs a job within its call. */
export const inCall: RunJob = ({ work, asked = {}, say }, { mcpReq }) =>
  work === undefined ? once(asked, mcpReq, say) : work(mcpReq.signal);
/** Runs a job as a task. */
export const asTask: RunJob = (job) => begin(job);

type Answer = CallToolResult | InputRequiredResult;
type RunJob = (job: Job, context: ServerContext) => Answer | Promise<Answer>;

/** Registers the tools that are jobs. */
export function registerJobs(server: McpServer, run: RunJob): void {
  server.registerTool('greet', { description: 'Greets.', inputSchema: z.object({ name: z.string() }) }, ({ name }) =>
    text(`Hello, ${name}!`),
  );
  const given = z.object({ seconds: z.number(), label: z.string().optional() });
  const slow = { description: 'Computes slowly.', inputSchema: given };
  server.registerTool('slow_compute', slow, ({ seconds, label }, context) =>
    run({ work: (signal) => sleep(seconds * 1000, text(`computed ${label}`), { signal }) }, context),
  );
  server.registerTool('failing_job', { description: 'Fails.' }, (context) =>
    run({ work: () => sleep(FAILING_MS, { ...text('It always fails.'), isError: true }) }, context),
  );
  server.registerTool('protocol_error_job', { description: 'Breaks.' }, (context) =>
    run({ work: () => Promise.reject(new Error('The job broke.')) }, context),
  );
  const file = { description: 'Deletes a file.', inputSchema: z.object({ filename: z.string() }) };
  server.registerTool('confirm_delete', file, ({ filename }, context) =>
    run({ asked: DELETE, say: () => `deleted ${filename}` }, context),
  );
  server.registerTool('multi_input', { description: 'Asks two things.' }, (context) => run({ asked: TWO }, context));
  server.registerTool('test_tool_with_task', { description: 'Asks, then works.' }, (context) => {
    const answer = context.mcpReq.inputResponses?.['user_name'];
    if (answer === undefined) return inputRequired({ inputRequests: USER });
    return run({ work: async () => text(`Hello, ${JSON.stringify(answer)}`) }, context);
  });
}

function begin({ work, asked, say = (answers) => JSON.stringify(answers) }: Job): CallToolResult {
  const task: Task = {
    taskId: randomUUID(),
    createdAt: new Date().toISOString(),
    status: asked === undefined ? 'working' : 'input_required',
    ...(asked === undefined ? {} : { inputRequests: { ...asked } }),
  };
  const ended = new AbortController();
  held.set(task.taskId, { task, answers: {}, ended, say });
  work?.(ended.signal).then(
    (result) => end(task, { status: 'completed', result }),
    (thrown: Error) => end(task, { status: 'failed', error: { code: -32_603, message: thrown.message } }),
  );
  const { inputRequests: _inputRequests, ...begun } = shown(task);
  return { ...begun, resultType: 'task', content: [] };
}

function end(task: Task, more: Partial<Task>): void {
  if (task.status === 'working' || task.status === 'input_required') Object.assign(task, more);
}

function shown(task: Task): Members {
  return { ...task, lastUpdatedAt: task.createdAt, ttlMs: null, pollIntervalMs: POLL_MS };
}

/** Answers requests about tasks. The SDK has the names alone. */
export function answerAboutTasks({ server }: McpServer): void {
  const params = z.object({ taskId: z.string() });
  const find = (taskId: string): Held => {
    const found = held.get(taskId);
    if (found === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such task.');
    return found;
  };
  server.setRequestHandler('tasks/get', { params }, ({ taskId }) => shown(find(taskId).task));
  server.setRequestHandler('tasks/cancel', { params }, ({ taskId }) => {
    const { task, ended } = find(taskId);
    end(task, { status: 'cancelled' });
    ended.abort();
    return {};
  });
  const answered = z.object({ taskId: z.string(), inputResponses: z.record(z.string(), z.unknown()) });
  server.setRequestHandler('tasks/update', { params: answered }, ({ taskId, inputResponses }) => {
    take(find(taskId), inputResponses);
    return {};
  });
}

/** Only answers to open questions count. */
function take({ task, answers, say }: Held, given: Members): void {
  const open = task.inputRequests ?? {};
  for (const key of Object.keys(open).filter((name) => given[name] !== undefined)) {
    answers[key] = given[key];
    delete open[key];
  }
  if (Object.keys(open).length > 0) return;
  delete task.inputRequests;
  end(task, { status: 'completed', result: text(say(answers)) });
}
