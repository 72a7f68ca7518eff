import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenLayer, openLayer, post } from '../../layer.fixture.ts';
import { cli } from '../../upstreams/cli.fixture.ts';

type Answer = Record<string, unknown>;

const MAX = { threads: 3, bytes: 20_000 };

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer({ 'threads.max': MAX.threads, 'threads.bytes_max': MAX.bytes });
});
afterAll(() => open[Symbol.asyncDispose]());

let agents = 0;
/** Requests of an agent that has no threads yet. */
async function agent() {
  agents += 1;
  const { capability_token: token } = await open.layer.mintToken({ agent_did: `did:example:agent-${agents}` });
  const headers = { authorization: `Bearer ${token}` };
  const send = async (method: string, path: string): Promise<{ status: number; body: Answer }> => {
    const response = await fetch(`${open.server.url}${path}`, { method, headers });
    return { status: response.status, body: (await response.json()) as Answer };
  };
  const put = (kind: 'states' | 'writes') => (thread: string, body: Answer) =>
    post({ server: open.server, token }, `/v1/threads/${thread}/${kind}`, JSON.stringify(body));
  return {
    command: (...argv: readonly string[]) => cli(open, ['threads', ...argv, '--token', token]),
    save: put('states'),
    write: put('writes'),
    list: (query = '') => send('GET', `/v1/threads${query}`),
    remove: (thread: string) => send('DELETE', `/v1/threads/${thread}`),
  };
}

const typed = (text: string) => ({ type: 'json', base64: Buffer.from(text).toString('base64') });
const state = (checkpoint_id: string, text = '{}') => ({
  ...{ checkpoint_id, state: typed(text), metadata: typed('{}'), versions: { steps: '1' } },
  values: [{ channel: 'steps', version: '1', value: typed('["a"]') }],
});
const written = (index: number, text: string) => ({ task_id: 'task', index, channel: 'steps', value: typed(text) });
const refusalFor = (limit: string) => ({ status: 403, body: { e_code: 'E3102', details: { limit } } });

test('STA-07.2 a thread is saved, read and removed over REST', async () => {
  const { save, write, list, remove } = await agent();
  expect(await save('work', state('1'))).toEqual({ status: 200, body: { thread_id: 'work' } });
  expect(await write('work', { checkpoint_id: '1', writes: [written(0, '1'), written(-1, '2')] })).toMatchObject({
    status: 200,
  });
  const { body } = await list('?thread_id=work');
  const writes = [written(-1, '2'), written(0, '1')].map((one) => ({ ...one, task_path: '' }));
  expect(body).toEqual({ states: [{ ...state('1'), thread_id: 'work', namespace: '', writes }] });
  await remove('work');
  expect((await list()).body).toEqual({ states: [] });
});

test('STA-07.2 of two writes at one place in a request, the second one counts as one that comes later', async () => {
  const { write, save, list } = await agent();
  await save('work', state('1'));
  const writes = [written(0, '"first"'), written(0, '"second"'), written(-1, '"first"'), written(-1, '"second"')];
  expect((await write('work', { checkpoint_id: '1', writes })).status).toBe(200);
  const [found] = (await list()).body['states'] as Answer[];
  expect(found?.['writes']).toEqual([
    { ...written(-1, '"second"'), task_path: '' },
    { ...written(0, '"first"'), task_path: '' },
  ]);
});

test('STA-07.3 one thread more than an agent may have is refused, until one is removed', async () => {
  const { save, write, remove } = await agent();
  for (let at = 0; at < MAX.threads; at += 1) expect((await save(`thread-${at}`, state('1'))).status).toBe(200);
  expect(await save('more', state('1'))).toMatchObject(refusalFor('threads.max'));
  const writes = { checkpoint_id: '1', writes: [written(0, '1')] };
  expect(await write('more', writes)).toMatchObject(refusalFor('threads.max'));
  expect((await save('thread-0', state('2'))).status).toBe(200);
  expect((await (await agent()).save('more', state('1'))).status).toBe(200);
  await remove('thread-0');
  expect((await save('more', state('1'))).status).toBe(200);
});

