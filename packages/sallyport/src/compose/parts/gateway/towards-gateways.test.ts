import { createRedactor } from '@sallyport/guards';
import { expect, test } from 'vitest';
import type { ClientAsker, ClientQuestion } from '../../../domain/questions/client-question.ts';
import type { UpstreamLog } from '../../../doors/mcp-gateway/upstream-logs.port.ts';
import { createClientQuestions } from './client-questions.ts';
import { upstreamLogsOf } from './upstream-logs.ts';

const QUESTION = {} as ClientQuestion;
const { signal } = new AbortController();

/** A gateway that answers so, and notes what it is asked. */
function gateway(name: string, answer: object, asked: string[]): ClientAsker {
  return {
    ask: async () => {
      asked.push(name);
      return answer as never;
    },
    clientOf: (_tenantId, invocationId) => (invocationId === `of ${name}` ? ({ name } as never) : undefined),
    completed: (id) => void asked.push(`${name} completed ${id}`),
  };
}

test('a question goes to the one gateway that has its client, and the reasons of the others are given together', async () => {
  const asked: string[] = [];
  const questions = createClientQuestions();
  expect(await questions.ask(QUESTION, signal)).toEqual({ unasked: 'no gateway is open' });
  expect(questions.clientOf('acme', 'of b')).toBeUndefined();
  const first = questions.answeredBy(gateway('a', { unasked: 'no client' }, asked));
  questions.answeredBy(gateway('again', { unasked: 'no client' }, asked));
  expect(await questions.ask(QUESTION, signal)).toEqual({ unasked: 'no client' });
  questions.answeredBy(gateway('b', { unasked: 'it cannot ask' }, asked));
  expect(await questions.ask(QUESTION, signal)).toEqual({ unasked: 'no client; it cannot ask' });
  questions.answeredBy(gateway('c', { action: 'accept' }, asked));
  questions.answeredBy(gateway('d', { action: 'decline' }, asked));
  asked.length = 0;
  expect(await questions.ask(QUESTION, signal)).toEqual({ action: 'accept' });
  expect(asked).toEqual(['a', 'again', 'b', 'c']);
  expect(['a', 'b', 'x'].map((name) => questions.clientOf('acme', `of ${name}`))).toEqual([
    { name: 'a' },
    { name: 'b' },
    undefined,
  ]);
  first[Symbol.dispose]();
  asked.length = 0;
  questions.completed('one');
  expect(asked).toEqual(['again', 'b', 'c', 'd'].map((name) => `${name} completed one`));
  expect(questions.clientOf('acme', 'of a')).toBeUndefined();
});

test('log messages of upstreams that belong to no call are bounded for each connection, and hold no secret', () => {
  let onLogged: (...given: unknown[]) => void = () => undefined;
  let stopped = 0;
  let now = 1;
  const upstreams = {
    onLogged: (listener: typeof onLogged) => {
      onLogged = listener;
      return () => {
        stopped += 1;
      };
    },
  };
  const heard: UpstreamLog[] = [];
  const logs = upstreamLogsOf(upstreams as never, { now: () => now, monotonic: () => now }, createRedactor());
  const listening = logs.listen((message) => void heard.push(message));
  const owner = { tenantId: 'acme', agentDid: 'did:example:a' };
  const say = (upstream: string, data: unknown, of?: object) => onLogged('acme', upstream, { level: 'info', data }, of);
  for (let at = 0; at < 101; at += 1) say('github', 'x');
  expect(heard).toHaveLength(100);
  say('github', 'ann.lee@example.org', owner);
  say('mail', 'y');
  expect(heard.slice(100)).toEqual([
    { tenantId: 'acme', upstream: 'github', owner, message: { level: 'info', data: '[REDACTED:email]' } },
    { tenantId: 'acme', upstream: 'mail', message: { level: 'info', data: 'y' } },
  ]);
  now += 1_000;
  say('github', 'z');
  expect(heard).toHaveLength(103);
  listening[Symbol.dispose]();
  expect(stopped).toBe(1);
});
