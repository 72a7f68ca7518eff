import { expect, test } from 'vitest';
import type { EventDraft } from './event-draft.ts';
import { heldDrafts, holdEvents } from './held-events.ts';

const ROW = { tenantId: 'acme', invocationId: 'call', agentDid: 'did:agent:a' };

const draft = (id: string, shared: string, own: string): EventDraft => ({
  id,
  type: 'ai.agent.tool.state_changed',
  time: 1_700_000_000_000,
  tenantId: ROW.tenantId,
  subject: ROW.invocationId,
  data: JSON.parse(`{${[shared, own].filter(Boolean).join()}}`),
  parts: { shared: JSON.parse(`{${shared}}`), own: JSON.parse(`{${own}}`) },
  agentDid: ROW.agentDid,
});

/** The events after they were stored in a row and read from it. */
const stored = (drafts: readonly EventDraft[]) =>
  JSON.parse(JSON.stringify({ ...ROW, heldEvents: holdEvents(drafts) }));

test.each([
  [
    'share their members',
    [draft('a', '"door":"rest","tool_id":"t"', '"state":"X"'), draft('b', '"door":"rest","tool_id":"t"', '')],
  ],
  ['share nothing', [draft('a', '', '"state":"\\"{\\u0000"'), draft('b', '', '"tool_id":"t"')]],
  ['share it in part', [draft('a', '"door":"rest"', '"state":"X"'), draft('b', '"door":"mcp"', '"state":"Y"')]],
])('AUD-03 events that %s come out of a row as they were', (_how, drafts) => {
  const back = heldDrafts(stored(drafts));
  expect(back).toEqual(drafts.map(({ parts: _parts, ...event }) => event));
});

test('a row that holds none gives none', () => {
  expect(heldDrafts(ROW)).toEqual([]);
  expect(heldDrafts(stored([]))).toEqual([]);
});
