import { CreateTaskResultSchema, TaskStatusNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type Desk, type Mint, openDesk, toolOf } from '../desk.fixture.ts';
import { modern, session, taskClient } from './tasks.fixture.ts';

let desk: Desk;
let token: string;
/** Ends of the calls that run, by their argument. */
const ends = new Map<number, (result: unknown) => void>();

beforeAll(async () => {
  desk = await openDesk();
  token = await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:u' });
  const held = ({ n }: Readonly<Record<string, unknown>>, { signal }: { readonly signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      ends.set(Number(n), resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  await desk.layer.registerFunction(toolOf('held', { side_effect_policy: 'pure' }), held);
  const optional = { execution_config: { task_support: 'optional' as const } };
  await desk.layer.registerFunction(toolOf('report', { side_effect_policy: 'pure', ...optional }), held);
  const forbidden = { execution_config: { task_support: 'forbidden' as const } };
  await desk.layer.registerFunction(toolOf('quick', { side_effect_policy: 'pure', ...forbidden }), ({ n }) => ({ n }));
  const required = { execution_config: { task_support: 'required' as const } };
  await desk.layer.registerFunction(toolOf('slow', { side_effect_policy: 'pure', ...required }), ({ n }) => ({ n }));
});
afterAll(() => desk[Symbol.asyncDispose]());

const runs = (n: number) => expect.poll(() => ends.has(n)).toBe(true);
const taskOf = (answer: { readonly result?: Record<string, unknown> }) =>
  String((answer.result?.['task'] as { taskId?: string } | undefined)?.taskId ?? answer.result?.['taskId']);

/** Looks at a task of 2026-07-28 until it has this status. */
async function until(taskId: string, status: string, bearer = token): Promise<Record<string, unknown>> {
  let seen: Record<string, unknown> = {};
  await expect
    .poll(async () => {
      seen = (await modern(desk.server, bearer, 'tasks/get', { taskId })).result ?? {};
      return seen['status'];
    })
    .toBe(status);
  return seen;
}

describe('tasks of 2025-11-25', () => {
  test('API-03.10 a session learns which tools may be tasks, and that the layer has tasks', async () => {
    const { capabilities, ask } = await session(desk.server, token);
    expect(capabilities['tasks']).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const { tools } = (await ask('tools/list', {})).result as { tools: { name: string; execution: object }[] };
    const support = Object.fromEntries(tools.map(({ name, execution }) => [name, execution]));
    expect(support).toMatchObject({
      held: { taskSupport: 'optional' },
      report: { taskSupport: 'optional' },
      quick: { taskSupport: 'forbidden' },
      slow: { taskSupport: 'required' },
    });
  });

  test('API-03.10 PIPE-07.1 the official client follows a task to its result', async () => {
    await using mine = await taskClient(desk.server, token);
    const followed = mine.stream('held', { n: 1 });
    await runs(1);
    ends.get(1)?.({ pages: 1 });
    const { taskId, end } = await followed;
    expect(end).toMatchObject({
      structuredContent: { pages: 1 },
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    });
    expect(await desk.status(taskId)).toMatchObject({ state: 'COMPLETED', tool_id: 'held' });
    const task = await mine.client.experimental.tasks.getTask(taskId);
    expect(task).toMatchObject({ taskId, status: 'completed', pollInterval: expect.any(Number) });
    // The layer's own time, not the minute that the client wished for.
    expect(task.ttl).toBeGreaterThan(80 * 86_400_000);
  });

  test('API-03.10 a session is notified of the states of its tasks', async () => {
    await using mine = await taskClient(desk.server, token);
    const states: unknown[] = [];
    mine.client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void states.push(params));
    const wanted = { name: 'held', arguments: { n: 8 } };
    const { taskId } = (
      await mine.client.request(
        { method: 'tools/call', params: { ...wanted, task: { ttl: 1 } } },
        CreateTaskResultSchema,
      )
    ).task;
    await runs(8);
    await expect.poll(() => states).toContainEqual(expect.objectContaining({ taskId, status: 'working' }));
    ends.get(8)?.('over');
    await expect.poll(() => states.at(-1)).toMatchObject({ taskId, status: 'completed' });
  });

  test('API-03.10 a task is cancelled before the answer, once, and its result says so', async () => {
    const { ask } = await session(desk.server, token);
    const taskId = taskOf(await ask('tools/call', { name: 'held', arguments: { n: 2 }, task: {} }));
    await runs(2);
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await ask('tasks/cancel', { taskId })).error).toMatchObject({ code: -32602 });
    expect((await ask('tasks/result', { taskId })).result).toMatchObject({ isError: true });
  });

  test('API-03.10 API-03.11 ORC-03 a task that waits for its user asks on the request for the result, and runs after', async () => {
    const asked: string[] = [];
    await using mine = await taskClient(desk.server, token, (message) => {
      asked.push(message);
      return { action: 'accept', content: { confirm: true } };
    });
    const { end } = await mine.stream('send', { n: 3 });
    expect(asked).toEqual([expect.stringContaining('wants to run send')]);
    expect(end).toMatchObject({ structuredContent: { done: 3 } });
  });

  test('API-03.10 ORC-03 a task that waits for an approver works on, and is no question for the client', async () => {
    const { ask } = await session(desk.server, token);
    const taskId = taskOf(await ask('tools/call', { name: 'pay', arguments: { n: 4 }, task: {} }));
    const waits = (await ask('tasks/get', { taskId })).result;
    expect(waits).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('approver') });
    const { approval } = (await desk.status(taskId)) as { approval: { approval_id: string } };
    expect(await desk.cli(['approvals', 'approve', approval.approval_id])).toMatchObject({ code: 0 });
    expect((await ask('tasks/result', { taskId })).result).toMatchObject({ structuredContent: { done: 4 } });
  });

  test('API-03.10 a client that leaves while it waits for a result ends the wait alone', async () => {
    const { ask, post } = await session(desk.server, token);
    const taskId = taskOf(await ask('tools/call', { name: 'held', arguments: { n: 5 }, task: {} }));
    await runs(5);
    const leaving = new AbortController();
    const waiting = post({ id: 9, method: 'tasks/result', params: { taskId } }, leaving.signal);
    await ask('tasks/get', { taskId });
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
    ends.get(5)?.('there');
    expect((await ask('tasks/result', { taskId })).result).toMatchObject({ content: [{ text: 'there' }] });
  });

  test.each([
    [{ ttl: 0 }, true],
    [{ ttl: Number.MAX_VALUE }, true],
    [{ ttl: -1 }, false],
    [{ ttl: 'long' }, false],
    ['now', false],
  ])('API-03.10 the wish %j for a task is taken: %s', async (task, isTaken) => {
    const { ask } = await session(desk.server, token);
    const answer = await ask('tools/call', { name: 'slow', arguments: { n: 6 }, task });
    if (isTaken) expect(answer.result).toMatchObject({ task: { status: 'working', ttl: expect.any(Number) } });
    else expect(answer.error).toMatchObject({ code: -32602 });
  });

  test('API-03.10 a tool that forbids tasks gives none, and one that requires them gives nothing else', async () => {
    const { ask } = await session(desk.server, token);
    const forbidden = await ask('tools/call', { name: 'quick', arguments: { n: 7 }, task: {} });
    expect(forbidden.error).toMatchObject({ code: -32601, data: { e_code: 'E3822' } });
    const wrong = await ask('tools/call', { name: 'held', arguments: { n: 'seven' }, task: {} });
    expect(wrong.error).toMatchObject({ code: -32602, data: { e_code: 'E3502' } });
    const required = await ask('tools/call', { name: 'slow', arguments: { n: 7 } });
    expect(required.error).toMatchObject({ code: -32601, data: { e_code: 'E3822' } });
    expect((await ask('tools/call', { name: 'quick', arguments: { n: 7 } })).result).toMatchObject({
      structuredContent: { n: 7 },
    });
    // The same at the other doors.
    expect((await desk.invoke('slow', 7)).body).toMatchObject({ error: { e_code: 'E3822' } });
    const later = { execution_options: { async_mode: true } };
    expect((await desk.invoke('slow', 7, later)).body).toMatchObject({ status: 'pending' });
    expect((await desk.invoke('quick', 7, later)).body).toMatchObject({ error: { e_code: 'E3822' } });
  });
});

