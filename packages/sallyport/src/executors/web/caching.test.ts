import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
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
const asked = (): string[] => site.seen.map(({ url }) => url).filter((url) => url !== '/robots.txt');

describe('robots.txt', () => {
  const rules = (text: string, status = 200): void => {
    site.pages.set('/robots.txt', (_request, response) => void response.writeHead(status).end(text));
  };

  test('EXE-05.6 closes pages to programs by name, on the way of a redirect too, and is asked for once', async () => {
    rules('User-agent: *\nDisallow: /private\n\nUser-agent: Sallyport\nDisallow: /not-for-us');
    site.pages.set('/private', html('<p>Open to us.</p>'));
    site.pages.set('/not-for-us', html('<p>Closed.</p>'));
    site.pages.set('/there', html('', { location: '/not-for-us' }, 302));
    await withExecutor({}, async (own) => {
      expect((await run(webCall({ url: site.url('/private'), mode: 'full' }), own)).content).toBe('Open to us.');
      for (const path of ['/not-for-us', '/there']) {
        expect(await refusal(webCall({ url: site.url(path) }), own)).toMatchObject({
          code: 'E3309',
          failure: { details: { reason: 'robots' } },
        });
      }
    });
    expect(site.seen.filter(({ url }) => url === '/robots.txt')).toHaveLength(1);
    expect(asked()).not.toContain('/not-for-us');
    await withExecutor({ settings: { respectRobots: false } }, async (own) => {
      expect((await run(webCall({ url: site.url('/not-for-us'), mode: 'full' }), own)).content).toBe('Closed.');
    });
  });

  test('what is not there closes nothing, a server that fails closes everything for a while', async () => {
    site.pages.set('/', html('<p>Page.</p>'));
    const get = (own: typeof executor) => own.execute(webCall({ url: site.url('/') }), never);
    rules('Disallow: /', 403);
    await withExecutor({}, async (own) => void (await get(own)));
    rules('', 500);
    await withExecutor({}, async (own) => {
      await expect(get(own)).rejects.toMatchObject({ failure: { details: { reason: 'robots_unavailable' } } });
      rules('User-agent: *\nAllow: /');
      await expect(get(own)).rejects.toMatchObject({ code: 'E3309' });
      now += 60_001;
      await get(own);
    });
  });

  test('rules that are dear to match do not hold up anything else', async () => {
    rules(`User-agent: *\n${`Disallow: /${'*a'.repeat(200)}$\n`.repeat(1200)}`);
    const page = `/${'a'.repeat(2000)}b`;
    site.pages.set(page, html('<p>x</p>'));
    await withExecutor({ bounds: { converter: { pageMs: 1 } } }, async (own) => {
      expect(await refusal(webCall({ url: site.url(page) }), own)).toMatchObject({ code: 'E3102' });
    });
  });
});

describe('what is kept', () => {
  const page = (headers: Record<string, string>) => {
    let version = 0;
    site.pages.set('/', (request, response) => {
      version += 1;
      if (headers['etag'] !== undefined && request.headers['if-none-match'] === headers['etag']) {
        response.writeHead(304, headers).end();
      } else response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(`Version ${version}.`);
    });
  };
  const get = (own: typeof executor, more: object = {}, tenantId = 'acme') =>
    run(
      webCall(
        { url: site.url('/'), ...more },
        { principal: { tenantId, agentDid: 'did:example:agent', roles: ['agent'] } },
      ),
      own,
    );

  test('EXE-05.7 an answer is given again while it is fresh, to its tenant only, and asked for anew after', async () => {
    page({ 'cache-control': 'max-age=60', age: '10' });
    await withExecutor({}, async (own) => {
      expect(await get(own)).toMatchObject({ content: 'Version 1.', from_cache: false });
      now += 49_999;
      expect(await get(own)).toMatchObject({
        content: 'Version 1.',
        from_cache: true,
        fetched_at: '2026-01-01T00:00:00.000Z',
      });
      expect(await get(own, {}, 'rival')).toMatchObject({ content: 'Version 2.', from_cache: false });
      expect(await get(own, { fresh: true })).toMatchObject({ content: 'Version 3.', from_cache: false });
      now += 50_001;
      expect(await get(own)).toMatchObject({ content: 'Version 4.', from_cache: false });
    });
  });

  test('EXE-05.7 an answer with a validator is confirmed by a 304', async () => {
    page({ 'cache-control': 'no-cache', etag: '"one"' });
    await withExecutor({}, async (own) => {
      expect(await get(own)).toMatchObject({ content: 'Version 1.', from_cache: false });
      now += 1000;
      expect(await get(own)).toMatchObject({
        content: 'Version 1.',
        from_cache: true,
        fetched_at: '2026-01-01T00:00:01.000Z',
      });
      expect(asked()).toHaveLength(2);
    });
  });

  test.each([
    { 'cache-control': 'no-store, max-age=60' },
    { 'cache-control': 'private, max-age=60' },
    { 'cache-control': 'max-age=60', vary: '*' },
    { 'cache-control': 'max-age=60', 'set-cookie': 'a=1' },
    { expires: 'Thu, 01 Jan 1970 00:00:00 GMT' },
    { 'cache-control': 's-maxage=0, max-age=60' },
    {},
  ])('an answer with %j is not given again', async (headers) => {
    page(headers as Record<string, string>);
    await withExecutor({}, async (own) => {
      await get(own);
      expect(await get(own)).toMatchObject({ content: 'Version 2.', from_cache: false });
    });
  });

  test('what is kept is not given to a call whose grant does not open the site', async () => {
    page({ 'cache-control': 'max-age=60' });
    await withExecutor({}, async (own) => {
      await get(own);
      expect(await refusal(webCall({ url: site.url('/') }, {}, [{ host: 'a.example', port: 80 }]), own)).toMatchObject({
        code: 'E3104',
      });
    });
  });

  test('a 304 that was not asked for is no answer', async () => {
    site.pages.set('/', (_request, response) => void response.writeHead(304).end());
    expect(await refusal(webCall({ url: site.url('/') }))).toMatchObject({ code: 'E3308' });
  });
});
