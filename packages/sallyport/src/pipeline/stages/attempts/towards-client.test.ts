import { createRedactor } from '@sallyport/guards';
import { KiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { NOTHING_BRIDGED } from '../../../bridges/documents/documents.fixture.ts';
import type { LogMessage } from '../../../domain/invocation/log-message.ts';
import type { ClientAsker, ClientQuestion } from '../../../domain/questions/client-question.ts';
import { callOf } from '../../../executors/conformance/executor-call.fixture.ts';
import { towardsClient } from './towards-client.ts';

/** A call whose client takes log messages, at a time that the test sets. */
function callAt(clients: ClientAsker = NOTHING_BRIDGED.clients) {
  const time = { ms: 0 };
  const got: LogMessage[] = [];
  const reasons: string[] = [];
  const clock = { now: () => time.ms, monotonic: () => time.ms };
  const end = new AbortController();
  const call = {
    ...callOf({ executor: { kind: 'native' } }),
    caller: { logs: { level: undefined, take: (one: LogMessage) => void got.push(one) } },
  };
  const asking = {
    whileAsking: <Answer>(ask: () => Promise<Answer>) => ask(),
    onUnasked: (why: string) => void reasons.push(why),
    signal: end.signal,
  };
  const parts = { clock, redactor: createRedactor(), clients };
  return { time, got, reasons, end, ...towardsClient(parts, call, asking) };
}

test('EXE-07.14 100 log messages a second pass, further ones are dropped until the next', () => {
  const { time, got, logs } = callAt();
  for (let at = 0; at < 101; at += 1) logs?.take({ level: 'info', data: at });
  expect(got).toHaveLength(100);
  time.ms = 999;
  logs?.take({ level: 'info', data: 'early' });
  expect(got).toHaveLength(100);
  time.ms = 1_000;
  logs?.take({ level: 'info', data: 'next' });
  expect(got.at(-1)).toEqual({ level: 'info', data: 'next' });
});

test('EXE-07.14 data of 16 Ki characters of JSON passes as it is, longer data is cut to a text', () => {
  const { got, logs } = callAt();
  const fits = 'x'.repeat(16 * KiB - 2);
  logs?.take({ level: 'info', data: fits });
  logs?.take({ level: 'info', data: { text: fits } });
  logs?.take({ level: 'info', data: undefined });
  expect(got.map(({ data }) => (typeof data === 'string' ? data.length : data))).toEqual([
    fits.length,
    16 * KiB + 1,
    null,
  ]);
});

test('EXE-07.14 secrets and personal data are taken out of log messages', () => {
  const { got, logs } = callAt();
  logs?.take({
    level: 'info',
    logger: 'of ada@example.com',
    data: { password: 'correct horse', mail: 'ada@example.com' },
  });
  expect(JSON.stringify(got)).not.toMatch(/horse|ada@/);
});

test('EXE-08.1 a question goes out in the name of the tool for its own call, and one that nobody saw is noted', async () => {
  const asked: ClientQuestion[] = [];
  const clients: ClientAsker = {
    ask: async (question) => {
      asked.push(question);
      return { unasked: 'nobody is there' };
    },
    clientOf: () => ({ can: { roots: {} } }),
    completed() {},
  };
  const { askClient, clientCan, reasons, end } = callAt(clients);
  expect(clientCan()).toEqual({ roots: {} });
  expect(await askClient({ kind: 'roots' }, 'where')).toEqual({ unasked: 'nobody is there' });
  expect(asked).toMatchObject([
    { author: { kind: 'tool', name: 'subject' }, invocationIds: ['invocation-1'], tenantId: 'acme', key: 'where' },
  ]);
  expect(reasons).toEqual(['nobody is there']);
  end.abort(new Error('The call is over.'));
  await expect(askClient({ kind: 'roots' })).rejects.toThrow('The call is over.');
  expect(asked).toHaveLength(1);
});
