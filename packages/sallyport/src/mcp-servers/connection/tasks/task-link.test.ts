import { ProtocolError } from '@modelcontextprotocol/client';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { Multiplexer } from '../multiplexer.ts';
import type { RawResult, RequestOptions } from '../request-table.ts';
import { resultOrTask } from './start-task.ts';
import type { TaskForm } from './task-form.ts';
import { taskLink } from './task-link.ts';

const TASK = { taskId: 't' };
const DONE = { content: [{ type: 'text', text: 'done' }] };

/** A link to tasks at a server with these answers, in their order; `asked` are its requests. */
function tasksOf(form: TaskForm | undefined, ...says: (RawResult | Error)[]) {
  const asked: { readonly method: string; readonly params: object; readonly options: RequestOptions }[] = [];
  const request = async (method: string, params: object, options: RequestOptions) => {
    asked.push({ method, params, options });
    const next = says.shift() ?? {};
    if (next instanceof Error) throw next;
    return next;
  };
  return { ...taskLink({ request } as unknown as Multiplexer, 'up', form), asked };
}

const follow = (...says: (RawResult | Error)[]) => tasksOf('modern', ...says).follow(TASK, {});

test('EXE-07 a task of an upstream is looked at until it is over, and its result is that of the call', async () => {
  const working = { status: 'working', pollIntervalMs: 50, statusMessage: 'half' };
  const { follow: look, asked } = tasksOf('modern', working, { status: 'completed', result: DONE });
  const heard: unknown[] = [];
  expect(await look(TASK, { onProgress: (said) => void heard.push(said) })).toMatchObject(DONE);
  expect(asked.map(({ method, params }) => [method, params])).toEqual([
    ['tasks/get', TASK],
    ['tasks/get', TASK],
  ]);
  expect(heard).toEqual([{ progress: 1, message: 'half' }, { progress: 2 }]);
});

test('VAL-03.5 where a whole number is rounded in the result of a task is said of the result', async () => {
  const { follow: look, asked } = tasksOf('modern', { status: 'completed', result: DONE });
  const seen: unknown[] = [];
  await look(TASK, { onRounded: (places) => seen.push(places) });
  asked[0]?.options.onRounded?.(['/result/structuredContent/id', '/pollIntervalMs']);
  expect(seen).toEqual([['/structuredContent/id']]);
});

test('EXE-07 what a server of 2025-11-25 says of a task that is over is asked for, also while it asks', async () => {
  for (const status of ['completed', 'failed', 'cancelled', 'input_required']) {
    const { follow: look, asked } = tasksOf('legacy', { status }, DONE);
    expect(await look(TASK, {})).toMatchObject(DONE);
    expect(asked.map(({ method }) => method)).toEqual(['tasks/get', 'tasks/result']);
    expect(asked[0]?.options).not.toHaveProperty('headers');
  }
});

test.each<[string, RawResult | Error, object]>([
  ['cancelled', { status: 'cancelled' }, { code: 'E3109' }],
  ['completed without a result', { status: 'completed' }, { code: 'E3308' }],
  ['in a state that is none', { status: 'odd' }, { code: 'E3308' }],
  ['forgotten', new ProtocolError(-32602, 'unknown task'), { code: 'E3308' }],
  [
    'failed with an error',
    { status: 'failed', error: { code: -32001, message: 'no money', data: { left: 0 } } },
    { code: -32001, message: expect.stringContaining('no money'), data: { left: 0 } },
  ],
  [
    'failed in words',
    { status: 'failed', statusMessage: 'no paper' },
    { code: -32603, message: expect.stringContaining('no paper') },
  ],
  ['failed', { status: 'failed', error: {} }, { code: -32603, message: expect.stringContaining('the task failed') }],
])('EXE-07 EXE-12 a task that its server calls %s ends the call so', async (_what, says, end) => {
  const thrown: unknown = await follow(says).catch((cause: unknown) => cause);
  expect(thrown).toMatchObject(end);
  // What the server cannot say leaves open whether the tool ran.
  if (thrown instanceof ToolLayerError) expect(failureOf(thrown).details).toEqual({ reached: true });
});

test('EXE-07 a request about a task names it in a header, in Base64 where it is not plain', async () => {
  const named = async (taskId: string) => {
    const { cancelTask, asked } = tasksOf('modern');
    await cancelTask({ taskId }, {});
    return asked.map(({ method, options }) => [method, Object.values(options.headers ?? {}), options.extensions]);
  };
  const extension = { 'io.modelcontextprotocol/tasks': {} };
  expect(await named('t-1')).toEqual([['tasks/cancel', ['t-1'], extension]]);
  expect(await named('ä')).toEqual([['tasks/cancel', ['=?base64?w6Q=?='], extension]]);
  expect(await named('=?base64?x')).toEqual([['tasks/cancel', [expect.stringMatching(/^=\?base64\?PT9i/)], extension]]);
});

test('EXE-07 a server without tasks is asked about none', async () => {
  const { follow: look, cancelTask, asked } = tasksOf(undefined);
  await expect(look(TASK, {})).rejects.toMatchObject({ code: 'E3308' });
  await cancelTask(TASK, {});
  expect(asked).toEqual([]);
});

test('EXE-07 a task counts only where one was asked for, and with an id that can be kept', () => {
  const begun: object[] = [];
  const asTask = { asks: true, onStarted: (task: object) => void begun.push(task) } as never;
  const started = (result: RawResult, form: TaskForm = 'modern') => resultOrTask(result, 'up', asTask, form);
  started({ resultType: 'task', taskId: 'a' });
  started({ task: { taskId: 'b' } }, 'legacy');
  expect(begun).toEqual([{ taskId: 'a' }, { taskId: 'b' }]);
  for (const taskId of [undefined, '', 7, 'x'.repeat(10_000)])
    expect(() => started({ resultType: 'task', taskId })).toThrow(expect.objectContaining({ code: 'E3308' }));
  expect(resultOrTask(DONE, 'up', asTask, 'modern')).toMatchObject(DONE);
  expect(begun).toHaveLength(2);
});
