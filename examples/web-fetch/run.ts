import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolLayer, LOCAL_CALLER, webToolManifests } from '../../packages/sallyport/src/index.ts';
import { createStory } from '../first-call/story.ts';
import { startInternal, startSite } from './site.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-web-'));
try {
  await using internal = await startInternal();
  await using site = await startSite(() => internal.port);
  await using layer = await createToolLayer({
    settings: { data_folder: join(home, 'data'), 'log.level': 'silent', 'agent.allowed_hosts': ['127.0.0.1', '*'] },
  });
  const [fetchTool] = webToolManifests();
  assert.ok(fetchTool !== undefined);
  // One that reads this site, named as it is written, and one that reads any public page.
  const reader = { ...fetchTool, permissions: { network: [{ host: '127.0.0.1', port: site.port }] } };
  await layer.ask('tools.register', { manifest: { ...reader, tool_id: 'read_site' } }, LOCAL_CALLER);
  await layer.ask('tools.register', { manifest: fetchTool }, LOCAL_CALLER);
  const agent = { agent_did: 'did:example:reader' };
  const { capability_token: siteOnly } = await layer.mintToken({ ...agent, hosts: ['127.0.0.1'], ports: [site.port] });
  const { capability_token: anywhere } = await layer.mintToken({ ...agent, hosts: ['*'], ports: [80, 443] });
  const read = (url: string, more: object = {}) =>
    layer.invoke({ tool_id: 'read_site', parameters: { url, ...more }, capability_token: siteOnly });
  const roam = (url: string) => layer.invoke({ tool_id: 'web_fetch', parameters: { url }, capability_token: anywhere });
  const at = (path: string): string => `http://127.0.0.1:${site.port}${path}`;

  story.step('A page becomes Markdown');
  const page = await read(at('/hours'), { links: true });
  const content = contentOf(page.result);
  story.holds('with its title, its main content and its language', () => {
    assert.partialDeepStrictEqual(page.result, { title: 'Opening hours', language: 'en', status: 200 });
    assert.match(content, /open from \*\*9 to 17\*\*/);
    assert.match(content, /[-*] +Desk: ground floor/);
  });
  story.holds('without menus, scripts, and what a reader would not see', () => {
    assert.doesNotMatch(content, /Shop|document\.title|help@example\.net/);
    assert.partialDeepStrictEqual(page.result, { dropped: { hidden: 1 } });
  });
  const part = await read(at('/hours'), { max_chars: 100 });
  story.holds('a long one comes in parts', () => {
    const { truncated, next_offset } = part.result as { truncated: boolean; next_offset: number };
    assert.ok(truncated && next_offset > 0 && contentOf(part.result).length <= 100);
  });
  const moved = await read(at('/moved'));
  story.holds('a redirect is followed where the grant allows it', () =>
    assert.partialDeepStrictEqual(moved.result, { final_url: at('/hours') }),
  );

  story.step('Some pages are not read');
  const diary = await read(at('/private/diary'));
  story.holds('what robots.txt closes', () => assert.equal(diary.error?.e_code, 'E3309', JSON.stringify(diary.error)));
  const picture = await read(at('/picture'));
  story.holds('what is no text', () => assert.equal(picture.error?.e_code, 'E3308', JSON.stringify(picture.error)));

  story.step('Nobody reaches through it what only this machine can reach');
  const direct = await read(`http://127.0.0.1:${internal.port}/keys`);
  story.holds('another port of the same host is outside of the grant', () =>
    assert.equal(direct.error?.e_code, 'E3104'),
  );
  const leaked = await read(at('/leak'));
  story.holds('a redirect leads no further than the grant', () => assert.equal(leaked.error?.e_code, 'E3104'));
  for (const host of [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
  ]) {
    const { error } = await roam(`http://${host}/latest/meta-data/`);
    story.holds(`who may read any public page does not read ${host}`, () => assert.equal(error?.e_code, 'E3104', host));
  }
  story.holds('the server that only this machine reaches was never asked', () => assert.deepEqual(internal.asked, []));
  const other = await layer.invoke({
    tool_id: 'read_site',
    parameters: { url: at('/hours') },
    capability_token: anywhere,
  });
  story.holds('a token for public pages opens no page of this machine', () =>
    assert.match(other.error?.e_code ?? '', /^E3[12]04$/),
  );
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}

function contentOf(result: unknown): string {
  return (result as { readonly content: string }).content;
}
