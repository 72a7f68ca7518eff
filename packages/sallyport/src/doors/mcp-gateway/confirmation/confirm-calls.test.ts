import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type McpServer, startMcpServer } from '../../mcp-transports/http/mcp-http.fixture.ts';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type WaitingLayer, waitingLayer } from './waiting-layer.fixture.ts';

let server: McpServer;
let desk: WaitingLayer;

async function start(settings: Parameters<typeof startMcpServer>[0] = {}, lifeMs?: number): Promise<void> {
  const reasonOf = (toolId: string) => (toolId === 'approve' ? 'requires_approval' : 'requires_confirmation');
  const made = waitingLayer(() => server.layer, reasonOf, lifeMs);
  desk = made;
  server = await startMcpServer(settings, { confirmations: made });
  made.install();
  const result_schema = { type: 'object', properties: { ran: { type: 'object' } }, required: ['ran'] };
  for (const name of ['ask', 'approve']) server.layer.addTool(manifestOf(name, { result_schema }), () => ({}));
}
beforeEach(() => start());
afterEach(() => server.close());

type Result = Awaited<ReturnType<Client['callTool']>>;
const textOf = ({ content }: Result): string =>
  (content as { text?: string }[]).map(({ text = '' }) => text).join('\n');
const yes = { action: 'accept' as const, content: { confirm: true } };

describe.each([
  { era: 'legacy', auto: false },
  { era: 'modern', auto: true },
])('the official client, $era era', ({ auto }) => {
  it('VIS-06 a call that waits is told as a result that a model understands, with ids, the question and how to ask again', async () => {
    const client = await server.client({ auto });
    await client.listTools();
    const result = await client.callTool({ name: 'ask', arguments: { n: 1 } });
    expect(result.isError).toBe(true);
    const [[approvalId, { response }] = ['', { response: { invocation_id: '' } }]] = desk.calls;
    expect(textOf(result).split('\n')).toEqual([
      '[pending_approval]',
      'message: The call waits for a confirmation: its tool runs with one only. Nothing was run.',
      'asked: Really?',
      `approval_id: ${approvalId}`,
      `invocation_id: ${response.invocation_id}`,
      expect.stringMatching(/^expires_at: 20/),
      `status_url: /v1/invocations/${response.invocation_id}`,
      expect.stringContaining('repeat the same call with the same arguments'),
    ]);
    expect(result._meta).toMatchObject({ status: 'pending_approval', approval: { approval_id: approvalId } });
    expect(desk.answers).toEqual([]);
  });

  it('ORC-03.4 API-03.11 the user is asked by elicitation, in the words of the tool, and with an approval the call runs', async () => {
    const asked: unknown[] = [];
    const onElicit = (params: unknown) => {
      asked.push(params);
      return yes;
    };
    const client = await server.client({ auto, onElicit });
    const result = await client.callTool({ name: 'ask', arguments: { n: 1 } });
    expect(result).toMatchObject({ structuredContent: { ran: { n: 1 } } });
    expect(asked).toMatchObject([{ requestedSchema: { required: ['confirm'] } }]);
    const { message } = asked[0] as { message: string };
    expect(message).toContain('did:example:a wants to run ask 1.0.0.');
    expect(message).toContain('The tool says: Really?');
    expect(message).toContain('Arguments: {"n":1}');
    expect(desk.answers).toMatchObject([{ tenantId: 'acme', by: { agentDid: 'did:example:a' }, accepted: true }]);
    expect(desk.ran).toEqual([{ n: 1 }]);
  });

  it.each([
    ['declines', { action: 'decline' as const }],
    ['says no in the form', { action: 'accept' as const, content: { confirm: false } }],
  ])('ORC-05 a call whose user %s never runs, and the model is told of the denial', async (_how, answer) => {
    const client = await server.client({ auto, onElicit: () => answer });
    const result = await client.callTool({ name: 'ask', arguments: { n: 1 } });
    expect(textOf(result)).toContain('category: PolicyBlocked');
    expect(result._meta).toMatchObject({ error: { e_code: 'E3807' } });
    expect(desk.ran).toEqual([]);
  });

  it.each([
    ['closes the question', { action: 'cancel' as const }],
    ['answers without content', { action: 'accept' as const }],
  ])('a call whose user %s goes on waiting', async (_how, answer) => {
    const client = await server.client({ auto, onElicit: () => answer });
    const result = await client.callTool({ name: 'ask', arguments: { n: 1 } });
    expect(textOf(result)).toContain('note: The user was asked at the client and has not decided.');
    expect(desk.answers).toEqual([]);
    expect([...desk.calls.values()]).toMatchObject([{ response: { status: 'pending_approval' } }]);
  });

  it('ORC-03 what needs an approver is never asked at the client', async () => {
    const client = await server.client({ auto, onElicit: () => yes });
    const result = await client.callTool({ name: 'approve' });
    expect(textOf(result)).toContain('waits for an approver');
    expect([desk.answers, desk.ran]).toEqual([[], []]);
  });

  it('an operator switches the questions off', async () => {
    await server.close();
    await start({ elicitation: 'off' });
    const client = await server.client({ auto, onElicit: () => yes });
    expect(textOf(await client.callTool({ name: 'ask' }))).toContain('[pending_approval]');
    expect(desk.answers).toEqual([]);
  });

  it('ORC-05 answers to two questions that cross each other go to their own calls', async () => {
    const answers = new Map<string, (answer: typeof yes | { action: 'decline' }) => void>();
    const client = await server.client({
      auto,
      onElicit: (params) => new Promise((resolve) => answers.set(/"n":(\d)/.exec(params.message)?.[1] ?? '', resolve)),
    });
    const one = client.callTool({ name: 'ask', arguments: { n: 1 } });
    const two = client.callTool({ name: 'ask', arguments: { n: 2 } });
    await expect.poll(() => answers.size).toBe(2);
    answers.get('2')?.(yes);
    expect(await two).toMatchObject({ structuredContent: { ran: { n: 2 } } });
    answers.get('1')?.({ action: 'decline' });
    expect((await one)._meta).toMatchObject({ error: { e_code: 'E3807' } });
    expect(desk.ran).toEqual([{ n: 2 }]);
  });

  it('ORC-05 an approval that comes when the approval is over changes nothing, and what became of the call is told', async () => {
    const client = await server.client({
      auto,
      onElicit: () => {
        for (const id of desk.calls.keys()) desk.end(id, 'expired');
        return yes;
      },
    });
    const result = await client.callTool({ name: 'ask', arguments: { n: 1 } });
    expect(result._meta).toMatchObject({ error: { e_code: 'E3808' } });
    expect(desk.ran).toEqual([]);
  });

  it('the same call again asks what became of the first, and runs nothing twice', async () => {
    const client = await server.client({ auto });
    const call = { name: 'ask', arguments: { n: 1 } };
    await client.callTool(call);
    expect(textOf(await client.callTool(call))).toContain('[pending_approval]');
    expect(desk.calls.size).toBe(1);
    const [approvalId = ''] = desk.calls.keys();
    desk.end(approvalId, 'approved');
    await expect.poll(() => desk.ran.length).toBe(1);
    expect(await client.callTool(call)).toMatchObject({ structuredContent: { ran: { n: 1 } } });
    await client.callTool({ name: 'ask', arguments: { n: 2 } });
    await (await server.client({ auto, token: 'agent-b' })).callTool(call);
    expect([desk.calls.size, desk.ran.length]).toEqual([3, 1]);
  });
});
