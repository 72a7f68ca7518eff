import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NativeFunction } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk, toolOf } from '../desk.fixture.ts';
import { type Answered, modern, session } from './tasks.fixture.ts';

type Json = Record<string, unknown>;

let desk: Desk;
/** Tokens of two users of one agent. */
const tokens = { ada: '', bob: '' };
type Who = keyof typeof tokens;

const NAME = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const ALICE = { action: 'accept', content: { name: 'Alice' } };
const asks: NativeFunction = async ({ n }, { client }) => ({ n, said: await client.elicit(NAME, 'who') });
/** Asks first, and becomes a task where it may. */
const greets: NativeFunction = async (_given, { client, checkpoints, becomeTask }) => {
  const before = JSON.parse(Buffer.from(checkpoints.restored?.bytes ?? []).toString() || '{}') as { name?: string };
  if (before.name !== undefined) return { greeted: before.name, again: becomeTask !== undefined };
  const said: { action: string; content?: Readonly<Json> } = await client.elicit(NAME, 'who');
  const name = String(said.content?.['name'] ?? said.action);
  return becomeTask === undefined ? { greeted: name, at: 'once' } : becomeTask({ name });
};

beforeAll(async () => {
  desk = await openDesk();
  for (const who of ['ada', 'bob'] as const)
    tokens[who] = await desk.token({ agent_did: 'did:agent:a', user_did: `did:user:${who}` });
  const optional = { execution_config: { task_support: 'optional' as const } };
  await desk.layer.registerFunction(toolOf('asks', { side_effect_policy: 'pure', ...optional }), asks);
  await desk.layer.registerFunction(toolOf('asks-now', { side_effect_policy: 'pure' }), asks);
  await desk.layer.registerFunction(toolOf('greets', { side_effect_policy: 'pure' }), greets);
  await desk.layer.registerFunction(toolOf('greets-once', {}), greets);
});
afterAll(() => desk[Symbol.asyncDispose]());

const TASKS = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const ask = (who: Who, method: string, params: Json, can: Json = TASKS) =>
  modern(desk.server, tokens[who], method, params, can);
const call = (who: Who, name: string, more: Json = {}, can: Json = TASKS) =>
  ask(who, 'tools/call', { name, arguments: { n: 1 }, ...more }, can);

/** Looks at a task until it has this status. */
async function until(who: Who, taskId: unknown, status: string): Promise<Json> {
  let seen: Json = {};
  await expect
    .poll(async () => {
      seen = (await ask(who, 'tasks/get', { taskId })).result ?? {};
      return seen['status'];
    })
    .toBe(status);
  return seen;
}

/** A task that waits for an answer of its user, and the key of its question. */
async function waitingTask(who: Who): Promise<{ taskId: string; key: string }> {
  const { result } = await call(who, 'asks');
  const taskId = String(result?.['taskId']);
  const { inputRequests } = await until(who, taskId, 'input_required');
  return { taskId, key: Object.keys(inputRequests as Json)[0] as string };
}
const update = (who: Who, taskId: string, inputResponses: Json, more: Json = {}) =>
  ask(who, 'tasks/update', { taskId, inputResponses, ...more });

describe('a function that asks first and then becomes a task', () => {
  test('EXE-08.1 API-03.10 is a task for a client that takes one, with what was said before', async () => {
    const { result: first = {} } = await call('ada', 'greets');
    expect([first['resultType'], Object.keys(first['inputRequests'] as Json), first['taskId']]).toEqual([
      ...['input_required', ['who'], undefined],
    ]);
    const answers = { inputResponses: { who: ALICE }, requestState: first['requestState'] };
    const { result: second = {} } = await call('ada', 'greets', answers);
    expect(second).toMatchObject({ resultType: 'task', taskId: expect.any(String) });
    expect([second['requestState'], second['inputRequests']]).toEqual([undefined, undefined]);
    const { result } = await until('ada', second['taskId'], 'completed');
    expect(result).toMatchObject({ structuredContent: { greeted: 'Alice', again: false } });
  });

  test.each([
    ['whose client takes no tasks', 'greets', { elicitation: { form: {} } }],
    ['that may not run twice', 'greets-once', TASKS],
  ])('EXE-08.1 goes on at once in a call %s', async (_which, tool, can) => {
    const { result: first = {} } = await call('ada', tool, {}, can);
    const answers = { inputResponses: { who: ALICE }, requestState: first['requestState'] };
    const { result } = await call('ada', tool, answers, can);
    expect(result).toMatchObject({ structuredContent: { greeted: 'Alice', at: 'once' } });
  });

  test('EXE-08.1 goes on at once over REST, where nobody can be asked', async () => {
    const { body } = await desk.invoke('greets', 1, {}, tokens.ada);
    expect(body).toMatchObject({ status: 'success', result: { greeted: 'cancel', at: 'once' } });
  });
});

