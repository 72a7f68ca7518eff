import { describe, expect, test } from 'vitest';
import type { LogMessage } from '../../domain/invocation/log-message.ts';
import type { Asked, ClientAnswer } from '../../domain/questions/client-question.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { type CallClient, clientOfCall } from './client-of-call.ts';
import { createNativeExecutor } from './native-executor.ts';

const NATIVE = { executor: { kind: 'native' } } as const;
const SAMPLING = { messages: [{ role: 'user', content: { type: 'text', text: 'Hello?' } }], maxTokens: 10 };
const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };

/** The client of a call, and the questions that it was asked. */
function clientWith(answer: ClientAnswer, can: Readonly<Record<string, unknown>> | undefined = { sampling: {} }) {
  const asked: [Asked, string | undefined][] = [];
  const askClient: NonNullable<ExecutorCall['askClient']> = async (question, key) => {
    asked.push([question, key]);
    return answer;
  };
  return { asked, client: clientOfCall(callOf(NATIVE, {}, { askClient, clientCan: () => can })) };
}

describe('questions of a function', () => {
  test('EXE-08.1 go to the client with the name that the function gives them, and its answer comes back', async () => {
    const { asked, client } = clientWith({ result: { action: 'accept', content: { name: 'Ada' } } });
    expect(await client.elicit(FORM, 'who')).toEqual({ action: 'accept', content: { name: 'Ada' } });
    await client.elicit({ message: 'Open.', url: 'https://a.example/' });
    expect(asked).toMatchObject([
      [{ kind: 'elicitation', mode: 'form', message: 'Who?' }, 'who'],
      [{ kind: 'elicitation', mode: 'url', url: 'https://a.example/' }, undefined],
    ]);
    const roots = [{ uri: 'file:///a' }];
    expect(await clientWith({ result: { roots } }).client.listRoots()).toEqual(roots);
  });

  test('EXE-08.1 that nobody saw are cancelled, with the reason; a completion that did not come is E3821', async () => {
    const { client } = clientWith({ unasked: 'nobody is there' });
    expect(await client.elicit(FORM)).toEqual({ action: 'cancel', unasked: 'nobody is there' });
    await expect(client.sample(SAMPLING)).rejects.toMatchObject({
      code: 'E3821',
      message: expect.stringContaining('nobody is there'),
    });
    const ended = clientWith({ ended: 'the client did not answer' }).client;
    expect(await ended.elicit(FORM)).toEqual({ action: 'cancel' });
    await expect(ended.listRoots()).rejects.toMatchObject({ code: 'E3821' });
  });

  test('API-03 E3821 names the capability that the client lacks, and none when it has it', async () => {
    const details = async (can: Readonly<Record<string, unknown>>) =>
      clientWith({ unasked: 'x' }, can)
        .client.sample(SAMPLING)
        .catch(({ failure }: { failure: { details?: unknown } }) => failure.details);
    expect(await details({ elicitation: {} })).toEqual({ required_capabilities: { sampling: {} } });
    expect(await details({ sampling: {} })).toBeUndefined();
  });

  test.each<[string, (client: CallClient) => Promise<unknown>]>([
    ['no messages', (client) => client.sample({ ...SAMPLING, messages: [] })],
    ['no limit of tokens', (client) => client.sample({ messages: SAMPLING.messages })],
    ['a message of nobody', (client) => client.sample({ ...SAMPLING, messages: [{ role: 'system', content: {} }] })],
    ['more text than 256 KiB', (client) => client.sample({ ...SAMPLING, systemPrompt: 'x'.repeat(262_144) })],
    ['an address of another kind', (client) => client.elicit({ message: 'm', url: 'javascript:alert(1)' })],
  ])('EXE-08.1 with %s are a mistake of the function, and nobody is asked', async (_what, ask) => {
    const { asked, client } = clientWith({ result: {} });
    await expect(ask(client)).rejects.toMatchObject({ code: 'E3109' });
    expect(asked).toEqual([]);
  });

  test('EXE-08.1 of a call of another door can be put to nobody', async () => {
    const client = clientOfCall(callOf(NATIVE));
    expect([client.can('elicitation'), client.can('sampling')]).toEqual([false, false]);
    expect(await client.elicit(FORM)).toMatchObject({ action: 'cancel', unasked: expect.any(String) });
    await expect(client.sample(SAMPLING)).rejects.toMatchObject({ code: 'E3821' });
    client.log('error', 'nobody reads this');
  });
});

test('EXE-07.14 a function’s log messages are sent from the level on that the client wants', () => {
  const got: LogMessage[] = [];
  const logs = { level: 'warning' as const, take: (message: LogMessage) => void got.push(message) };
  const client = clientOfCall(callOf(NATIVE, {}, { logs }));
  client.log('info', 'no');
  client.log('warning', { a: 1 }, 'db');
  expect(got).toEqual([{ level: 'warning', data: { a: 1 }, logger: 'db' }]);
});

test('EXE-07.14 what a function logs never fails its call: what JSON cannot hold is left out of it', () => {
  const got: unknown[] = [];
  const logs = {
    level: 'debug' as const,
    take: ({ data }: LogMessage) => void got.push(JSON.parse(JSON.stringify(data))),
  };
  const client = clientOfCall(callOf(NATIVE, {}, { logs }));
  const unreadable = new Proxy({}, { ownKeys: () => Object(undefined).none.here });
  for (const data of [{ a: 1n, b: 'x' }, new Error('bad'), undefined, unreadable]) client.log('info', data);
  expect(got).toEqual([{ a: null, b: 'x' }, 'Error: bad', null, null]);
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  client.log('info', cycle);
  expect(got).toHaveLength(5);
});

test('EXE-12.1 progress of a function that is none is passed over, and fails no call', async () => {
  const seen: unknown[] = [];
  const executor = createNativeExecutor();
  executor.register('f', '1.0.0', (_parameters, { progress }) => {
    for (const given of [{ progress: 1n }, undefined, { progress: 1, total: 'two' }]) progress(given as never);
    return 'done';
  });
  const onProgress = (progress: unknown) => void seen.push(progress);
  const call = callOf({ tool_id: 'f', executor: { kind: 'native' } }, {}, { onProgress });
  expect((await executor.execute(call, new AbortController().signal)).result).toBe('done');
  expect(seen).toEqual([{ progress: 1 }]);
});

test('EXE-12 a CallToolResult with isError is the function’s own error, where the manifest says that it gives one', async () => {
  const executor = createNativeExecutor();
  const result = { content: [], isError: true };
  executor.register('f', '1.0.0', () => result);
  const run = (config: Record<string, unknown>) =>
    executor.execute(callOf({ tool_id: 'f', executor: { kind: 'native', config } }), new AbortController().signal);
  expect(await run({ mcp_result: true })).toMatchObject({ result, toolError: true });
  expect((await run({ mcp_result: false })).toolError).toBeUndefined();
  const faults = executor.configFaults(
    callOf({ executor: { kind: 'native', config: { mcp_result: 1 } } }).tool.manifest,
  );
  expect(faults).toMatchObject([{ path: '/executor/config/mcp_result' }]);
});
