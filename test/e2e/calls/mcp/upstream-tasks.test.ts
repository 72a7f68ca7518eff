import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import {
  openTaskServer,
  type TaskServer,
} from '../../../../packages/sallyport/src/mcp-servers/test-servers/task-http-server.ts';
import { type Desk, openDesk, toolOf } from '../desk.fixture.ts';
import { modern, taskClient } from './tasks.fixture.ts';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const EVERYTHING = ['node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio'];
const RESEARCH = 'everything__simulate-research-query';

let desk: Desk;
let server: TaskServer;
let token: string;
beforeAll(async () => {
  desk = await openDesk();
  server = await openTaskServer();
  token = await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:u' });
  const add = (upstream: object) => desk.layer.ask('upstreams.add', { upstream } as never, LOCAL_CALLER);
  const may_ask = ['elicitation', 'sampling', 'roots'];
  await add({ name: 'tasks', transport: { type: 'http', url: server.url }, may_ask });
  const transport = { type: 'stdio', command: 'node', args: EVERYTHING, cwd: REPOSITORY };
  await add({ name: 'everything', transport });
}, 120_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const taskOf = ({ result }: { readonly result?: Record<string, unknown> }): string => String(result?.['taskId']);
const get = async (taskId: string) => (await modern(desk.server, token, 'tasks/get', { taskId })).result ?? {};
const call = (name: string, can?: Record<string, unknown>) =>
  modern(desk.server, token, 'tools/call', { name: `tasks__${name}`, arguments: {} }, can);
const isAt = (taskId: string, status: string) => expect.poll(async () => (await get(taskId))['status']).toBe(status);
/** Calls an upstream's tool as an asynchronous call over REST. */
const later = async (tool_id: string): Promise<string> => {
  const options = { execution_options: { async_mode: true } };
  const { body } = await desk.rest('POST', '/v1/invocations', token, { tool_id, parameters: {}, ...options });
  return String(body['invocation_id']);
};
const working = () => [...server.tasks.values()].find(({ status }) => status === 'working');

describe('tasks of the real server-everything (2025-11-25)', () => {
  test('EXE-07.3 API-03.4 API-03.10 a tool that requires tasks is called as a task, and its states and result come through', async () => {
    await using mine = await taskClient(desk.server, token);
    const { tools } = await mine.client.listTools();
    expect(tools.find(({ name }) => name === RESEARCH)).toMatchObject({ execution: { taskSupport: 'required' } });
    const { end, taskId } = await mine.stream(RESEARCH, { topic: 'gates', ambiguous: false });
    expect(JSON.stringify(end)).toContain('Research Report: gates');
    expect(await desk.status(taskId)).toMatchObject({ state: 'COMPLETED' });
  });

  test('EXE-07 API-03.10 what the server asks in the middle of its task reaches the user of the task', async () => {
    const asked: string[] = [];
    await using mine = await taskClient(desk.server, token, (message) => {
      asked.push(message);
      return { action: 'accept', content: { interpretation: 'technical' } };
    });
    const { end } = await mine.stream(RESEARCH, { topic: 'gates', ambiguous: true });
    expect(asked).toEqual([expect.stringMatching(/^The server everything asks; never give it a password\./)]);
    expect(JSON.stringify(end)).toContain('technical');
  });

  test('EXE-07 a caller without tasks waits for the end of the task that the server requires', async () => {
    const parameters = { topic: 'doors', ambiguous: false };
    const { body } = await desk.rest('POST', '/v1/invocations', token, { tool_id: RESEARCH, parameters });
    expect(body).toMatchObject({ status: 'success' });
    expect(JSON.stringify(body['result'])).toContain('Research Report: doors');
  });
});

describe('tasks of a server of 2026-07-28', () => {
  test('API-03.5 API-03.10 a call that its server makes a task becomes one for a client that knows tasks', async () => {
    const created = await call('long_job');
    expect(created.result).toMatchObject({ resultType: 'task', status: 'working' });
    const taskId = taskOf(created);
    expect(server.tasks.has(taskId)).toBe(false);
    await isAt(taskId, 'working');
    server.end('done far away');
    await isAt(taskId, 'completed');
    expect(await get(taskId)).toMatchObject({ result: { content: [{ text: 'done far away' }] } });
    expect(server.called.filter((name) => name === 'long_job')).toHaveLength(1);
  });

  test('API-03.10 for a client without tasks the server makes none, and says itself that it needs them', async () => {
    const none = { elicitation: { form: {} } };
    expect((await call('long_job', none)).result).toMatchObject({ content: [{ text: 'at once' }] });
    const refused = await call('must_be_task', none);
    expect(JSON.stringify(refused)).toContain('Missing required client capability');
    expect(working()).toBeUndefined();
  });

  test('EXE-07 API-03.10 an asynchronous call follows the task, and its questions wait for the user', async () => {
    const created = await call('asks_in_task');
    const taskId = taskOf(created);
    await isAt(taskId, 'input_required');
    const { inputRequests } = (await get(taskId)) as { inputRequests: Record<string, { params: { message: string } }> };
    const [key = ''] = Object.keys(inputRequests);
    expect(inputRequests[key]?.params.message).toMatch(
      /^The server tasks asks; never give it a password\.\nWhich colour/,
    );
    // An answer that does not fit the form reaches the server as none.
    const inputResponses = { [key]: { action: 'accept', content: { name: 'blue' } }, other: { action: 'accept' } };
    await modern(desk.server, token, 'tasks/update', { taskId, inputResponses });
    await isAt(taskId, 'completed');
    const { result } = (await get(taskId)) as { result: { content: { text: string }[] } };
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual({
      colour: { action: 'accept', content: { name: 'blue' } },
    });
  });

  const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const MODEL = { ...TASKS, sampling: {}, roots: {} };
  const keysOf = (task: Record<string, unknown>) =>
    Object.entries((task['inputRequests'] ?? {}) as Record<string, { method: string }>);
  const look = async (taskId: string, can: Record<string, unknown>) =>
    (await modern(desk.server, token, 'tasks/get', { taskId }, can)).result ?? {};
  const completion = { role: 'assistant', content: { type: 'text', text: 'Said.' }, model: 'm' };

  test('EXE-07.13 API-03.10 a task asks for a completion and for folders, and gets both from its client', async () => {
    const taskId = taskOf(await call('samples_in_task', MODEL));
    await expect.poll(async () => keysOf(await look(taskId, MODEL)).length).toBe(2);
    // Not shown to a client that can do neither.
    expect(await look(taskId, TASKS)).toMatchObject({ status: 'working' });
    const roots = [{ uri: 'file:///work', name: 'Work' }];
    const answers = keysOf(await look(taskId, MODEL)).map(([key, { method }]) => [
      key,
      method === 'roots/list' ? { roots } : completion,
    ]);
    await modern(desk.server, token, 'tasks/update', { taskId, inputResponses: Object.fromEntries(answers) }, MODEL);
    await isAt(taskId, 'completed');
    const { result } = (await get(taskId)) as { result: { content: { text: string }[] } };
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual({ words: completion, folders: { roots } });
  });

  test('EXE-07.13 a completion with tools is asked only of a client that lets its model use tools', async () => {
    const withTools = { ...TASKS, sampling: { tools: {} } };
    const taskId = taskOf(await call('uses_tools_in_task', withTools));
    await expect.poll(async () => keysOf(await look(taskId, withTools)).length).toBe(1);
    expect(keysOf(await look(taskId, MODEL))).toEqual([]);
    const before = server.cancelled.length;
    await modern(desk.server, token, 'tasks/cancel', { taskId });
    await expect.poll(() => server.cancelled.length).toBe(before + 1);
  });

  test('EXE-07.13 PIPE-06.2 a task whose question nobody can answer is cancelled at its server', async () => {
    const before = server.cancelled.length;
    const id = await later('tasks__samples_in_task');
    expect(await desk.reaches(id, 'FAILED')).toMatchObject({ error: { e_code: 'E3821' } });
    expect(server.cancelled).toHaveLength(before + 1);
  });

  test('PIPE-06.2 a cancel of a call that no instance holds reaches the task of the server', async () => {
    await using full = await openDesk({ settings: { 'workers.slots': 1 } });
    const upstream = { name: 'tasks', transport: { type: 'http' as const, url: server.url } };
    await full.layer.ask('upstreams.add', { upstream }, LOCAL_CALLER);
    const freed = Promise.withResolvers<void>();
    const pure = toolOf('held', { side_effect_policy: 'pure', execution_config: { task_support: 'required' } });
    await full.layer.registerFunction(pure, () => freed.promise.then(() => 'over'));
    const mine = await full.token({ agent_did: 'did:agent:a', user_did: 'did:user:u' });
    const begin = (name: string, given: object) =>
      modern(full.server, mine, 'tools/call', { name, arguments: given }).then(taskOf);
    const held = await begin('held', { n: 1 });
    await full.reaches(held, 'EXECUTING');
    const waits = await begin('tasks__long_job', {});
    const { taskId = '' } = working() ?? {};
    await modern(full.server, mine, 'tasks/cancel', { taskId: waits });
    expect(server.cancelled).toContain(taskId);
    freed.resolve();
    await full.reaches(held, 'COMPLETED');
  });

  test('EXE-12.3 PIPE-06.2 a cancel reaches the task of the server', async () => {
    const id = await later('tasks__must_be_task');
    await expect.poll(working).toBeDefined();
    const { taskId = '' } = working() ?? {};
    await desk.cli(['calls', 'cancel', id]);
    await desk.reaches(id, 'ABORTED');
    expect(server.cancelled).toContain(taskId);
  });

  test('EXE-07 the connection may break while the task runs: it is asked for again', async () => {
    const id = await later('tasks__must_be_task');
    await expect.poll(working).toBeDefined();
    await desk.layer.ask('upstreams.restart', { name: 'tasks' }, LOCAL_CALLER);
    server.end('after all');
    expect(await desk.reaches(id, 'COMPLETED')).toMatchObject({ result: { content: [{ text: 'after all' }] } });
  });

  test('PIPE-13 a task that the server no longer knows leaves the outcome unknown, and nothing is called again', async () => {
    const before = server.called.length;
    const id = await later('tasks__must_be_task');
    await expect.poll(working).toBeDefined();
    server.tasks.clear();
    expect(await desk.reaches(id, 'ABORTED')).toMatchObject({ error: { e_code: 'E3804' } });
    expect(server.called).toHaveLength(before + 1);
  });
});
