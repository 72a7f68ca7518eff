import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { expect, test } from 'vitest';
import type { DocumentServer } from '../document-server.port.ts';
import { askServer, mayFallBack } from './ask-server.ts';
import { type Answers, document, failed, serverOf } from './documents.fixture.ts';

const READER = { tenantId: 'acme', agentDid: 'did:example:a', secrets: new Map<string, string>() };
const { signal } = new AbortController();

/** What a request ends with, and how often the server was asked. */
async function asked(answers: Answers, settings: { retriesMax?: number; retryMs?: number } = {}) {
  const requests: [string, object][] = [];
  const server = serverOf(() => answers, requests as [string, Record<string, unknown>][]);
  const request = { reader: READER, tool: 'get_source_of_truth', args: { query: 'x' }, signal } as const;
  const end = await askServer(server, { requestMs: 1_000, retriesMax: 3, retryMs: 0, ...settings }, request).catch(
    (thrown: unknown) => thrown,
  );
  return { end, times: requests.length };
}

test.each<[ErrorCode, ErrorCode, number]>([
  ['E3107', 'E3602', 4],
  ['E3108', 'E3602', 4],
  ['E3303', 'E3602', 4],
  ['E3304', 'E3602', 4],
  ['E3308', 'E3606', 4],
  ['E3310', 'E3602', 4],
  ['E3606', 'E3606', 4],
  ['E3803', 'E3602', 4],
  ['E3103', 'E3605', 1],
  ['E3306', 'E3605', 1],
  ['E3605', 'E3605', 1],
  ['E3602', 'E3602', 1],
  ['E3401', 'E3602', 1],
  ['E3809', 'E3602', 1],
  // These concern the caller, or an operator wants them: they stay as they are.
  ...(['E3210', 'E3302', 'E3307', 'E3311', 'E3813', 'E3603'] as const).map((code): [ErrorCode, ErrorCode, number] => [
    code,
    code,
    1,
  ]),
])('DOC-03.2 DOC-03.3 a request that fails with %s ends with %s after %i requests', async (code, end, times) => {
  expect(await asked([failed(code)])).toMatchObject({ end: { code: end }, times });
  expect((await asked([failed(code), document('spec')])).times).toBe(Math.min(times, 2));
});

test('DOC-03.2 a request is made again as often as the setting says', async () => {
  for (const retriesMax of [0, 1, 2])
    expect(await asked([failed('E3310')], { retriesMax })).toMatchObject({
      end: { code: 'E3602' },
      times: retriesMax + 1,
    });
  const [first, second] = [failed('E3310'), failed('E3108')];
  expect(await asked([first, second, document('spec')], { retriesMax: 2 })).toMatchObject({
    end: document('spec'),
    times: 3,
  });
});

test('DOC-03.5 one that has to wait longer than the pause before the next is left, and says how long', async () => {
  const wait = (retryAfterMs: number) => [failed('E3303', { retryAfterMs })];
  expect(await asked(wait(2), { retryMs: 1 })).toMatchObject({ end: { failure: { retryAfterMs: 2 } }, times: 1 });
  // The pause doubles, so that each of the three is long enough.
  expect((await asked(wait(1), { retryMs: 1 })).times).toBe(4);
  expect((await asked([failed('E3310'), ...wait(2)], { retryMs: 1 })).times).toBe(4);
  expect((await asked([failed('E3310')])).end).not.toHaveProperty('failure.retryAfterMs', expect.anything());
});

test('DOC-03 what an operator shut, and a fault of the layer, stay as they are', async () => {
  const shut = failed('E3310', { details: { disabled: true } });
  expect(await asked([shut])).toEqual({ end: shut, times: 1 });
  const fault = new TypeError('a bug');
  expect(await asked([fault])).toEqual({ end: fault, times: 1 });
});

test('DOC-03 without a server the message names the setting, else it says to try again', async () => {
  for (const [code, message] of [
    ['E3809', 'document_bridge.upstream'],
    ['E3310', 'Try again'],
    ['E3103', 'Try again'],
    ['E3308', 'cannot be read'],
  ] as const) {
    const { end } = await asked([failed(code)]);
    expect(end).toMatchObject({ message: expect.stringContaining(message), cause: { code } });
  }
});

test('DOC-03 a call that ends takes its reading with it, at the server and in a pause', async () => {
  for (const retryMs of [0, 1_000_000]) {
    const calls = new AbortController();
    const reason = new Error('the caller has gone');
    let times = 0;
    const server: DocumentServer = {
      scopeOf: () => '',
      async call(_reader, _tool, _args, options) {
        times += 1;
        expect(options).toEqual({ signal: calls.signal, timeoutMs: 1 });
        if (retryMs === 0) calls.abort(reason);
        else setImmediate(() => calls.abort(reason));
        throw failed(retryMs === 0 ? 'E3103' : 'E3310');
      },
    };
    const request = { reader: READER, tool: 'get_document_version', args: {}, signal: calls.signal } as const;
    await expect(askServer(server, { requestMs: 1, retriesMax: 3, retryMs }, request)).rejects.toBe(reason);
    expect(times).toBe(1);
  }
});

test('DOC-03.1 another source may answer for a server that failed, not for one that refused a caller whom it knows', () => {
  const refused = failed('E3602', { details: { refused: true } });
  for (const code of ['E3602', 'E3605', 'E3606'] as const) {
    expect([mayFallBack(failed(code), ''), mayFallBack(failed(code), 'user')]).toEqual([true, true]);
  }
  expect([mayFallBack(refused, ''), mayFallBack(refused, 'user')]).toEqual([true, false]);
  for (const other of [failed('E3603'), failed('E3601'), new Error('x'), undefined])
    expect(mayFallBack(other, '')).toBe(false);
});
