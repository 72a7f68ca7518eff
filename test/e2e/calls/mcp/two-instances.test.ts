import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import {
  openTaskServer,
  type TaskServer,
} from '../../../../packages/sallyport/src/mcp-servers/test-servers/task-http-server.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type Desk, openDesk } from '../desk.fixture.ts';
import { modern } from './tasks.fixture.ts';

let databases: TestDatabases;
let server: TaskServer;
let one: Desk;
let two: Desk;
const opened: Desk[] = [];

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  server = await openTaskServer();
  const connection = await databases.fresh();
  const settings = {
    'database.url': 'url' in connection ? connection.url : '',
    'workers.lease_seconds': 3,
    'shutdown.grace_seconds': 1,
  };
  one = await openDesk({ settings });
  opened.push(one);
  const transport = { type: 'http' as const, url: server.url };
  await one.layer.ask('upstreams.add', { upstream: { name: 'tasks', transport } }, LOCAL_CALLER);
  // Knows the upstream from the database.
  two = await openDesk({ settings });
  opened.push(two);
}, 120_000);
afterAll(async () => {
  for (const each of opened.reverse()) await each[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await databases.close();
});

const ASKER = { agent_did: 'did:agent:a', user_did: 'did:user:u' };
const get = async (desk: Desk, taskId: string) =>
  (await modern(desk.server, await desk.token(ASKER), 'tasks/get', { taskId })).result ?? {};
const call = async (desk: Desk, name: string): Promise<string> => {
  const params = { name: `tasks__${name}`, arguments: {} };
  return String((await modern(desk.server, await desk.token(ASKER), 'tools/call', params)).result?.['taskId']);
};
const isAt = (desk: Desk, taskId: string, status: string) =>
  expect.poll(async () => (await get(desk, taskId))['status']).toBe(status);

test('API-03.10 ORC-01.5 a task that was made at one instance is asked for, answered and ended through the other', async () => {
  const taskId = await call(one, 'asks_in_task');
  await isAt(two, taskId, 'input_required');
  const { inputRequests } = (await get(two, taskId)) as { inputRequests: Record<string, unknown> };
  expect((await get(one, taskId))['inputRequests']).toEqual(inputRequests);
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { name: 'green' } } };
  await modern(two.server, await two.token(ASKER), 'tasks/update', { taskId, inputResponses });
  await isAt(two, taskId, 'completed');
  expect(JSON.stringify(await get(one, taskId))).toContain('green');
  expect(server.called.filter((name) => name === 'asks_in_task')).toHaveLength(1);
});

test('API-03.10 ORC-06 EXE-12.3 a task goes on at another instance when its own one stops, and can be cancelled there', async () => {
  const stopping = await call(one, 'long_job');
  await expect.poll(() => [...server.tasks.values()].some(({ status }) => status === 'working')).toBe(true);
  await isAt(two, stopping, 'working');
  await one[Symbol.asyncDispose]();
  opened.splice(opened.indexOf(one), 1);
  expect(server.cancelled).toEqual([]);
  server.end('at the other one');
  await isAt(two, stopping, 'completed');
  expect(server.called.filter((name) => name === 'long_job')).toHaveLength(1);
  const cancelled = await call(two, 'long_job');
  await expect.poll(() => [...server.tasks.values()].some(({ status }) => status === 'working')).toBe(true);
  await modern(two.server, await two.token(ASKER), 'tasks/cancel', { taskId: cancelled });
  await isAt(two, cancelled, 'cancelled');
  await expect.poll(() => server.cancelled).toHaveLength(1);
});
