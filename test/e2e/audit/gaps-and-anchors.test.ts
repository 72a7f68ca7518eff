import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Anchor } from '../../../packages/sallyport/api/schemas/audit.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

/** A client with the rights of the database's owner, who knows the tables. */
let intruder: Client;
let opened: OpenLayer;

beforeEach(async () => {
  opened = await openLayer({ 'audit.checkpoint_seconds': 3_600 });
  const { layer } = opened;
  await layer.registerFunction(DOUBLE, double);
  const write = { ...DOUBLE, tool_id: 'write', side_effect_policy: 'irreversible' } as const;
  await layer.registerFunction(write, double);
  const { socketFolder: host, ...rest } = layer.embeddedDatabase ?? expect.fail('the database is embedded');
  intruder = new Client({ host, ...rest });
  await intruder.connect();
  await intruder.query('alter table sallyport.audit_events disable trigger all');
  await intruder.query('alter table sallyport.audit_checkpoints disable trigger all');
});
afterEach(async () => {
  await intruder.end();
  await opened[Symbol.asyncDispose]();
});

const verify = () => opened.layer.ask('audit.verify', {}, LOCAL_CALLER);

async function call(tool_id: string): Promise<string> {
  const { body } = await post(opened, '/v1/invocations', JSON.stringify({ tool_id, parameters: { n: 2 } }));
  return String(body['invocation_id']);
}

test('AUD-07.2 AUD-07.3 every call has its beginning and its end in the chain; a row that was taken out or changed is named', async () => {
  const [gone, changed, refused] = [await call('write'), await call('double'), await call('nothing')];
  expect(await verify()).toMatchObject({ whole: true, calls: { checked: 3, open: 0, gaps: 0 } });

  await intruder.query('delete from sallyport.tool_invocations where invocation_id = $1', [gone]);
  const edit = `update sallyport.tool_invocations set record = replace(record::text, $2, $3)::json where invocation_id = $1`;
  await intruder.query(edit, [changed, '"state":"COMPLETED"', '"state":"FAILED"']);
  const { rowCount } = await intruder.query(edit, [refused, '"state":"FAILED"', '"state":"DENIED"']);
  expect(rowCount).toBe(1);
  // One record without ids, from which a reader that continues after it would read the same page again; one that is
  // null.
  const others = [await call('double'), await call('double')];
  const replace = 'update sallyport.tool_invocations set record = $2::json where invocation_id = $1';
  await intruder.query(replace, [others[0], JSON.stringify({ tenantId: '', invocationId: '', state: 'COMPLETED' })]);
  await intruder.query(replace, [others[1], 'null']);
  const { whole, chains, calls } = await verify();
  expect({ whole, chains }).toMatchObject({ whole: false, chains: [{ whole: true }] });
  expect(Object.fromEntries(calls.first_gaps.map(({ invocation_id, reason }) => [invocation_id, reason]))).toEqual({
    [gone]: 'the chain records it, and it has no row',
    [changed]: 'its row says FAILED, and the chain records no such end',
    [refused]: 'its row says DENIED, and the chain records no such end',
    ...Object.fromEntries(others.map((id) => [id, expect.stringContaining('its row cannot be read')])),
  });
});

test('AUD-07.4 calls that are taken out of rows, chain and checkpoints are missed only by heads that were kept outside', async () => {
  await call('double');
  const signed = await post(opened, '/v1/audit/anchors', '{}', await operator());
  expect(signed.status).toBe(201);
  const early = signed.body['anchors'] as Anchor[];
  const last = await call('write');
  const late = (await opened.layer.ask('audit.anchor', {}, LOCAL_CALLER)).anchors;
  const compare = (anchors: Anchor[]) => opened.layer.ask('audit.verify-anchors', { anchors }, LOCAL_CALLER);
  expect(await compare([...early, ...late])).toEqual({ whole: true, checked: 2, faults: [] });

  const seq = early[0]?.seq;
  await intruder.query('delete from sallyport.tool_invocations where invocation_id = $1', [last]);
  await intruder.query('delete from sallyport.audit_events where first_seq > $1', [seq]);
  await intruder.query('delete from sallyport.audit_checkpoints where seq > $1', [seq]);
  // The running layer still knows which events it wrote last. After it has written more, only anchors kept outside show
  // the loss.
  expect(await verify()).toMatchObject({ calls: { gaps: 0 }, heads: { faults: [{ reason: WRITTEN_LAST_IS_GONE }] } });
  await opened.layer.invoke({ tool_id: 'double', parameters: { n: 1 } }, { token: opened.token });
  expect(await verify()).toMatchObject({ whole: true, calls: { gaps: 0 } });
  expect(await compare(early)).toMatchObject({ whole: true });
  expect(await compare(late)).toMatchObject({ whole: false, faults: [{ reason: LATE_IS_NOT_THERE }] });
});

const WRITTEN_LAST_IS_GONE = expect.stringMatching(/^event \d+, which this layer wrote last, is gone$/);
const LATE_IS_NOT_THERE = expect.stringMatching(/is gone|was written anew/);

test('AUD-07.4 each signed head is appended to the file of audit.anchor_file, the last one when the layer ends', async () => {
  const folder = opened.folder;
  const kept = join(folder, 'elsewhere', 'anchors.jsonl');
  await using other = await openLayer({ 'audit.checkpoint_seconds': 3_600, 'audit.anchor_file': kept });
  await other.layer.registerFunction(DOUBLE, double);
  await other.layer.invoke({ tool_id: 'double', parameters: { n: 1 } }, { token: other.token });
  await other.layer.close();
  const [anchor] = (await readFile(kept, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Anchor);
  expect(anchor).toMatchObject({ seq: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(anchor?.seq).toBeGreaterThan(3);
});

async function operator(): Promise<Record<string, string>> {
  const { capability_token } = await opened.layer.mintToken({ roles: ['operator'] });
  return { authorization: `Bearer ${capability_token}` };
}
