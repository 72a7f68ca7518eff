import { gzipSync } from 'node:zlib';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ExecutorCall } from '../executor.port.ts';
import type { WebResult } from './result.ts';
import { html, type LocalParts, localExecutor, startSite, type TestSite, webCall } from './web-site.fixture.ts';

const never = new AbortController().signal;
const START = Date.UTC(2026, 0, 1);
let now = START;
const clock = { now: () => now, monotonic: () => 0 };

let site: TestSite;
let executor: ReturnType<typeof localExecutor>;
beforeAll(async () => {
  site = await startSite();
  executor = localExecutor(clock);
});
afterEach(() => {
  site.seen.length = 0;
  site.pages.clear();
  now = START;
});
afterAll(async () => {
  await executor[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const run = async (call: ExecutorCall, by = executor): Promise<WebResult> =>
  (await by.execute(call, never)).result as WebResult;
const refusal = (call: ExecutorCall, by = executor): Promise<ToolLayerError> =>
  by.execute(call, never).then(
    () => expect.unreachable('the call must be refused'),
    (thrown: ToolLayerError) => thrown,
  );
/** Runs `use` with a new executor. */
async function withExecutor<T>(parts: LocalParts, use: (own: typeof executor) => Promise<T>): Promise<T> {
  await using own = localExecutor(clock, parts);
  return await use(own);
}

describe('bounds', () => {
  test('EXE-05.3 a compressed bomb is cut while it unfolds, and a long page where it is too long', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'));
    site.pages.set('/bomb', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(bomb);
    });
    site.pages.set('/long', html(`<p>${'y'.repeat(3000)}</p>`));
    await withExecutor({ bounds: { bodyBytesMax: 2000, wireBytesMax: 100_000 } }, async (own) => {
      const result = await run(webCall({ url: site.url('/bomb'), max_chars: 1_000_000 }), own);
      expect(result).toMatchObject({ content: 'x'.repeat(2000), truncated: true });
      expect(await run(webCall({ url: site.url('/long'), mode: 'full' }), own)).toMatchObject({ truncated: true });
    });
  });

  test('EXE-05 a site that is slow to answer, to go on, or to end is given up', async () => {
    site.pages.set('/silent', () => {});
    site.pages.set('/stalled', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('begun');
    });
    const timers: NodeJS.Timeout[] = [];
    site.pages.set('/drop-by-drop', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      timers.push(setInterval(() => response.write('.'), 20));
    });
    const bounds = { answerMs: 150, silenceMs: 150, fetchMs: 600 };
    await withExecutor({ bounds, settings: { respectRobots: false } }, async (own) => {
      for (const path of ['/silent', '/stalled', '/drop-by-drop']) {
        expect(await refusal(webCall({ url: site.url(path) }), own)).toMatchObject({ code: 'E3306' });
      }
    });
    for (const timer of timers) clearInterval(timer);
  });

  test('a body that is shorter than it said is no page', async () => {
    site.pages.set('/', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      response.write('short', () => response.socket?.destroy());
    });
    expect(await refusal(webCall({ url: site.url('/') }))).toMatchObject({ code: 'E3310' });
  });

  test('refusals of the site come with their codes', async () => {
    const codes: string[] = [];
    for (const status of [401, 404, 429, 500]) {
      site.pages.set('/', html('why', {}, status));
      codes.push((await refusal(webCall({ url: site.url('/') }))).code);
    }
    expect(codes).toEqual(['E3307', 'E3309', 'E3303', 'E3304']);
  });

  test.each([
    ['a megabyte of open elements', '<div>'.repeat(200_000)],
    ['a hundred thousand attributes', `<p ${Array.from({ length: 100_000 }, (_, at) => `a${at}=1`).join(' ')}>x</p>`],
    ['nesting a hundred thousand deep', `${'<b><i>'.repeat(50_000)}x${'</i></b>'.repeat(50_000)}`],
    ['a tag that never ends', `<p ${'x'.repeat(1_000_000)}`],
    ['paragraphs that never end', '<p>'.repeat(300_000)],
  ])('EXE-05 %s ends within bounds', async (_name, markup) => {
    site.pages.set('/', html(markup));
    const ended = await executor.execute(webCall({ url: site.url('/'), mode: 'article' }), never).then(
      ({ result }) => (result as WebResult).truncated,
      (thrown: ToolLayerError) => thrown.code,
    );
    expect([true, 'E3102']).toContain(ended);
  });

  test('a page that takes too long to read is given up, and the next one is read', async () => {
    site.pages.set('/heavy', html('<div></div>'.repeat(20_000)));
    site.pages.set('/light', html('<p>light</p>'));
    await withExecutor({ bounds: { converter: { pageMs: 1 } } }, async (own) => {
      expect(await refusal(webCall({ url: site.url('/heavy') }), own)).toMatchObject({ code: 'E3102' });
    });
    await withExecutor({ bounds: { converter: { heapMb: 48 } } }, async (own) => {
      const wide = `<table>${'<tr><td>a<td>b'.repeat(4000)}</table>`;
      site.pages.set('/wide', html(wide));
      const first = await own.execute(webCall({ url: site.url('/wide') }), never).catch((thrown: unknown) => thrown);
      if (first instanceof ToolLayerError) expect(first.code).toBe('E3102');
      expect((await run(webCall({ url: site.url('/light'), mode: 'full' }), own)).content).toBe('light');
    });
  });
});
