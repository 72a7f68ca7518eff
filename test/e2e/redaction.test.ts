import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../src/index.ts';
import { openLayer } from './layer.fixture.ts';

const MAIL = 'ann.lee@example.org';
const CARD = '4539 1488 0343 6467';
const TOKEN = `gh${'p_'}${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
const PASSWORD = 'h0rse!battery';

test('AUD-04 what callers, tools and operators say in passing stays out of rows, events and files, and the audit is whole', async () => {
  await using opened = await openLayer();
  const { layer, folder } = opened;
  const { capability_token } = await layer.mintToken({ user_did: `did:user:${MAIL}`, session_id: `card ${CARD}` });
  const fails = { name: 'fails', description: 'Fails.', input: { type: 'object' }, sideEffect: 'pure' } as const;
  await layer.registerFunction(fails, () => {
    throw new Error(`login with password = "${PASSWORD}" for ${MAIL} failed`);
  });
  const call = (tool_id: string) => layer.invoke({ tool_id, parameters: {}, capability_token });
  const unknown = await call(TOKEN);
  const failed = await call('fails');
  expect([unknown.status, failed.status]).toEqual(['error', 'error']);
  const retire = { tool_id: 'fails', version: '1.0.0', reason: `asked for by ${MAIL}` };
  await layer.ask('tools.deprecate', retire, LOCAL_CALLER);
  const rows = await Promise.all(
    [unknown, failed].map(({ invocation_id }) => layer.ask('tool.status', { invocation_id }, LOCAL_CALLER)),
  );
  const { events } = await layer.ask('audit.query', { limit: 1000 }, LOCAL_CALLER);
  const verified = await layer.ask('audit.verify', {}, LOCAL_CALLER);
  await layer.close();
  const file = await readFile(join(folder, 'audit.jsonl'), 'utf8');
  const written = { rows: JSON.stringify(rows), events: JSON.stringify(events), file };
  for (const [where, text] of Object.entries(written)) {
    for (const planted of [MAIL, CARD, TOKEN, PASSWORD])
      expect(text.includes(planted), `${planted} in ${where}`).toBe(false);
    expect(text).toContain('[REDACTED:');
  }
  expect(verified.whole).toBe(true);
});
