import assert from 'node:assert/strict';
import { type ApprovalParts, call, done, refused, untilSent, waitingCall } from '../approvals-story.ts';

/** An approval, a denial, an edit, and an approval for a while, from the command line. */
export async function decidingChapter(parts: ApprovalParts): Promise<void> {
  await approved(parts);
  await no(parts);
  await edit(parts);
  await always(parts);
}

async function approved(parts: ApprovalParts): Promise<void> {
  const { story, mailRoom, sallyport } = parts;
  story.step('An approval is for one call');
  const [one, twin] = [await waitingCall(parts, 'invoice', 'ada'), await waitingCall(parts, 'invoice', 'ada')];
  const { stdout } = await sallyport('approvals', 'show', one.approval);
  story.holds('an approver sees what would be sent to whom, and nothing has been', () => {
    assert.match(stdout, /"to": "ada"/);
    assert.deepEqual(mailRoom.sent, []);
  });
  const digest = /--digest ([0-9a-f]{64})/.exec(stdout)?.[1] ?? '';
  await done(parts, 'approvals', 'approve', one.approval, '--digest', digest);
  await untilSent(parts, 1);
  const other = await done(parts, 'calls', 'show', twin.id);
  story.holds('the same call once more waits on: it was not asked about', () => {
    assert.deepEqual([mailRoom.sent, other['status']], [['invoice to ada'], 'pending_approval']);
  });
  await done(parts, 'approvals', 'deny', twin.approval);
}

async function no(parts: ApprovalParts): Promise<void> {
  const { story, sallyport } = parts;
  story.step('A no is for good');
  const { id, approval } = await waitingCall(parts, 'invoice', 'bob');
  await done(parts, 'approvals', 'deny', approval, '--reason', 'He has paid.');
  await refused(parts, 'E3817', 'approvals', 'approve', approval);
  const watched = await sallyport('calls', 'watch', id);
  story.holds('the call ends with the reason, and no later approval brings it back', () => {
    assert.deepEqual([watched.code, watched.stdout.trim()], [1, 'permission_denied']);
    assert.match(watched.stderr, /E3807.*He has paid/);
  });
}

async function edit(parts: ApprovalParts): Promise<void> {
  const { story, mailRoom } = parts;
  story.step('An edit is checked like what came');
  const { approval } = await waitingCall(parts, 'invoice', 'carol');
  await refused(parts, 'E3509', 'approvals', 'edit', approval, JSON.stringify({ to: 'x'.repeat(41) }));
  await done(parts, 'approvals', 'edit', approval, '{"to":"carol & sons"}');
  await untilSent(parts, 2);
  story.holds('what does not fit is refused, and what the approver wrote is sent', () => {
    assert.equal(mailRoom.sent[1], 'invoice to carol & sons');
  });
}

async function always(parts: ApprovalParts): Promise<void> {
  const { story, mailRoom } = parts;
  story.step('An approval for a while is a rule that can be seen and taken back');
  const { approval } = await waitingCall(parts, 'invoice', 'dan');
  await done(parts, 'approvals', 'approve', approval, '--always', 'exact_arguments', '--for', '1h');
  await untilSent(parts, 3);
  const passed = await call(parts, 'invoice', 'dan');
  const different = await waitingCall(parts, 'invoice', 'eve');
  await done(parts, 'approvals', 'deny', different.approval);
  const { rules } = (await done(parts, 'approvals', 'rules')) as { rules: { rule_id: string }[] };
  await done(parts, 'approvals', 'revoke-rule', rules[0]?.rule_id ?? '');
  const after = await waitingCall(parts, 'invoice', 'dan');
  await done(parts, 'approvals', 'deny', after.approval);
  story.holds('the very same call passes while it stands, any other asks', () => {
    assert.deepEqual([passed.status, rules.length, mailRoom.sent.length], ['success', 1, 4]);
  });
}
