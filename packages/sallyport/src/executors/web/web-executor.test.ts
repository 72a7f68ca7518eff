import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { executorConformance } from '../conformance/executor.conformance.ts';
import type { ExecutorCall } from '../executor.port.ts';
import type { WebResult } from './result.ts';
import {
  html,
  type LocalParts,
  localExecutor,
  localGuard,
  NAME,
  startSite,
  type TestSite,
  webCall,
} from './web-site.fixture.ts';
import { webToolManifests } from './web-tools.ts';

const never = new AbortController().signal;
const START = Date.UTC(2026, 0, 1);
let now = START;
const clock = { now: () => now, monotonic: () => 0 };

executorConformance(test, 'web', async () => {
  const site = await startSite();
  const executor = localExecutor(clock);
  return {
    executor,
    works: () => {
      site.pages.set('/text', (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('three');
      });
      return {
        call: webCall({ url: site.url('/text') }),
        result: {
          url: site.url('/text'),
          final_url: site.url('/text'),
          status: 200,
          content: 'three',
          content_type: 'text/plain',
          truncated: false,
          from_cache: false,
          fetched_at: '2026-01-01T00:00:00.000Z',
        },
      };
    },
    fails: () => webCall({ url: site.url('/absent') }),
    hangs: () => {
      const running = Promise.withResolvers<void>();
      site.pages.set('/slow', () => running.resolve());
      return { call: webCall({ url: site.url('/slow') }), running: () => running.promise };
    },
    faulty: () => ({ ...webCall({}).tool.manifest, executor: { kind: 'web', config: { operation: 'crawl' } } }),
    // The connection for robots.txt may stay open.
    leftovers: () => Math.max(0, site.sockets.size - 1),
    async close() {
      await executor[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
});

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

const SENTENCE = 'This sentence is long enough, with a comma, to count as a part of an article that people read. ';
const ARTICLE = `<!doctype html><html lang="en"><head><title>Bees</title><meta name="author" content="Ada"></head><body>
<nav><a href="/home">Home</a> <a href="/shop">Shop</a></nav>
<article><h1>On bees</h1>${`<p>${SENTENCE.repeat(3)}</p>`.repeat(6)}<p>See <a href="more?x=1#y">more</a>.</p></article>
<footer>Imprint</footer></body></html>`;

describe('a page', () => {
  test('EXE-05.1 becomes the Markdown of its main content, with title, author, language and absolute links', async () => {
    site.pages.set('/dir/bees', html(ARTICLE));
    const result = await run(webCall({ url: site.url('/dir/bees#top'), links: true }));
    expect(result).toMatchObject({
      final_url: site.url('/dir/bees'),
      title: 'Bees',
      byline: 'Ada',
      language: 'en',
      content_type: 'text/html',
      truncated: false,
      from_cache: false,
      links: [{ text: 'more', url: site.url('/dir/more?x=1#y') }],
    });
    expect(result.content).toContain(`[more](${site.url('/dir/more?x=1#y')})`);
    expect(result.content).not.toMatch(/Home|Imprint/);
  });

  test('is whole, plain text, the source, or the parts that a selector fits, as is asked', async () => {
    site.pages.set('/', html(ARTICLE));
    const get = (more: object) => run(webCall({ url: site.url('/'), ...more }));
    expect((await get({ mode: 'full' })).content).toMatch(/\[Home\].*# On bees.*Imprint/s);
    expect((await get({ mode: 'text' })).content).toMatch(/^Home Shop\n+On bees\n/);
    expect((await get({ mode: 'raw' })).content).toBe(ARTICLE);
    expect((await get({ selector: 'footer, nav a' })).content).toMatch(/Home.*Imprint/s);
    expect(await refusal(webCall({ url: site.url('/'), selector: '#absent' }))).toMatchObject({ code: 'E3109' });
    expect(await refusal(webCall({ url: site.url('/'), selector: 'p[[' }))).toMatchObject({ code: 'E3109' });
  });

  test('is given in parts that end at blocks, and that together are the whole', async () => {
    const blocks = Array.from({ length: 60 }, (_, at) => `Block ${at} ${'word '.repeat(10)}end.`);
    site.pages.set('/', html(`<body>${blocks.map((block) => `<p>${block}</p>`).join('')}</body>`));
    const parts: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part: WebResult = await run(webCall({ url: site.url('/'), mode: 'full', max_chars: 500, offset }));
      expect(part.content).toMatch(/end\.$/);
      expect(part.truncated).toBe(part.next_offset !== undefined);
      parts.push(part.content);
      offset = part.next_offset;
    }
    expect(parts.join('\n\n')).toBe(blocks.join('\n\n'));
    expect(parts.length).toBeGreaterThan(5);
  });

  test('keeps to the output limit of the call, whatever its characters take in JSON', async () => {
    site.pages.set('/', html(`<pre>${'"\\\n'.repeat(30_000)}</pre>`));
    const call = webCall({ url: site.url('/'), mode: 'text', max_chars: 1_000_000 });
    const result = await run(call);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(call.grant.limits.outputBytesMax);
    expect(result).toMatchObject({ truncated: true });
  });

  test('EXE-05 what readers do not see is left out, and it is said', async () => {
    site.pages.set(
      '/',
      html(`<html><head><style>/* c */ .gone { color: red; display: none } @media print { .seen { display: none } }
        .menu{display:none} .menu.open{display:block} @import url(x);</style></head><body><p class="seen">Seen.</p>
        <p class="gone">BAD1</p><p style="DISPLAY : none">BAD2</p><p hidden>BAD3</p><p aria-hidden="true">BAD4</p>
        <p style="font-size:0px">BAD5</p><p style="position:absolute;left:-9999px">BAD6</p><p style="opacity:0">BAD7</p>
        <p style="color:#fff;background:#fff">BAD8</p><p style="height:0;overflow:hidden">BAD9</p>
        <div style="visibility:hidden"><div>BAD10</div></div><!-- BAD11 --><script>BAD12</script>
        <noscript>BAD13</noscript><template>BAD14</template><iframe srcdoc="BAD15"></iframe>
        <p title="BAD16">Titled.</p><img src="data:image/png;base64,AA" alt="BAD17"><p class="menu open">Open.</p>
        <a href="javascript:alert('BAD18')">run</a><a href="data:text/html,BAD19">data</a><a href=" java\nscript:BAD20">x</a>
        <svg><text>BAD21</text></svg><input value="BAD22"><p style="clip-path: inset(50%)">BAD23</p></body></html>`),
    );
    for (const mode of ['full', 'text', 'article']) {
      const result = await run(webCall({ url: site.url('/'), mode, links: true }));
      expect(JSON.stringify(result)).not.toContain('BAD');
      expect(result.content).toMatch(/Seen\..*Titled\..*Open\..*run/s);
      expect(result.dropped).toMatchObject({ hidden: 11, links: 3, images: 1 });
    }
  });

  test('feeds become lists; JSON, XML and text come as they are', async () => {
    const answer = (path: string, type: string, body: string | Buffer): void => {
      site.pages.set(path, (_request, response) => void response.writeHead(200, { 'content-type': type }).end(body));
    };
    answer('/json', 'application/json', '{"a": [1]}');
    answer('/xml', 'application/xml', '<a><b/></a>');
    answer('/none', '', '<!DOCTYPE html><p>sniffed</p>');
    answer(
      '/feed',
      'application/atom+xml',
      '<feed><title>News</title><entry><title>One</title><link href="/1"/><summary>&lt;b&gt;Sum&lt;/b&gt;</summary></entry></feed>',
    );
    expect((await run(webCall({ url: site.url('/json') }))).content).toBe('{"a": [1]}');
    expect((await run(webCall({ url: site.url('/xml') }))).content).toBe('<a><b/></a>');
    expect((await run(webCall({ url: site.url('/none') }))).content).toBe('sniffed');
    const feed = await run(webCall({ url: site.url('/feed') }));
    expect(feed.content).toBe(`# News\n\n## [One](${site.url('/1')})\n\nSum`);
  });

  test.each([
    ['application/pdf', '%PDF-1.7'],
    ['image/png', '\x89PNG'],
    ['application/octet-stream', '%PDF-1.7'],
    ['', 'MZ\0\x01'],
    ['application/zip', 'PK'],
  ])('EXE-05.4 the type %j is refused with its name', async (type, body) => {
    site.pages.set('/', (_request, response) => void response.writeHead(200, { 'content-type': type }).end(body));
    expect(await refusal(webCall({ url: site.url('/') }))).toMatchObject({ code: 'E3308' });
  });

  test.each([
    ['text/html; charset=iso-8859-2', Buffer.from([0xb9]), 'š'],
    ['text/html', Buffer.from('<meta charset="shift_jis"><p>\x93\xfa</p>', 'latin1'), '日'],
    ['text/html', Buffer.from('<p>Gr\xfc\xdfe</p>', 'latin1'), 'Grüße'],
    ['text/html', Buffer.from('<p>Grüße</p>'), 'Grüße'],
    ['text/html; charset=latin1', Buffer.from('\ufeff<p>Grüße</p>'), 'Grüße'],
    ['text/plain; charset=utf-16le', Buffer.from('日本', 'utf16le'), '日本'],
    ['text/plain', Buffer.from('\ufeff日本', 'utf16le'), '日本'],
    ['text/html; charset=no-such', Buffer.from('<p>ok é</p>'), 'ok é'],
    ['text/plain; charset=utf-8', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
    ['text/html', Buffer.from('<meta charset=utf-16><p>ok</p>'), 'ok'],
  ])('charset of %s, case %#', async (type, body, expected) => {
    site.pages.set('/', (_request, response) => void response.writeHead(200, { 'content-type': type }).end(body));
    expect((await run(webCall({ url: site.url('/'), mode: 'full' }))).content).toBe(expected);
  });
});

describe('where it may go', () => {
  test('EXE-05.2 EXE-05.5 redirects are followed, each checked against the grant and the addresses behind it', async () => {
    site.pages.set('/a', html('', { location: '/b' }, 302));
    site.pages.set('/b', html('', { location: site.url('/c', 'other.example.com') }, 307));
    site.pages.set('/c', html('<p>There.</p>'));
    const result = await run(webCall({ url: site.url('/a'), mode: 'full' }));
    expect(result).toMatchObject({ content: 'There.', final_url: site.url('/c', 'other.example.com') });
    const narrow = [{ host: NAME, port: site.port }];
    expect(await refusal(webCall({ url: site.url('/a') }, {}, narrow))).toMatchObject({ code: 'E3104' });
    for (const location of [
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]:1/',
      'http://localhost/',
      'http://0x0a000001/',
      'http://metadata.google.internal/',
      '//10.0.0.1/',
    ]) {
      site.pages.set('/a', html('', { location }, 302));
      expect(await refusal(webCall({ url: site.url('/a') }))).toMatchObject({ code: 'E3104' });
    }
    for (const location of ['file:///etc/passwd', 'gopher://x/', `http://user:pw@${NAME}/`]) {
      site.pages.set('/a', html('', { location }, 302));
      expect(await refusal(webCall({ url: site.url('/a') }))).toMatchObject({ code: 'E3309' });
    }
  });

  test('circles and long ways end', async () => {
    site.pages.set('/a', html('', { location: '/b' }, 302));
    site.pages.set('/b', html('', { location: '/a' }, 302));
    const circle = await refusal(webCall({ url: site.url('/a') }));
    expect([circle.code, circle.message]).toEqual(['E3309', expect.stringContaining('circle')]);
    for (let at = 0; at < 7; at += 1) site.pages.set(`/${at}`, html('', { location: `/${at + 1}` }, 302));
    expect(await refusal(webCall({ url: site.url('/0') }))).toMatchObject({ code: 'E3309' });
    site.pages.set('/a', html('', {}, 302));
    expect(await refusal(webCall({ url: site.url('/a') }))).toMatchObject({ code: 'E3309' });
  });

  test('EXE-05.5 a name that leads elsewhere at its second look-up is not followed there', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    const guard = localGuard({
      resolveHost: async () => [{ address: answers.shift() ?? '10.0.0.1', family: 4 }],
    });
    site.pages.set('/', html('<p>Once.</p>', { connection: 'close' }));
    await withExecutor({ guard, settings: { respectRobots: false } }, async (own) => {
      expect((await run(webCall({ url: site.url('/'), mode: 'full' }), own)).content).toBe('Once.');
      expect(await refusal(webCall({ url: site.url('/') }), own)).toMatchObject({ code: 'E3104' });
    });
    const mixed = localGuard({
      resolveHost: async () => ['127.0.0.1', '169.254.169.254'].map((address) => ({ address, family: 4 })),
    });
    await withExecutor({ guard: mixed, settings: { respectRobots: false } }, async (own) => {
      expect(await refusal(webCall({ url: site.url('/') }), own)).toMatchObject({ code: 'E3104' });
    });
  });

  test('EXE-05.5 this machine is out of reach without a policy or a grant that names it', async () => {
    site.pages.set('/', html('<p>Inner.</p>'));
    await withExecutor({ guard: createEgressGuard() }, async (own) => {
      for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', 'localhost.']) {
        expect(await refusal(webCall({ url: site.url('/', host) }), own)).toMatchObject({ code: 'E3104' });
      }
      const named = webCall({ url: site.url('/', '127.0.0.1'), mode: 'full' }, {}, [
        { host: '127.0.0.1', port: site.port },
      ]);
      expect((await run(named, own)).content).toBe('Inner.');
    });
  });

  test.each([
    'ftp://site.example.com/',
    'http://user@site.example.com/',
    'http://site.example.com\\@10.0.0.1/',
    'http://site.example.com#@127.0.0.1/',
    'http://',
    'file:///etc/passwd',
  ])('the URL %j is refused before anything is sent', async (url) => {
    expect(await refusal(webCall({ url }))).toMatchObject({ code: 'E3509' });
    expect(site.seen).toEqual([]);
  });
});

describe('the ready manifest', () => {
  test('asks for its hosts at both ports, and has no faults', () => {
    const [manifest] = webToolManifests(['docs.example.com']);
    expect(manifest).toMatchObject({
      tool_id: 'web_fetch',
      side_effect_policy: 'pure',
      permissions: {
        network: [
          { host: 'docs.example.com', port: 443 },
          { host: 'docs.example.com', port: 80 },
        ],
      },
    });
    if (manifest !== undefined) expect(executor.configFaults(manifest)).toEqual([]);
    expect(webToolManifests([])).toEqual([]);
    expect(executor.configFaults({ ...webCall({}).tool.manifest, permissions: {} })).toMatchObject([
      { path: '/permissions/network' },
    ]);
  });

  test('arguments beyond its schema are refused', async () => {
    for (const more of [{ mode: 'pdf' }, { max_chars: 99 }, { offset: -1 }, { cookies: 'a=1' }, { selector: '' }]) {
      expect(await refusal(webCall({ url: site.url('/'), ...more }))).toMatchObject({ code: 'E3509' });
    }
  });
});
