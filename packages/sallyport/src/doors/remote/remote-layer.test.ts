import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { type RunningDoor, startRestDoor } from '../rest/rest-door.fixture.ts';
import { manifestOf } from '../tool-layer.fixture.ts';
import { createRemoteLayer } from './remote-layer.ts';

let running: RunningDoor;
let remote: ToolLayer;

beforeEach(async () => {
  running = await startRestDoor();
  remote = createRemoteLayer({ url: `${running.url}/`, token: 'operator', settings: { changesPollMs: 5 } });
  running.layer.addTool(manifestOf('greet'), () => 'hello');
  running.layer.addTool(manifestOf('refuse'), () => {
    const details = { faults: [{ path: '/a', code: 'E3509', keyword: 'type', message: 'is wrong' }] };
    throw new ToolLayerError('E3509', 'The arguments do not fit.', { details, retryAfterMs: 7 });
  });
});

afterEach(() => running.door.close());

const AGENT: Caller = { door: 'library', token: 'agent' };

/** The answer of a layer, or its error, without the parts that differ from call to call. */
async function outcome(layer: ToolLayer, [name, input, caller]: Question): Promise<unknown> {
  try {
    return await layer.ask(name as 'tools.invoke', input as never, caller);
  } catch (thrown) {
    const { cause: _cause, ...failed } = failureOf(thrown);
    return failed;
  }
}

type Question = readonly [name: string, input: object, caller: Caller];

describe('two doors asked the same thing give the same answer', () => {
  it.each<Question>([
    ['tools.invoke', { tool_id: 'greet', invocation_id: 'one' }, AGENT],
    ['tools.invoke', { tool_id: 'refuse', invocation_id: 'two' }, AGENT],
    ['tools.invoke', { tool_id: 'nope', invocation_id: 'three' }, AGENT],
    ['tools.invoke', { tool_id: 'greet', capability_token: 'agent', invocation_id: 'four' }, AGENT],
    ['tools.invoke', { tool_id: 'greet' }, { door: 'library', token: 'expired' }],
    ['tools.invoke', { tool_id: 'not a tool id' }, AGENT],
    ['tools.list', { page: 1, page_size: 10, tags: ['a', 'b'] }, AGENT],
    ['tools.list', { page: 0 }, AGENT],
    ['tools.get', { tool_id: 'greet', version: '^1.0.0 || 2' }, AGENT],
    ['tools.get', { tool_id: 'nope' }, AGENT],
    ['tools.manifests', {}, AGENT],
    ['tools.remove', { tool_id: 'greet', version: '1.0.0' }, { door: 'library', token: 'operator' }],
    ['tools.register', { manifest: manifestOf('fresh') }, AGENT],
    ['health', {}, { door: 'library' }],
  ])('API-01 %s %j', async (...question) => {
    expect(await outcome(remote, question)).toEqual(await outcome(running.layer, question));
  });

  it('health that is not ready is an answer at both', async () => {
    running.layer.answers.set('health', () => ({ status: 'starting', ready: false, parts: {} }));
    const question: Question = ['health', {}, AGENT];
    expect(await outcome(remote, question)).toEqual(await outcome(running.layer, question));
  });
});

it('asks with its own token when the caller has none, with the trace of the caller', async () => {
  await remote.ask('tools.list', {}, { door: 'cli', local: true, traceparent: '00-a-b-01' });
  expect(running.layer.asked[0]?.caller).toMatchObject({ door: 'rest', token: 'operator', traceparent: '00-a-b-01' });
});

it('a call whose caller goes away is cancelled there', async () => {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  running.layer.addTool(manifestOf('wait'), async (_parameters, { signal }) => {
    started.resolve();
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    ended.resolve();
  });
  const gone = new AbortController();
  const call = remote.ask('tools.invoke', { tool_id: 'wait' }, { ...AGENT, signal: gone.signal });
  await started.promise;
  gone.abort();
  await expect(call).rejects.toMatchObject({ code: 'E3805' });
  await ended.promise;
});

it('notices that the tools changed, until it is disposed', async () => {
  const told = Promise.withResolvers<void>();
  const listening = remote.onToolsChanged(() => told.resolve());
  while (running.layer.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  running.layer.addTool(manifestOf('fresh'), () => 'fresh');
  await told.promise;
  listening[Symbol.dispose]();
});

describe('what answers is no layer', () => {
  let server: Server;
  const serve = async (status: number, type: string, body: string): Promise<ToolLayer> => {
    server = createServer((_request, response) => response.writeHead(status, { 'content-type': type }).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return createRemoteLayer({ url, settings: { answerBytesMax: 100 } });
  };
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it.each([
    ['a page', 200, 'text/html', '<html>'],
    ['a problem of somebody else', 400, 'application/problem+json', '{"title":"no"}'],
    ['a code that is not in the catalogue', 400, 'application/problem+json', '{"e_code":"toString","detail":"x"}'],
    ['an endless answer', 200, 'application/json', 'x'.repeat(1_000)],
  ])('%s is E3308', async (_what, status, type, body) => {
    const strange = await serve(status, type, body);
    await expect(strange.ask('tools.list', {}, AGENT)).rejects.toMatchObject({ code: 'E3308' });
  });

  it('nothing at all is E3310 with what to start', async () => {
    const silent = await serve(200, 'text/plain', '');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(silent.ask('tools.list', {}, AGENT)).rejects.toMatchObject({
      code: 'E3310',
      message: expect.stringContaining('sallyport serve'),
      failure: { details: { layer: 'unreachable' } },
    });
  });
});
