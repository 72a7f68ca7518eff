import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { PAGE } from '../page.ts';
import { assertRefused, callOverMcp, invoke, type TrustParts } from '../trust-story.ts';

const SERVER = fileURLToPath(new URL('../poisoned-server.ts', import.meta.url));
const CONTENT = [{ type: 'text', text: PAGE }];

/** Texts of others that speak to the model: in what a server says of its tools, and in what a tool returns. */
export async function foreignWordsChapter(parts: TrustParts): Promise<void> {
  parts.story.step('Words of others that speak to the model');
  await descriptions(parts);
  await results(parts);
}

async function descriptions(parts: TrustParts): Promise<void> {
  const { story, sallyport } = parts;
  const added = await sallyport('upstreams', 'add', 'diary', '--', process.execPath, SERVER, PAGE);
  const honest = await invoke(parts, 'diary__read_page', {});
  const poisoned = await invoke(parts, 'diary__add_note', {});
  story.holds('of an MCP server with a poisoned tool the honest one can be called, the other cannot', () => {
    assert.equal(added.code, 0, added.stderr);
    assert.equal(honest.body['status'], 'success', JSON.stringify(honest.body));
    assertRefused(poisoned, 'E3001');
  });
  const waiting = await sallyport('upstreams', 'quarantine', 'diary');
  story.holds('it waits in quarantine, and what was found in it is shown', () => {
    assert.match(waiting.stdout, /diary__add_note/);
    assert.match(waiting.stdout, /secret-access/);
    assert.match(waiting.stdout, /concealment/);
    assert.doesNotMatch(waiting.stdout, /diary__read_page/);
  });
}

async function results(parts: TrustParts): Promise<void> {
  const { story } = parts;
  const { body } = await invoke(parts, 'diary__read_page', {});
  const { warnings = [] } = body as { warnings?: readonly { code: string; details?: object }[] };
  story.holds('a result that tells the model what to do comes back as it is, marked as tainted', () => {
    assert.deepEqual((body['result'] as { content: unknown }).content, CONTENT, JSON.stringify(body));
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['tainted_result'],
    );
    assert.match(JSON.stringify(warnings), /"rule":"override"/);
  });
  const read = await callOverMcp(parts, 'diary__read_page', {});
  story.holds('an MCP client gets the same text and the same warning', () => {
    assert.deepEqual(read.content, CONTENT);
    assert.match(JSON.stringify(read._meta), /tainted_result/);
  });
}
