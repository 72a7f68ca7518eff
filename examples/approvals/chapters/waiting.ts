import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type ApprovalParts, done, untilSent, waitingCall } from '../approvals-story.ts';

/** The user at a client, a question that nobody answers, and a power cut. */
export async function waitingChapter(parts: ApprovalParts): Promise<void> {
  await atClient(parts);
  await expiry(parts);
  await powerCut(parts);
}

async function atClient({ story, mailRoom, layer, token }: ApprovalParts): Promise<void> {
  story.step('The user confirms at an MCP client');
  const client = new Client({ name: 'approvals', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  const answers = [true, false];
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { confirm: answers.shift() === true } };
  });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${layer().url}/mcp`), { requestInit }));
  const remind = (to: string) => client.callTool({ name: 'send-reminder', arguments: { to } });
  const [yes, no] = [await remind('ada'), await remind('bob')];
  await client.close();
  story.holds('a tick sends it, an empty box ends it, and each was asked about once', () => {
    assert.match(JSON.stringify(yes), /\\"sent\\":true|"sent":true/);
    assert.match(JSON.stringify(no), /E3807/);
    assert.equal(asked.length, 2);
    assert.match(asked[0] ?? '', /Send the reminder\?[\s\S]*"to":"ada"/);
    assert.equal(mailRoom.sent.filter((letter) => letter.startsWith('reminder')).length, 1);
  });
}

async function expiry(parts: ApprovalParts): Promise<void> {
  const { story, sallyport } = parts;
  story.step('Nobody answers in time');
  const { id } = await waitingCall(parts, 'notice', 'ada');
  const watched = await sallyport('calls', 'watch', id);
  story.holds('that is an expiry, and not called a no', () => {
    // A slow machine begins to watch when the wait is over.
    assert.match(watched.stdout, /^(?:pending_approval[\s\S]*)?timeout\n$/);
    assert.match(watched.stderr, /E3808/);
  });
}

async function powerCut(parts: ApprovalParts): Promise<void> {
  const { story, mailRoom, layer, restart } = parts;
  story.step('A power cut while a call waits');
  const { id, approval } = await waitingCall(parts, 'invoice', 'frank');
  const before = mailRoom.sent.length;
  await layer().kill();
  await restart();
  const { approvals } = (await done(parts, 'approvals', 'list')) as { approvals: { approval_id: string }[] };
  story.holds('it still waits afterwards', () => {
    assert.deepEqual(
      approvals.map(({ approval_id }) => approval_id),
      [approval],
    );
  });
  await done(parts, 'approvals', 'approve', approval);
  await untilSent(parts, before + 1);
  const watched = await parts.sallyport('calls', 'watch', id);
  const audit = await parts.sallyport('audit', 'verify');
  story.holds('and is sent once when somebody approves, with a whole audit', () => {
    assert.deepEqual([watched.code, audit.code, mailRoom.sent.length], [0, 0, before + 1]);
  });
}
