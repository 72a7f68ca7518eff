import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedderConformance } from '../../search/conformance/embedder.conformance.ts';
import {
  type EmbeddingServer,
  embeddingServer,
  letterVector,
  sendJson,
} from '../../search/embedding-server.fixture.ts';
import { createOpenAiEmbedder, type OpenAiSettings } from './openai-embedder.ts';

// A stand-in that follows OpenAI's API reference for POST /v1/embeddings; OpenAI itself gets no request.
const asOpenAi: EmbeddingServer['reply'] = ({ body }, response) => {
  const data = body.input?.map((text, index) => ({ object: 'embedding', index, embedding: letterVector(text) }));
  // In reverse order: the member `index` says which vector belongs to which text.
  sendJson(response, { object: 'list', data: data?.toReversed(), model: body.model, usage: { total_tokens: 1 } });
};

let server: EmbeddingServer;
beforeAll(async () => {
  server = await embeddingServer(asOpenAi);
});
afterAll(() => server[Symbol.asyncDispose]());

const embedderAt = (path = '', more: Partial<OpenAiSettings> = {}) =>
  createOpenAiEmbedder({
    url: `${server.url}${path}`,
    model: 'text-embedding-3-small',
    apiKey: async () => undefined,
    ...more,
  });
const never = (): AbortSignal => new AbortController().signal;

embedderConformance(test, 'openai', async () => ({ embedder: embedderAt(), close: async () => undefined }));

describe('the wire', () => {
  test('REG-06.4 texts go to /v1/embeddings, whether the address has its /v1 or not', async () => {
    for (const path of ['', '/', '/v1', '/v1/']) {
      await embedderAt(path).embed(['a', 'b'], never());
      expect(server.requests.at(-1), path).toMatchObject({
        method: 'POST',
        path: '/v1/embeddings',
        body: { model: 'text-embedding-3-small', input: ['a', 'b'], encoding_format: 'float' },
      });
    }
    await embedderAt('/openai/deployments/v1').embed(['a'], never());
    expect(server.requests.at(-1)?.path).toBe('/openai/deployments/v1/embeddings');
  });

  test('the key goes in a header where there is one, and into no message', async () => {
    await embedderAt('', { apiKey: async () => 'sk-secret' }).embed(['a'], never());
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer sk-secret');
    await embedderAt('', { apiKey: async () => undefined }).embed(['a'], never());
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
    server.reply = (_, response) => sendJson(response, { error: { message: 'Incorrect API key: sk-secret' } }, 401);
    const error = await embedderAt('', { apiKey: async () => 'sk-secret' })
      .embed(['a'], never())
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'E3005', message: expect.stringContaining('search.embedder_secret') });
    expect(String(error)).not.toContain('sk-secret');
    server.reply = asOpenAi;
  });

  test('an answer of endless size is not read to its end', async () => {
    server.reply = (_, response) => {
      response.writeHead(200);
      const part = Buffer.alloc(MiB, 32);
      const write = (): void => {
        while (response.writable && response.write(part));
      };
      response.on('drain', write).on('error', () => undefined);
      write();
    };
    await expect(embedderAt().embed(['a'], never())).rejects.toMatchObject({ code: 'E3005' });
    server.reply = asOpenAi;
  });

  test('rows that name no text, or one that was not asked for, give no vector to it', async () => {
    server.reply = (_, response) =>
      sendJson(response, { data: [{ index: 7, embedding: [1] }, { embedding: [2] }, null, { index: -1 }] });
    const vectors = await embedderAt().embed(['a', 'b'], never());
    expect(vectors.map((vector) => [...vector])).toEqual([[], [2]]);
    server.reply = asOpenAi;
  });

  test('what is no http address is refused at once', () => {
    expect(() => embedderAt('', { url: 'api.openai.com' })).toThrow('search.embedder_url');
  });
});
