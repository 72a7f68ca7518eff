import assert from 'node:assert/strict';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type RegistryParts, withMcpClient } from '../registry-story.ts';

/** Three tools that lead to all others, for a client that would rather not read every schema. */
export async function metaToolsChapter(parts: RegistryParts): Promise<void> {
  const { story, layer } = parts;
  story.step('Three tools instead of all');
  await withMcpClient(parts, '/mcp?tools=meta', { agent_did: 'did:example:planner' }, async (client) => {
    const { tools } = await client.listTools();
    story.holds('a client that asks for it sees find_tools, describe_tool and call_tool', () => {
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['find_tools', 'describe_tool', 'call_tool'],
      );
    });
    const query = { query: 'how long will I sit over this article', limit: 3 };
    const found = await client.callTool({ name: 'find_tools', arguments: query });
    const [first] = (found.structuredContent as { tools: { name: string }[] }).tools;
    const described = await client.callTool({ name: 'describe_tool', arguments: { name: first?.name ?? '' } });
    story.holds('it finds one by what it does and reads its schema', () => {
      assert.equal(first?.name, 'reading-time', JSON.stringify(found.structuredContent));
      assert.partialDeepStrictEqual(described.structuredContent, { input_schema: { required: ['text'] } });
    });
    const called = await client.callTool({
      name: 'call_tool',
      arguments: { name: 'reading-time', arguments: { text: 'word '.repeat(400) } },
    });
    const invocation_id = String(called._meta?.['invocation_id']);
    const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
    story.holds('it calls it, and the record has the tool that ran', () => {
      assert.match(JSON.stringify(called.content), /"text":"3"/);
      assert.match(JSON.stringify(events), /"tool_id":"reading-time"/);
      assert.doesNotMatch(JSON.stringify(events), /call_tool/);
    });
  });
}
