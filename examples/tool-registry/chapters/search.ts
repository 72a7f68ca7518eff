import assert from 'node:assert/strict';
import { asJson, overRest, type RegistryParts, until } from '../registry-story.ts';

/** None of its words stands in the tool that it looks for. */
const QUERY = 'How many dollars do I get for my euros?';

interface Found {
  readonly mode: string;
  readonly progress?: { readonly indexed: number; readonly pending: number };
  readonly results: readonly { readonly tool: { readonly tool_id: string }; readonly similarity?: number }[];
}

/** Tools found by what they do. */
export async function searchChapter(parts: RegistryParts): Promise<void> {
  const { story } = parts;
  story.step('Search');
  const search = async (request: object, claims = {}): Promise<Found> =>
    (await overRest(parts, '/v1/tool-search', claims, request)).body as unknown as Found;
  await until('the tools are read', async () => (await search({ query: 'text' })).progress?.pending === 0);
  const found = await search({ query: QUERY, threshold: 0 });
  story.holds('a question in other words finds the tool first, by words and by meaning, without a network', () => {
    assert.equal(found.mode, 'hybrid');
    assert.equal(found.results[0]?.tool.tool_id, 'convert-currency', JSON.stringify(found.results));
    assert.ok((found.results[0]?.similarity ?? 0) > 0.5);
  });
  const tagged = await search({ query: QUERY, threshold: 0, tags: ['finance'] });
  const narrow = await search({ query: QUERY, threshold: 0 }, { tool_id: 'desk__*' });
  story.holds('filters hold, and a token finds only what it covers', () => {
    assert.deepEqual(
      tagged.results.map(({ tool }) => tool.tool_id),
      ['convert-currency'],
    );
    assert.ok(narrow.results.every(({ tool }) => tool.tool_id.startsWith('desk__')));
  });
  const cli = (await asJson(parts, 'tools', 'search', 'report a broken printer')) as unknown as Found;
  story.holds('tools search finds the help desk', () => {
    assert.ok(
      cli.results.slice(0, 3).some(({ tool }) => tool.tool_id === 'desk__openTicket'),
      JSON.stringify(cli.results),
    );
  });
}
