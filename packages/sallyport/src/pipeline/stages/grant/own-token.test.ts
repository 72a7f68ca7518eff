import { expect, test } from 'vitest';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** A tool that needs a credential made from the caller's own token. */
async function layer(standing = false) {
  const asked: unknown[] = [];
  const made = await pipeline({
    workers: { refuses: () => undefined },
    approvalQuestions: {
      standing: () => (standing ? 'rule:r' : undefined),
      question(question) {
        asked.push(question);
        return { approvalId: 'a', ...question, requestedAt: 1, expiresAt: 4_102_444_800_000 };
      },
    },
    secrets: {
      read: async (_tenant, names) => new Map(names.map((name) => [name, 'value'])),
      ofCaller: (names) => names.filter((name) => name === 'own'),
    },
  });
  const needs = (credentials: string[]) => ({ permissions: { credentials } });
  await made.add(manifest('own', needs(['own', 'shared'])), () => 'ran');
  await made.add(manifest('shared', needs(['shared'])), () => 'ran');
  await made.add(manifest('asks', { ...needs(['own']), requires_confirmation: true }), () => 'ran');
  const capability_token = await made.token({ secrets: ['own', 'shared'] });
  const call = (tool_id: string, async_mode = false) =>
    made.call({ tool_id, parameters: { n: 1 }, capability_token, execution_options: { async_mode } });
  return { ...made, call, asked };
}

test('PRM-11 a call that needs its caller’s own token does not wait for a worker, and says how to call instead', async () => {
  const { call } = await layer();
  const refused = await call('own', true);
  expect(refused.failure).toMatchObject({ code: 'E3302', details: { missing: ['own'], waits: true } });
  expect(refused.failure?.message).toContain('without async_mode');
  expect(await call('own')).toMatchObject({ state: 'COMPLETED', result: 'ran' });
  expect(await call('shared', true)).toMatchObject({ state: 'AUTHORIZED' });
});

test('PRM-11 nor for a person, who would be asked in vain', async () => {
  const { call, asked } = await layer();
  expect((await call('asks')).failure).toMatchObject({ code: 'E3302', details: { waits: true } });
  expect(asked).toEqual([]);
  const allowed = await layer(true);
  expect(await allowed.call('asks')).toMatchObject({ state: 'COMPLETED' });
});

test('PRM-11 where no credential is made from a token, every call may wait', async () => {
  const made = await pipeline({ workers: { refuses: () => undefined } });
  await made.add(manifest('shared', { permissions: { credentials: ['shared'] } }), () => 'ran');
  const capability_token = await made.token({ secrets: ['shared'] });
  const later = { parameters: { n: 1 }, execution_options: { async_mode: true } };
  expect(await made.call({ tool_id: 'shared', capability_token, ...later })).toMatchObject({ state: 'AUTHORIZED' });
});
