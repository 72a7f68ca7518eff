import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatServer, chatServer, sendCompletion } from '../chat-server.fixture.ts';
import { createOpenAiLanguageModel } from './openai-language-model.ts';
import type { OpenAiLanguageModelSettings } from './settings.ts';

// A stand-in that follows OpenAI's API reference for POST /v1/chat/completions; OpenAI itself gets no request.
let server: ChatServer;
beforeAll(async () => {
  server = await chatServer(() => 'It is.');
});
afterAll(() => server[Symbol.asyncDispose]());

const modelAt = (path = '', more: Partial<OpenAiLanguageModelSettings> = {}) =>
  createOpenAiLanguageModel({ url: `${server.url}${path}`, model: 'small', ...more });
const prompt = { system: 'Be brief.', user: 'Is it?' };
const never = (): AbortSignal => new AbortController().signal;

test('a prompt goes to /v1/chat/completions, whether the address has its /v1 or not', async () => {
  for (const [path, expected] of [
    ['', '/v1/chat/completions'],
    ['/v1/', '/v1/chat/completions'],
    ['/deployments/v1', '/deployments/v1/chat/completions'],
  ] as const) {
    expect(await modelAt(path).complete(prompt, never())).toBe('It is.');
    expect(server.requests.at(-1)).toMatchObject({
      path: expected,
      body: {
        model: 'small',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Is it?' },
        ],
      },
    });
  }
});

test('temperature and key are sent where there are any, and the key stands in no message', async () => {
  await modelAt().complete(prompt, never());
  expect(server.requests.at(-1)?.body).not.toHaveProperty('temperature');
  expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  const model = modelAt('', { temperature: 0, apiKey: async () => 'sk-secret' });
  await model.complete(prompt, never());
  expect(server.requests.at(-1)?.body['temperature']).toBe(0);
  expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer sk-secret');
  server.reply = (_, response) => void response.writeHead(401).end('Incorrect API key: sk-secret');
  const refused = await model.complete(prompt, never()).catch((thrown: Error) => thrown);
  expect(refused).toMatchObject({ code: 'E3307' });
  expect(String(refused)).not.toContain('sk-secret');
});

test.each([
  ['a server error', 'E3304', (response) => void response.writeHead(500).end('no')],
  ['too many requests', 'E3304', (response) => void response.writeHead(429).end('no')],
  ['a refused request', 'E3309', (response) => void response.writeHead(404).end('no')],
  ['a redirect', 'E3310', (response) => void response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end()],
  ['a closed connection', 'E3310', (response) => void response.destroy()],
  ['rubbish', 'E3308', (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<p>')],
  ['text', 'E3308', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('{}')],
  [
    'an empty object',
    'E3308',
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  ],
  ['no text', 'E3308', (response) => sendCompletion(response, null)],
  ['blocks', 'E3308', (response) => sendCompletion(response, [{ type: 'text', text: 'ALLOW' }])],
  ['an answer that was cut', 'E3308', (response) => sendCompletion(response, 'ALLOW', 'length')],
  ['an endless answer', 'E3308', (response) => sendCompletion(response, 'x'.repeat(MiB))],
] satisfies [string, string, (response: Parameters<ChatServer['reply']>[1]) => void][])(
  '%s ends with %s',
  async (_name, code, reply) => {
    server.reply = (_, response) => reply(response) as undefined;
    await expect(modelAt().complete(prompt, never())).rejects.toMatchObject({ code });
  },
);

test('an aborted request ends with the reason, one that nobody answers too', async () => {
  server.reply = () => undefined;
  const gone = new AbortController();
  const asked = modelAt().complete(prompt, gone.signal);
  gone.abort(new Error('the caller left'));
  await expect(asked).rejects.toThrow('the caller left');
  await expect(modelAt().complete(prompt, gone.signal)).rejects.toThrow('the caller left');
});

test('what is no http address is refused at once', () => {
  expect(() => createOpenAiLanguageModel({ url: 'api.openai.com', model: 'x' })).toThrow('model.url');
});
