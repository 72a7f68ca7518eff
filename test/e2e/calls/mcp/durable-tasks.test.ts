import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLayer } from '../../../../packages/sallyport/src/compose/open-layer.ts';
import type { ToolManifest } from '../../../../packages/sallyport/src/manifest.ts';
import {
  openTaskServer,
  type TaskServer,
} from '../../../../packages/sallyport/src/mcp-servers/test-servers/task-http-server.ts';
import { temporaryDataFolder } from '../../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { MAIN } from '../../running/sallyport-program.fixture.ts';
import { modern } from './tasks.fixture.ts';

let folder: string;
let layer: ChildProcess;
let url: string;
let server: TaskServer;
let token: string;
beforeAll(async () => {
  server = await openTaskServer();
  folder = await temporaryDataFolder('sallyport-tasks-');
  layer = await start();
  const { layer: opened, caller } = await openLayer({ dataFolder: folder }, { environment: {} });
  const transport = { type: 'http' as const, url: server.url };
  await opened.ask('upstreams.add', { upstream: { name: 'tasks', transport } }, caller);
  await opened.ask('tools.register', { manifest: sleeper('sleep-pure', 'pure') }, caller);
  await opened.ask('tools.register', { manifest: sleeper('sleep-once', 'irreversible') }, caller);
  const mint = { agent_did: 'did:agent:a', user_did: 'did:user:u' };
  token = (await opened.ask('tokens.mint', mint, caller)).capability_token;
});
afterAll(async () => {
  await end('SIGTERM');
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** Starts `sallyport serve` as its own process; resolves once it is ready. */
async function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--data-folder', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SALLYPORT_LOG_LEVEL: 'silent', XDG_STATE_HOME: folder },
  });
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const [, at] = /ready at (\S+)/.exec(String(chunk)) ?? [];
    if (at === undefined) continue;
    url = at;
    return child;
  }
  throw new Error('the layer ended before it was ready');
}

async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const exited = new Promise((resolve) => layer.once('exit', resolve));
  layer.kill(signal);
  await exited;
}

/** A shell tool that runs for a moment, always as a task. */
function sleeper(tool_id: string, side_effect_policy: 'pure' | 'irreversible'): ToolManifest {
  return {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: 'Sleeps.',
    side_effect_policy,
    parameters_schema: { type: 'object', additionalProperties: false },
    execution_config: { task_support: 'required' },
    executor: { kind: 'shell', config: { command: ['sh', '-c', 'sleep 3; echo slept'] } },
  };
}

const call = async (name: string): Promise<string> => {
  const { result } = await modern({ url }, token, 'tools/call', { name, arguments: {} });
  return String(result?.['taskId']);
};
const get = async (taskId: string) => (await modern({ url }, token, 'tasks/get', { taskId })).result ?? {};
const isAt = (taskId: string, status: string) => expect.poll(async () => (await get(taskId))['status']).toBe(status);

test('API-03.10 ORC-06.1 EXE-07 a task at an upstream outlives kill -9: it is taken up again, and nothing is called twice', async () => {
  const taskId = await call('tasks__long_job');
  await isAt(taskId, 'working');
  await expect.poll(() => server.tasks.size).toBe(1);
  await end('SIGKILL');
  layer = await start();
  expect(await get(taskId)).toMatchObject({ taskId, status: 'working' });
  server.end('across the restart');
  await isAt(taskId, 'completed');
  expect(await get(taskId)).toMatchObject({ result: { content: [{ text: 'across the restart' }] } });
  expect(server.called).toEqual(['long_job']);
}, 120_000);

test('API-03.10 ORC-06.1 PIPE-13 a task of a tool of the layer is run again after kill -9 where that is safe, and else says that its outcome is unknown', async () => {
  const [safe, once] = [await call('sleep-pure'), await call('sleep-once')];
  await expect.poll(async () => (await get(safe))['statusMessage']).toBe('The call runs.');
  await expect.poll(async () => (await get(once))['statusMessage']).toBe('The call runs.');
  await end('SIGKILL');
  layer = await start();
  await isAt(once, 'completed');
  expect(await get(once)).toMatchObject({ result: { isError: true, _meta: { error: { e_code: 'E3804' } } } });
  await isAt(safe, 'completed');
  expect(JSON.stringify(await get(safe))).toContain('slept');
}, 120_000);