describe('tasks of 2026-07-28', () => {
  test('API-03.10 a client that does not declare the extension never gets a task', async () => {
    const none = { elicitation: { form: {} } };
    const called = modern(desk.server, token, 'tools/call', { name: 'report', arguments: { n: 10 } }, none);
    await runs(10);
    ends.get(10)?.('read');
    expect((await called).result).toMatchObject({ resultType: 'complete', content: [{ text: 'read' }] });
    const required = await modern(desk.server, token, 'tools/call', { name: 'slow', arguments: { n: 1 } }, none);
    const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    expect(required).toMatchObject({ status: 400, error: { code: -32021, data: { requiredCapabilities } } });
    const waits = await modern(desk.server, token, 'tools/call', { name: 'pay', arguments: { n: 10 } }, {});
    expect(waits.result).toMatchObject({ resultType: 'complete', isError: true });
  });

  test('API-03.10 ORC-03 a call that waits for an approver is a task for a client that knows tasks', async () => {
    const created = await modern(desk.server, token, 'tools/call', { name: 'pay', arguments: { n: 11 } });
    expect(created.result).toMatchObject({ resultType: 'task', status: 'working' });
    const taskId = taskOf(created);
    const { approval } = (await desk.status(taskId)) as { approval: { approval_id: string } };
    await desk.cli(['approvals', 'deny', approval.approval_id]);
    expect(await until(taskId, 'completed')).toMatchObject({ result: { isError: true } });
  });

  test('API-03.10 a subscription is notified of the states of the tasks that are its own', async () => {
    const created = await modern(desk.server, token, 'tools/call', { name: 'report', arguments: { n: 12 } });
    const taskId = taskOf(created);
    await runs(12);
    const notified = listen(taskId);
    await expect.poll(() => notified.messages.length).toBeGreaterThan(1);
    ends.get(12)?.('heard');
    await expect
      .poll(() => notified.messages.at(-1))
      .toMatchObject({
        method: 'notifications/tasks',
        params: { taskId, status: 'completed', result: { content: [{ text: 'heard' }] } },
      });
    expect(notified.messages[0]).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
    notified.stop();
    const wish = { notifications: { taskIds: [taskId] } };
    expect(await modern(desk.server, token, 'subscriptions/listen', wish, {})).toMatchObject({
      status: 400,
      error: { code: -32021 },
    });
  });
});

