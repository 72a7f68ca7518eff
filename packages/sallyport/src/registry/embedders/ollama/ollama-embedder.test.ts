import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedderConformance } from '../../search/conformance/embedder.conformance.ts';
import {
  type EmbeddingServer,
  embeddingServer,
  letterVector,
  sendJson,
} from '../../search/embedding-server.fixture.ts';
import { createOllamaEmbedder } from './ollama-embedder.ts';

// A stand-in that follows Ollama's API documentation of POST /api/embed; no Ollama runs here.
const asOllama: EmbeddingServer['reply'] = ({ body }, response) =>
  sendJson(response, { model: body.model, embeddings: body.input?.map(letterVector), total_duration: 14_143_917 });

let server: EmbeddingServer;
beforeAll(async () => {
  server = await embeddingServer(asOllama);
});
afterAll(() => server[Symbol.asyncDispose]());

const embedderAt = (path = '') => createOllamaEmbedder({ url: `${server.url}${path}`, model: 'nomic-embed-text' });
const embed = (texts: readonly string[], path?: string) => embedderAt(path).embed(texts, new AbortController().signal);

embedderConformance(test, 'ollama', async () => ({ embedder: embedderAt(), close: async () => undefined }));

describe('the wire', () => {
  test('REG-06.3 texts go to /api/embed with the model', async () => {
    await embed(['a', 'b']);
    await embed(['a'], '/behind/a/proxy/');
    expect(server.requests.at(-2)).toMatchObject({
      method: 'POST',
      path: '/api/embed',
      body: { model: 'nomic-embed-text', input: ['a', 'b'] },
    });
    expect(server.requests.at(-1)?.path).toBe('/behind/a/proxy/api/embed');
  });

  test.each([
    ['a model that is not there', 404, '{"error":"model not found"}', 'search.embedder_model'],
    ['a server that fails', 500, 'out of memory', 'status 500'],
    ['no JSON', 200, '<html>', 'did not answer as expected'],
    ['a redirect', 302, '', 'did not answer as expected'],
  ])('%s is E3005 that says what to check', async (_, status, body, said) => {
    server.reply = (__, response) => response.writeHead(status, { location: '/elsewhere' }).end(body);
    await expect(embed(['a'])).rejects.toMatchObject({ code: 'E3005', message: expect.stringContaining(said) });
    server.reply = asOllama;
  });

  test.each([
    ['no embeddings', {}],
    ['null', null],
    ['words for numbers', { embeddings: [['a', 'b']] }],
    ['an object for a vector', { embeddings: [{}] }],
  ])('%s leaves an empty answer, which the caller refuses', async (_, value) => {
    server.reply = (__, response) => sendJson(response, value);
    const vectors = await embed(['a']);
    expect(vectors.every(({ length }) => length === 0)).toBe(true);
    server.reply = asOllama;
  });

  test('a server that is not there is E3005', async () => {
    const embedder = createOllamaEmbedder({ url: 'http://127.0.0.1:9', model: 'x' });
    await expect(embedder.embed(['a'], new AbortController().signal)).rejects.toMatchObject({ code: 'E3005' });
  });

  test('what is no http address is refused at once', () => {
    for (const url of ['', 'localhost', 'file:///etc/passwd', 'ftp://x']) {
      expect(() => createOllamaEmbedder({ url, model: 'x' }), url).toThrow('search.embedder_url');
    }
  });
});
