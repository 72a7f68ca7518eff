import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Embedder } from '../../embedder.port.ts';
import { embedderConformance } from '../../search/conformance/embedder.conformance.ts';
import { REFERENCE_PAIRS, traitsOf } from '../../search/vectors/measure-traits.ts';
import { createLocalEmbedder } from './local-embedder.ts';

const execute = promisify(execFile);
/** Arguments for a network namespace in which no interface is up. */
const ALONE = ['--user', '--map-root-user', '--net'];
const isAlone = await execute('unshare', [...ALONE, 'true']).then(
  () => true,
  () => false,
);
const never = (): AbortSignal => new AbortController().signal;

describe('the model of the package', () => {
  embedderConformance(test, 'local', async () => ({ embedder: createLocalEmbedder(), close: async () => undefined }));

  test('REG-06 it tells related texts from others, as its traits say', async () => {
    const embedder = createLocalEmbedder();
    const requests = await embedder.embed(
      REFERENCE_PAIRS.map(([request]) => request),
      never(),
    );
    const tools = await embedder.embed(
      REFERENCE_PAIRS.map(([, tool]) => tool),
      never(),
    );
    const measured = traitsOf([...requests, ...tools]);
    expect(measured.dimensions).toBe(embedder.traits?.dimensions);
    expect(Math.abs(measured.boundaryCosine - (embedder.traits?.boundaryCosine ?? 0))).toBeLessThan(0.15);
    expect(Math.abs(measured.relatedCosine - (embedder.traits?.relatedCosine ?? 0))).toBeLessThan(0.15);
    expect(measured.relatedCosine).toBeGreaterThan(measured.boundaryCosine);
    await embedder.close();
  });

  test.runIf(isAlone)('REG-06.2 it works where there is no network', async () => {
    const file = JSON.stringify(new URL('./local-embedder.ts', import.meta.url).href);
    const code = `const { createLocalEmbedder } = await import(${file});
      const embedder = createLocalEmbedder();
      const [vector] = await embedder.embed(['a cat'], new AbortController().signal);
      await embedder.close();
      console.log(Object.keys((await import('node:os')).networkInterfaces()).length, vector.length);`;
    const { stdout } = await execute('unshare', [...ALONE, process.execPath, '--input-type=module', '-e', code]);
    expect(stdout).toBe(`0 ${createLocalEmbedder().traits?.dimensions}\n`);
  });
});

describe('a worker that misbehaves', () => {
  let folder: string;
  const opened: Embedder[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sallyport-worker-'));
  });
  afterEach(async () => {
    for (const embedder of opened.splice(0)) await embedder.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** An embedder whose worker runs this code for each request. */
  async function embedderOf(name: string, onMessage: string, idleMs = 10_000): Promise<Embedder> {
    const path = join(folder, `${name}.mjs`);
    const head = `import { parentPort, threadId } from 'node:worker_threads';\nlet seen = 0;\n`;
    await writeFile(path, `${head}parentPort.on('message', ({ id, texts }) => { seen += 1; ${onMessage} });\n`);
    const embedder = createLocalEmbedder({ idleMs, workerFile: pathToFileURL(path) });
    opened.push(embedder);
    return embedder;
  }
  const ANSWER = 'parentPort.postMessage({ id, vectors: Float32Array.from(texts, () => threadId) });';
  const threadOf = async (embedder: Embedder): Promise<number> => {
    const [vector] = await embedder.embed(['x'], never());
    return vector?.[0] ?? 0;
  };

  test('one that dies fails the calls that it held, and the next call starts another', async () => {
    const embedder = await embedderOf('dies', `if (texts[0] === 'die') process.exit(3); ${ANSWER}`);
    const first = await threadOf(embedder);
    const held = [embedder.embed(['die'], never()), embedder.embed(['x'], never())];
    for (const ended of await Promise.allSettled(held)) {
      expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'E3005' } });
    }
    expect(await threadOf(embedder)).not.toBe(first);
  });

  test('one that throws is the same, and the cause is kept', async () => {
    const embedder = await embedderOf('throws', `throw new Error('out of memory');`);
    const error: unknown = await embedder.embed(['x'], never()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E3005', cause: { message: 'out of memory' } });
  });

  test('after three that never answered no more are started for a while', async () => {
    const embedder = await embedderOf('never', 'process.exit(1);');
    for (let at = 0; at < 3; at += 1) await expect(embedder.embed(['x'], never())).rejects.toThrow('worker');
    await expect(embedder.embed(['x'], never())).rejects.toThrow('ended 3 times');
  });

  test('one that hangs is ended when a call ran out of time', async () => {
    const embedder = await embedderOf('hangs', `if (texts[0] === 'hang') for (;;); ${ANSWER}`);
    const first = await threadOf(embedder);
    await expect(embedder.embed(['hang'], AbortSignal.timeout(100))).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await threadOf(embedder)).not.toBe(first);
  });

  test('its queue is bounded', async () => {
    const embedder = await embedderOf('waits', '');
    const held = Array.from({ length: 64 }, () => embedder.embed(['x'], never()).catch(() => undefined));
    await expect(embedder.embed(['x'], never())).rejects.toThrow('64 calls waiting');
    await embedder.close();
    await Promise.all(held);
  });

  test('an idle one ends, and another starts when there is work', async () => {
    const embedder = await embedderOf('rests', ANSWER, 1);
    const first = await threadOf(embedder);
    await expect
      .poll(async () => {
        await sleep(20);
        return threadOf(embedder);
      })
      .not.toBe(first);
  });

  test('a failure of the model is E3005, and the worker goes on', async () => {
    const embedder = await embedderOf(
      'fails',
      `if (texts[0] === 'bad') parentPort.postMessage({ id, error: 'no weights' }); else ${ANSWER}`,
    );
    const first = await threadOf(embedder);
    await expect(embedder.embed(['bad'], never())).rejects.toMatchObject({ code: 'E3005' });
    expect(await threadOf(embedder)).toBe(first);
  });
});