/** Puts copies of a task on record. */
async function copies(taskId: string, count: number): Promise<void> {
  const { embeddedDatabase } = desk.layer;
  if (embeddedDatabase === undefined) throw new Error('the layer has no database of its own');
  const same = `tenant_id, tool_id, tool_version, agent_did, session_id, side_effect_policy, state, error_code,
    instance_id, is_final, accepted_at, duration_ms, deferred`;
  await run(
    embeddedDatabase,
    `insert into sallyport.tool_invocations (invocation_id, record, ${same})
     select 'copy-' || n, replace(record::text, invocation_id, 'copy-' || n)::json, ${same}
     from sallyport.tool_invocations, generate_series(1, ${count}) as n where invocation_id = '${taskId}'`,
  );
}

/** Listens to a task, and to one that does not exist. */
function listen(taskId: string) {
  const messages: Record<string, unknown>[] = [];
  const stop = new AbortController();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  const params = { notifications: { taskIds: [taskId, 'no-such-task'] }, _meta };
  const reading = (async () => {
    const response = await fetch(`${desk.server.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params }),
      signal: stop.signal,
    });
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) messages.push(JSON.parse(data));
      }
    }
  })();
  reading.catch(() => undefined);
  return { messages, stop: () => stop.abort() };
}

describe('the tasks of others', () => {
  const OTHERS: readonly (readonly [who: string, claims: Mint])[] = [
    ['another user of the agent', { agent_did: 'did:agent:a', user_did: 'did:user:v' }],
    ['another agent of the user', { agent_did: 'did:agent:b', user_did: 'did:user:u' }],
    ['an agent without a user', { agent_did: 'did:agent:a' }],
    ['an operator', { agent_did: 'did:agent:o', user_did: 'did:user:o', roles: ['operator'] }],
    ['another tenant', { tenant_id: 'globex', agent_did: 'did:agent:a', user_did: 'did:user:u' }],
  ];

  test.each(OTHERS)('API-03.10 PRM-10 are nothing to %s', async (who, claims) => {
    const { ask } = await session(desk.server, token);
    const n = 20 + OTHERS.findIndex(([each]) => each === who);
    const taskId = taskOf(await ask('tools/call', { name: 'held', arguments: { n }, task: {} }));
    await runs(n);
    const waiting = taskOf(await ask('tools/call', { name: 'send', arguments: { n }, task: {} }));
    const other = await desk.token(claims);
    const theirs = await session(desk.server, other);
    for (const id of [taskId, waiting, 'no-such-task']) {
      const unknown = { code: -32602, message: expect.stringMatching(/^There is no invocation/) };
      expect((await theirs.ask('tasks/get', { taskId: id })).error).toMatchObject(unknown);
      expect((await theirs.ask('tasks/result', { taskId: id })).error).toMatchObject(unknown);
      expect((await theirs.ask('tasks/cancel', { taskId: id })).error).toMatchObject(unknown);
      for (const method of ['tasks/get', 'tasks/cancel'])
        expect((await modern(desk.server, other, method, { taskId: id })).error).toMatchObject(unknown);
      const answers = { taskId: id, inputResponses: { a: { action: 'accept', content: { confirm: true } } } };
      expect((await modern(desk.server, other, 'tasks/update', answers)).error).toMatchObject(unknown);
    }
    const listed = (await theirs.ask('tasks/list', {})).result as { tasks: { taskId: string }[] };
    expect(listed.tasks.map((task) => task.taskId)).not.toContain(taskId);
    // Nothing of it changed the task.
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
    ends.get(n)?.('mine');
    expect((await ask('tasks/result', { taskId })).result).toMatchObject({ content: [{ text: 'mine' }] });
  });

  test('API-03.10 a call that was answered at once is no task, and an answer that was not asked for changes nothing', async () => {
    const { ask } = await session(desk.server, token);
    const { result } = await ask('tools/call', { name: 'quick', arguments: { n: 30 } });
    const { _meta = {} } = (result ?? {}) as { _meta?: { invocation_id?: string } };
    const { invocation_id: taskId } = _meta;
    expect((await ask('tasks/get', { taskId })).error).toMatchObject({ code: -32602 });
    const created = await modern(desk.server, token, 'tools/call', { name: 'pay', arguments: { n: 30 } });
    const waiting = taskOf(created);
    const { approval } = (await desk.status(waiting)) as { approval: { approval_id: string } };
    const yes = { action: 'accept', content: { confirm: true } };
    const inputResponses = { [approval.approval_id]: yes, [`${approval.approval_id}.${'0'.repeat(64)}`]: yes, '': yes };
    const update = await modern(desk.server, token, 'tasks/update', { taskId: waiting, inputResponses });
    expect(update.result).toMatchObject({ resultType: 'complete' });
    expect(await desk.status(waiting)).toMatchObject({ status: 'pending_approval' });
    for (const inputs of [undefined, null, 'yes', []]) {
      const wrong = await modern(desk.server, token, 'tasks/update', { taskId: waiting, inputResponses: inputs });
      expect(wrong.error).toMatchObject({ code: -32602 });
    }
  });

  test('API-03.10 ten thousand tasks are listed page by page, each once, and to their owner alone', async () => {
    const { ask } = await session(desk.server, token);
    const taskId = taskOf(await ask('tools/call', { name: 'slow', arguments: { n: 40 }, task: {} }));
    await ask('tasks/result', { taskId });
    await copies(taskId, 10_000);
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const { result } = await ask('tasks/list', cursor === undefined ? {} : { cursor });
      const page = result as { tasks: { taskId: string }[]; nextCursor?: string };
      expect(page.tasks.length).toBeLessThanOrEqual(50);
      for (const task of page.tasks) {
        expect(seen.has(task.taskId)).toBe(false);
        seen.add(task.taskId);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect([...seen].filter((id) => id.startsWith('copy-'))).toHaveLength(10_000);
    expect(seen.has(taskId)).toBe(true);
    const other = await session(desk.server, await desk.token({ agent_did: 'did:agent:a', user_did: 'did:user:z' }));
    expect((await other.ask('tasks/list', {})).result).toEqual({ tasks: [] });
    for (const wrong of ['', 'x', 7, '1_../x'])
      expect((await ask('tasks/list', { cursor: wrong })).error).toMatchObject({ code: -32602 });
  });

  test.each([undefined, 7, '', '../etc', 'x'.repeat(200), '\u0000'])('API-03.10 %j is no task', async (taskId) => {
    const { ask } = await session(desk.server, token);
    expect((await ask('tasks/get', { taskId })).error).toMatchObject({ code: -32602 });
    expect((await ask('tasks/result', { taskId })).error).toMatchObject({ code: -32602 });
  });
});
