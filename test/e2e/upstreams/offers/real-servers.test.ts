import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { ROOT } from '../../../../scripts/project-files.ts';
import { openDesk } from '../../calls/desk.fixture.ts';
import { connect } from './offers.fixture.ts';

const EVERYTHING = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

/** What a client learns of a server beside its tools. */
async function seenBy(client: Client) {
  const { resources } = await client.listResources();
  const [first] = resources;
  const { prompts } = await client.listPrompts();
  return {
    instructions: client.getInstructions(),
    resources,
    prompts,
    templates: (await client.listResourceTemplates()).resourceTemplates,
    contents: (await client.readResource({ uri: String(first?.uri) })).contents,
    messages: (await client.getPrompt({ name: 'simple-prompt' })).messages,
  };
}

const byText = (one: object, other: object): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

test('API-03.19 the real server-everything is seen at its address as it is seen without the layer', async () => {
  await using desk = await openDesk();
  const transport = { type: 'stdio' as const, command: process.execPath, args: [EVERYTHING] };
  await desk.layer.ask('upstreams.add', { upstream: { name: 'everything', transport } }, LOCAL_CALLER);
  const direct = new Client({ name: 'direct', version: '1.0.0' });
  await direct.connect(new StdioClientTransport({ command: process.execPath, args: [EVERYTHING], stderr: 'ignore' }));
  const ours = await connect(desk, await desk.token(), { path: '/mcp/servers/everything' });
  try {
    const [expected, found] = [await seenBy(direct), await seenBy(ours)];
    expect(expected.resources.length).toBeGreaterThan(0);
    for (const list of ['resources', 'prompts', 'templates'] as const) {
      expect(found[list].toSorted(byText)).toEqual(expected[list].toSorted(byText));
    }
    expect(found.instructions).toBe(expected.instructions);
    expect(found.messages).toEqual(expected.messages);
    expect(found.contents.map(({ mimeType }) => mimeType)).toEqual(
      (await direct.readResource({ uri: String(found.resources[0]?.uri) })).contents.map(({ mimeType }) => mimeType),
    );
  } finally {
    await direct.close();
    await ours.close();
  }
});