describe('rubbish within tasks', () => {
  test('API-03.10 an answer that is no object, or belongs to a question of another task, leaves the question open', async () => {
    const [one, other] = [await waitingTask('ada'), await waitingTask('ada')];
    for (const rubbish of [null, 7, 'yes', true, [], [ALICE]]) {
      expect((await update('ada', one.taskId, { [one.key]: rubbish })).result).toMatchObject({
        resultType: 'complete',
      });
    }
    await update('ada', one.taskId, { [other.key]: ALICE, who: ALICE, '': ALICE, [one.taskId]: ALICE });
    for (const { taskId } of [one, other])
      expect((await ask('ada', 'tasks/get', { taskId })).result).toMatchObject({ status: 'input_required' });
    await update('ada', one.taskId, { [one.key]: ALICE });
    const { result } = await until('ada', one.taskId, 'completed');
    expect(result).toMatchObject({ structuredContent: { said: { action: 'accept', content: { name: 'Alice' } } } });
    expect((await ask('ada', 'tasks/get', { taskId: other.taskId })).result).toMatchObject({
      status: 'input_required',
    });
    await ask('ada', 'tasks/cancel', { taskId: other.taskId });
  });

  test('API-03.10 an answer to a cancelled task, and a second answer, change nothing', async () => {
    const { taskId, key } = await waitingTask('ada');
    await ask('ada', 'tasks/cancel', { taskId });
    await until('ada', taskId, 'cancelled');
    expect((await update('ada', taskId, { [key]: ALICE })).result).toMatchObject({ resultType: 'complete' });
    expect((await ask('ada', 'tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' });
    const once = await waitingTask('ada');
    const decline = { action: 'decline' };
    await Promise.all([ALICE, decline].map((said) => update('ada', once.taskId, { [once.key]: said })));
    const ended = await until('ada', once.taskId, 'completed');
    await update('ada', once.taskId, { [once.key]: decline });
    expect((await ask('ada', 'tasks/get', { taskId: once.taskId })).result?.['result']).toEqual(ended['result']);
  });

  test('API-03.3 API-03.10 a state is good for its own request alone: no task takes it, and no call takes one of a task', async () => {
    const { taskId, key } = await waitingTask('ada');
    const { result = {} } = await call('ada', 'asks-now');
    const { requestState } = result;
    expect(requestState).toEqual(expect.any(String));
    // A member that the method does not have.
    await update('ada', taskId, { who: ALICE }, { requestState });
    expect((await ask('ada', 'tasks/get', { taskId })).result).toMatchObject({ status: 'input_required' });
    const answers = { inputResponses: { [key]: ALICE, who: ALICE } };
    for (const [who, tool, more] of [
      ['bob', 'asks-now', { requestState }],
      ['ada', 'asks', { requestState }],
      ['ada', 'asks-now', { requestState, arguments: { n: 2 } }],
      ['ada', 'asks-now', { requestState: taskId }],
      ['ada', 'asks-now', { requestState: `question.${taskId}` }],
      ['ada', 'asks-now', { requestState: `question.${key}` }],
    ] as const) {
      const answer = await call(who, tool, { ...answers, ...more });
      expect([answer.error?.code, answer.result?.['taskId']], JSON.stringify([who, tool, more])).toEqual([
        ...[-32602, undefined],
      ]);
    }
    const { result: end } = await call('ada', 'asks-now', { inputResponses: { who: ALICE }, requestState });
    expect(end).toMatchObject({ structuredContent: { n: 1, said: { action: 'accept' } } });
    const again = await call('ada', 'asks-now', { inputResponses: { who: ALICE }, requestState });
    expect(again.error).toMatchObject({ code: -32602 });
    await ask('ada', 'tasks/cancel', { taskId });
  });

  test('API-03.10 a question of a task that is over is taken back, so that a session can be asked again', async () => {
    const { post, ask: send } = await session(desk.server, tokens.ada, { elicitation: { form: {} } });
    const round = async (n: number): Promise<void> => {
      const { result = {} } = await send('tools/call', { name: 'asks', arguments: { n }, task: {} });
      const { taskId } = result['task'] as { taskId: string };
      const messages = eventsOf(await post({ id: `result-${n}`, method: 'tasks/result', params: { taskId } }));
      const { value: asked } = await messages.next();
      expect(asked).toMatchObject({ method: 'elicitation/create', params: { message: expect.any(String) } });
      await send('tasks/cancel', { taskId });
      const rest: Json[] = [];
      for await (const message of messages) rest.push(message);
      expect(rest.map(({ method, id }) => method ?? id)).toEqual(['notifications/cancelled', `result-${n}`]);
      expect(rest[0]?.['params']).toMatchObject({ requestId: asked?.['id'] });
    };
    // As many as a client may have open at once, and one more.
    await Promise.all(Array.from({ length: 16 }, (_, n) => round(n)));
    await round(16);
  });
});

/** The messages of an event stream. */
async function* eventsOf(response: Response): AsyncGenerator<Json, undefined> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.+)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data) as Json;
    }
  }
  return undefined;
}

