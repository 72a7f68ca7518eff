import assert from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { asJson, codeOf, invoke, type RegistryParts, refusalOf, withMcpClient } from '../registry-story.ts';

const SUPPORT = 'did:example:support';
const CLERK = 'did:example:clerk';
const CLOSE = 'desk__closeTicket';
/** JSON-RPC. */
const METHOD_NOT_FOUND = -32601;

/** What each agent sees: a view of its own, or everything but what was disabled. */
export async function agentsChapter(parts: RegistryParts): Promise<void> {
  parts.story.step('A view: one agent, its own names');
  await asJson(parts, 'views', 'put', parts.here('inputs/support-view.yaml'));
  await withMcpClient(parts, '/mcp', { agent_did: SUPPORT }, (client) => throughView(parts, client));
  parts.story.step('An activation: one tool, one agent, and why not');
  await withMcpClient(parts, '/mcp/discovery', { agent_did: CLERK }, (client) => discovered(parts, client));
}

async function throughView(parts: RegistryParts, client: Client): Promise<void> {
  const { story, layer } = parts;
  const { tools } = await client.listTools();
  story.holds('the MCP gateway lists what the view has, under the names that it gives', () => {
    assert.deepEqual(tools.map(({ name }) => name).sort(), ['listTickets', 'report-problem', 'to-euros']);
  });
  const schema = tools.find(({ name }) => name === 'report-problem')?.inputSchema;
  const reported = await client.callTool({ name: 'report-problem', arguments: { body: { subject: 'No light' } } });
  story.holds('an argument that the view fills in is asked of nobody', () => {
    assert.deepEqual(schema?.required, ['body']);
    assert.match(JSON.stringify(reported.content), /\\"queue\\":\\"support\\"/);
  });
  const euros = await client.callTool({ name: 'to-euros', arguments: { amount: 4, from_currency: 'GBP' } });
  const invocation_id = String(euros._meta?.['invocation_id']);
  const { events } = await layer.ask('audit.query', { invocation_id }, LOCAL_CALLER);
  story.holds('the record names the tool itself, and how it was called', () => {
    assert.deepEqual(euros.content, [{ type: 'text', text: '5' }]);
    assert.match(JSON.stringify(events), /"tool_id":"convert-currency"/);
    assert.match(JSON.stringify(events), /"called_as":"to-euros"/);
  });
  const hidden = await invoke(parts, CLOSE, { number: 1 }, { agent_did: SUPPORT });
  const unused = await invoke(parts, 'nobody-ever-used-this', {}, { agent_did: SUPPORT });
  story.holds('what the view leaves out is, for this agent, as if it had never been', () => {
    assert.deepEqual([codeOf(hidden), codeOf(unused)], ['E3001', 'E3001']);
  });
}

async function discovered(parts: RegistryParts, client: Client): Promise<void> {
  const { story } = parts;
  const listOf = (list: string) => `sallyport://tools/agent/${encodeURIComponent(CLERK)}/${list}`;
  const { resourceTemplates } = await client.listResourceTemplates();
  const before = await namesAt(client, listOf('enabled'));
  story.holds('the discovery server offers four kinds of resources, and what the agent may use is one', () => {
    assert.equal(resourceTemplates.length, 4);
    assert.ok(before.some(({ name }) => name === CLOSE));
  });
  const updated = Promise.withResolvers<string>();
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri));
  await client.subscribeResource({ uri: listOf('unavailable') });
  await asJson(parts, 'activations', 'set', CLERK, CLOSE, '--disable', '--reason', 'Ask the desk.');
  const uri = await updated.promise;
  const missing = await namesAt(client, uri);
  const after = await namesAt(client, listOf('enabled'));
  story.holds('when a tool is disabled for an agent, its MCP client is notified, and reads why', () => {
    assert.ok(after.every(({ name }) => name !== CLOSE));
    const why = missing.find(({ name }) => name === CLOSE)?.why_unavailable;
    assert.deepEqual(why, { code: 'disabled_for_agent', message: 'Ask the desk.' });
  });
  const refused = await invoke(parts, CLOSE, { number: 1 }, { agent_did: CLERK });
  const other = await invoke(parts, CLOSE, { number: 1 });
  story.holds('its call is refused, and another agent closes the ticket', () => {
    assert.deepEqual([codeOf(refused), other.body['status']], ['E3001', 'success']);
  });
  const { code } = await refusalOf(client.callTool({ name: CLOSE, arguments: { number: 1 } }));
  story.holds('the discovery server itself calls nothing', () => assert.equal(code, METHOD_NOT_FOUND));
}

interface Listed {
  readonly name: string;
  readonly why_unavailable?: object;
}

async function namesAt(client: Client, uri: string): Promise<readonly Listed[]> {
  const [content] = (await client.readResource({ uri })).contents;
  return (JSON.parse(content !== undefined && 'text' in content ? content.text : '{}') as { tools: Listed[] }).tools;
}