test('STA-07.3 threads that would take more bytes than an agent may have are refused, and nothing of them is stored', async () => {
  const { save, write, list } = await agent();
  const large = 'x'.repeat(9_000);
  expect((await save('one', state('1', large))).status).toBe(200);
  expect(await save('two', state('1', `${large}${large}`))).toMatchObject(refusalFor('threads.bytes_max'));
  const writes = (text: string) => ({ checkpoint_id: '1', writes: [written(0, text)] });
  expect(await write('two', writes(`${large}${large}`))).toMatchObject(refusalFor('threads.bytes_max'));
  const places = ((await list()).body['states'] as Answer[]).map(({ thread_id }) => thread_id);
  expect(places).toEqual(['one']);
  expect((await write('two', writes(large))).status).toBe(200);
});

test.each([
  ['a state without its metadata', { ...state('1'), metadata: undefined }],
  ['bytes that are no base64', { ...state('1'), state: { type: 'json', base64: 'not base64!' } }],
  ['an unknown member', { ...state('1'), owner: 'did:example:other' }],
  ['an id of no length', state('')],
])('STA-07.2 %s is refused with what to change', async (_, body) => {
  const { save, list } = await agent();
  const refused = await save('work', body);
  expect(refused).toMatchObject({ status: 400, body: { e_code: 'E3801' } });
  expect(JSON.stringify(refused.body)).toMatch(/metadata|base64|owner|checkpoint_id/);
  expect((await list()).body).toEqual({ states: [] });
});

test('STA-07.2 a page ends with a cursor, and another one is refused', async () => {
  const { save, list } = await agent();
  for (const id of ['1', '2', '3']) await save('work', state(id));
  const first = await list('?limit=2');
  expect((first.body['states'] as Answer[]).map(({ checkpoint_id }) => checkpoint_id)).toEqual(['3', '2']);
  const rest = await list(`?limit=2&cursor=${first.body['next_cursor']}`);
  expect((rest.body['states'] as Answer[]).map(({ checkpoint_id }) => checkpoint_id)).toEqual(['1']);
  expect(rest.body).not.toHaveProperty('next_cursor');
  expect(await list('?cursor=forged')).toMatchObject({ status: 400, body: { e_code: 'E3801' } });
});

test('STA-07.2 API-05 the command line lists, shows and removes the threads of the agent whose token it has', async () => {
  const { command, save, write, list } = await agent();
  const other = await agent();
  expect(await command('list')).toMatchObject({ code: 0, err: expect.stringContaining('has no thread') });
  for (const id of ['1', '2']) await save('work', { ...state(id, `{"step":${id}}`), parent_checkpoint_id: '0' });
  await write('work', { checkpoint_id: '2', writes: [written(0, '"b"')] });
  const { out, err } = await command('list', '--limit', '1');
  expect(out).toMatch(/^THREAD.*\nwork\s+2\s+0\s+1\s+1\s+20\n$/);
  expect(err).toMatch(/More: --cursor \S+/);
  const shown = (await command('show', 'work')).out;
  for (const line of ['checkpoint_id: 2', 'state: {"step":2}', 'channel steps: ["a"]', 'write task steps: "b"'])
    expect(shown).toContain(`${line}\n`);
  expect((await command('show', 'work', '--state', '1')).out).toContain('state: {"step":1}\n');
  for (const argv of [
    ['show', 'work'],
    ['list', '--thread', 'work'],
  ])
    expect(await other.command(...argv)).toMatchObject({ code: 0, out: '' });
  await other.command('remove', 'work');
  expect((await list()).body['states']).toHaveLength(2);
  expect(await command('remove', 'work')).toMatchObject({ code: 0, out: 'work is removed.\n' });
  expect((await list()).body).toEqual({ states: [] });
  expect(await cli(open, ['threads', 'list'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('SALLYPORT_TOKEN'),
  });
});