describe('two clients that send rubbish at once', () => {
  const METHODS = [
    ...['tools/call', 'tools/call', 'tasks/get', 'tasks/update', 'tasks/update', 'tasks/cancel', 'tasks/list'],
    ...['tools/list', 'resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete'],
    ...['logging/setLevel', 'ping', 'server/discover', 'elicitation/create', 'rubbish/method', ''],
  ];
  const MEMBERS = [
    ...['name', 'arguments', 'taskId', 'requestState', 'inputResponses', 'uri', 'cursor', 'level', 'ref', 'argument'],
    ...['task', 'context', 'progressToken'],
  ];

  /** Numbers that look random, the same in each run (mulberry32). */
  function seeded(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
  }

  test.each([1, 2, 3])(
    'API-03 API-03.10 neither crashes the layer nor learns anything of the other, seed %i',
    async (seed) => {
      const planted = { ada: await waitingTask('ada'), bob: await waitingTask('bob') };
      const states = {
        ada: (await call('ada', 'asks-now', { arguments: { n: 1 } })).result?.['requestState'],
        bob: (await call('bob', 'asks-now', { arguments: { n: 1 } })).result?.['requestState'],
      };
      const other = { ada: 'bob', bob: 'ada' } as const;
      const rubbish = async (who: Who): Promise<readonly Answered[]> => {
        const below = seeded(seed * 100 + who.length + who.charCodeAt(0));
        const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
        const theirs = planted[other[who]];
        const values = [
          ...[null, 7, -0.5, '', 'x'.repeat(300), true, [], {}, { n: 1 }, { n: '1' }, { type: 'ref/prompt', name: 7 }],
          ...['asks', 'asks-now', 'greets', 'no-such', 'find_tools', theirs.taskId, theirs.key, states[other[who]]],
          ...[{ [theirs.key]: ALICE, who: ALICE }, { [planted[who].key]: [ALICE] }, { a: [[[{ b: null }]]] }],
        ];
        const { ask: inSession } = await session(desk.server, tokens[who]);
        const answers: Answered[] = [];
        for (let round = 0; round < 120; round += 1) {
          const params = Object.fromEntries(
            Array.from({ length: below(5) }, () => [pick(MEMBERS), pick(values)] as const),
          );
          const send = below(2) === 0 ? inSession : (method: string, given: Json) => ask(who, method, given);
          answers.push(await send(pick(METHODS), params));
        }
        return answers;
      };
      const [ofAda, ofBob] = await Promise.all([rubbish('ada'), rubbish('bob')]);
      for (const [who, answers] of [
        ['ada', ofAda],
        ['bob', ofBob],
      ] as const) {
        for (const { status, error, result } of answers) {
          expect(status).toBeLessThan(500);
          expect((error === undefined) !== (result === undefined)).toBe(true);
          expect(error?.code, JSON.stringify(error)).not.toBe(-32603);
        }
        // What the other has is never said; only what this one sent itself comes back.
        const said = JSON.stringify(answers.map(({ result }) => result));
        expect(said).not.toContain(planted[other[who]].taskId);
        const { taskId } = planted[who];
        // Nobody else answered the task or ended it.
        expect((await ask(who, 'tasks/get', { taskId })).result).toMatchObject({ status: 'input_required' });
        await update(who, taskId, { [planted[who].key]: ALICE });
        await until(who, taskId, 'completed');
        const ended = await call(who, 'asks-now', { inputResponses: { who: ALICE }, requestState: states[who] });
        expect(ended.result).toMatchObject({ structuredContent: { said: { action: 'accept' } } });
      }
    },
  );
});
