import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type McpServer, startMcpServer } from '../../mcp-transports/http/mcp-http.fixture.ts';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { callOptions } from './call-options.ts';

let server: McpServer;
beforeEach(async () => {
  server = await startMcpServer({ changesTogetherMs: 1 });
  const result_schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
  server.layer.addTool(manifestOf('add', { result_schema }), () => ({ sum: 3 }));
});
afterEach(() => server.close());

const asked = (operation: string) => server.layer.asked.filter((each) => each.operation === operation);

describe.each([
  { mode: 'all', call: { name: 'add' } },
  { mode: 'meta', call: { name: 'call_tool', arguments: { name: 'add' } } },
] as const)('the official client, tools $mode', ({ mode, call }) => {
  it('PRM-09 says phase and claimed source in _meta, and they reach the call', async () => {
    const client = await server.client({ tools: mode });
    const _meta = { 'sallyport/phase': 'executor', 'sallyport/claim_source': 'a page' };
    await client.callTool({ ...call, _meta });
    expect(asked('tools.invoke').at(-1)?.input).toMatchObject({
      tool_id: 'add',
      execution_options: { phase: 'executor', claim_source: 'a page' },
    });
  });

  it('VIS-04 says the turn group in _meta, and it reaches the call', async () => {
    const client = await server.client({ tools: mode });
    await client.callTool({ ...call, _meta: { 'sallyport/turn_group_id': 't-1' } });
    expect(asked('tools.invoke').at(-1)?.input).toMatchObject({ execution_options: { turn_group_id: 't-1' } });
    await expect(client.callTool({ ...call, _meta: { 'sallyport/turn_group_id': 7 } })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it('STA-02 names the checkpoint that it continues from in _meta, and it reaches the call', async () => {
    const client = await server.client({ tools: mode });
    await client.callTool({ ...call, _meta: { 'sallyport/resume_from_checkpoint_id': 'c-1' } });
    expect(asked('tools.invoke').at(-1)?.input).toMatchObject({
      checkpoint_config: { resume_from_checkpoint_id: 'c-1' },
    });
    const faulty = { ...call, _meta: { 'sallyport/resume_from_checkpoint_id': 1 } };
    await expect(client.callTool(faulty)).rejects.toMatchObject({ code: -32602 });
  });

  it('EXE-10 says variables and trust in _meta, and they reach the call', async () => {
    const client = await server.client({ tools: mode });
    const _meta = { 'sallyport/environment': { PROJECT: 'demo' }, 'sallyport/trust_level': 'provisional' };
    await client.callTool({ ...call, _meta });
    expect(asked('tools.invoke').at(-1)?.input).toMatchObject({
      execution_options: { environment: { PROJECT: 'demo' }, trust_level: 'provisional' },
    });
  });

  it('PIPE-15 asks for a dry run, which calls nothing', async () => {
    const told = { would: 'run', tool_id: 'add', stages: [] };
    server.layer.answers.set('tools.dry-run', () => told);
    const client = await server.client({ tools: mode });
    const result = await client.callTool({ ...call, _meta: { 'sallyport/dry_run': true } });
    expect(result).toMatchObject({ isError: true, _meta: { 'sallyport/dry_run': told } });
    expect(asked('tools.invoke')).toEqual([]);
  });

  it('a fault in _meta is a protocol error, and calls nothing', async () => {
    const client = await server.client({ tools: mode });
    for (const _meta of [
      { 'sallyport/dry_run': 'true' },
      { 'sallyport/phase': 'night' },
      { 'sallyport/claim_source': 1 },
      { 'sallyport/environment': { PROJECT: 1 } },
      { 'sallyport/environment': ['PROJECT=demo'] },
      { 'sallyport/trust_level': 'root' },
    ])
      await expect(client.callTool({ ...call, _meta })).rejects.toMatchObject({ code: -32602 });
    expect([...asked('tools.invoke'), ...asked('tools.dry-run')]).toEqual([]);
  });
});

it('PIPE-15.1 an unknown option is refused: a misspelt dry run must not run', () => {
  expect(callOptions({ tool_id: 'add' }, { _meta: { 'sallyport/dryrun': true } })).toMatch(
    /^_meta\.sallyport\/dryrun is no option .+ sallyport\/dry_run\.$/,
  );
  expect(callOptions({ tool_id: 'add' }, { _meta: { [`sallyport/${'x'.repeat(9_000)}`]: 1 } })).toMatch(/^.{300,320}$/);
  expect(callOptions({ tool_id: 'add' }, { _meta: { 'sallyport/checkpoints': {} } })).toMatchObject({ dryRun: false });
});

it('a call whose _meta says nothing of these is passed on as it is', () => {
  const input = { tool_id: 'add' };
  expect(callOptions(input, { _meta: { progressToken: 1 } })).toEqual({ input, dryRun: false });
  expect(callOptions(input, { _meta: { 'sallyport/dry_run': false } })).toMatchObject({ dryRun: false });
});
