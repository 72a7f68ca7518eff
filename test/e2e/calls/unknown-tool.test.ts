import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { cli } from '../upstreams/cli.fixture.ts';

const AGENT = 'did:example:a';

let open: OpenLayer;
let narrow: string;
let viewed: string;
beforeAll(async () => {
  open = await openLayer();
  for (const tool_id of ['notes__write_page', 'notes__write_plan', 'notes__write_past', 'weather_today'])
    await open.layer.registerFunction({ ...DOUBLE, tool_id }, double);
  const globex = { ...LOCAL_CALLER, tenantId: 'globex' };
  await open.layer.ask('tools.register', { manifest: { ...DOUBLE, tool_id: 'notes__write_pact' } }, globex);
  const hidden = { agent_did: AGENT, tool_id: 'notes__write_past', enabled: false };
  await open.layer.ask('activations.set', hidden, LOCAL_CALLER);
  narrow = (await open.layer.mintToken({ agent_did: AGENT, tool_id: 'notes__*' })).capability_token;
  viewed = (await open.layer.mintToken({ agent_did: 'did:example:viewed' })).capability_token;
  const tools = [{ tool: 'write_page', name: 'page_of_notes' }];
  const sources = [{ source: 'notes', tools }];
  const view = { name: 'one', agents: ['did:example:viewed'], conflict: 'prefix' as const, sources };
  await open.layer.ask('views.put', { view }, LOCAL_CALLER);
});
afterAll(() => open[Symbol.asyncDispose]());

interface Told {
  readonly e_code: string;
  readonly message: string;
  readonly details?: { readonly did_you_mean?: readonly string[] };
}

const rest = async (tool_id: string, token = narrow): Promise<Told> =>
  (await post({ ...open, token }, '/v1/invocations', JSON.stringify({ tool_id, parameters: { n: 1 } }))).body[
    'error'
  ] as Told;

const mcp = async (name: string): Promise<Told> => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  onTestFinished(() => client.close());
  const requestInit = { headers: { authorization: `Bearer ${narrow}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), { requestInit }));
  const refused = await client.callTool({ name, arguments: { n: 1 } }).catch((thrown: unknown) => thrown);
  const { message, data } = refused as { readonly message: string; readonly data: Told };
  return { ...data, message: message.slice(message.indexOf('There')) };
};

describe('MOD-01 VIS-01 a name that no tool has is told with the nearest that the caller sees', () => {
  test.each([
    ['REST', rest],
    ['MCP', mcp],
  ] as const)('over %s: neither a tool of another tenant nor one disabled for the agent', async (_door, ask) => {
    const near = ['notes__write_page', 'notes__write_plan'];
    for (const name of ['notes__write_pa', 'notes__write_pact', 'notes__write_past']) {
      const { e_code, message, details } = await ask(name);
      expect([e_code, details?.did_you_mean?.toSorted()]).toEqual(['E3001', near]);
      expect(message).toMatch(/^There is no tool "notes__write_\w+"\. Did you mean "notes__write_p\w+" or "notes__/);
      expect(message).not.toMatch(/"notes__write_pa(?:ct|st)".*"notes__write_pa(?:ct|st)"/);
    }
    // The token does not allow this tool, so the error must not suggest its name.
    const other = await ask('notes__weather_today');
    expect(other.details?.did_you_mean ?? []).not.toContain('weather_today');
  });

  test('a token for some tools names no other ones, and the names are those of the view', async () => {
    const outside = await rest('note_write_plan');
    expect(outside).toMatchObject({
      e_code: 'E3209',
      details: { did_you_mean: expect.arrayContaining(['notes__write_plan']) },
    });
    expect((await rest('weather_todya')).details?.did_you_mean).toBeUndefined();
    expect((await rest('page_of_note', viewed)).details?.did_you_mean).toEqual(['page_of_notes']);
    expect((await rest('notes__write_page', viewed)).details?.did_you_mean ?? []).not.toContain('notes__write_page');
  });

  test('over the command line, for who sits at the machine and for a token', async () => {
    for (const argv of [
      ['invoke', 'weather_tody', '{}'],
      ['invoke', 'weather_tody', 'n=1'],
      ['tools', 'show', 'weather_tody'],
    ]) {
      const { code, err } = await cli(open, argv);
      expect([code, err]).toEqual([
        1,
        'E3001 tool_not_found: There is no tool "weather_tody". Did you mean "weather_today"?\n',
      ]);
    }
    const { err } = await cli(open, ['invoke', 'notes__write_pat', '{}', '--token', narrow]);
    expect(err).toMatch(/^E3001 tool_not_found: .* Did you mean "notes__write_p(?:age|lan)"/);
    expect(err).not.toContain('past');
    expect((await cli(open, ['tools', 'show', 'q', '--json'])).err).toContain('List the tools');
  });
});
