import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedactor } from '@sallyport/guards';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { silentLog } from '../../telemetry/log.ts';
import { openLedger } from '../ledger.ts';
import { createEntryRedaction } from '../redaction.ts';
import { startRelay } from '../relay.ts';
import { openJsonlEventSink } from '../sinks/jsonl/jsonl-event-sink.ts';
import { verifyLedger } from '../verify-ledger.ts';

const MAIL = 'ann.lee@example.org';
const TOKEN = `gh${'p_'}${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
const signer = { sign: async () => ({ keyId: 'k', signature: 's' }), verify: async () => true };

const draft = (more: Partial<EventDraft>): EventDraft => ({
  id: 'e1',
  type: 'ai.agent.registry.changed',
  time: 1,
  tenantId: 'acme',
  data: {},
  ...more,
});

const record = (more: Partial<InvocationRecord> = {}): InvocationRecord => ({
  invocationId: 'i1',
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  toolId: 'mail',
  door: 'rest',
  state: 'FAILED',
  instanceId: 'one',
  warnings: [],
  acceptedAt: 1,
  ...more,
});

/** An event of a call as it is written: with members that its row has too, and members of its own. */
const written = (own: Record<string, unknown>, shared: Record<string, unknown> = {}): EventDraft => ({
  id: 'e2',
  type: 'ai.agent.tool.failed',
  time: 2,
  tenantId: 'acme',
  subject: 'i1',
  data: { ...shared, ...own },
  parts: { shared, own },
});

describe('the redaction of entries', () => {
  const redaction = createEntryRedaction(createRedactor());

  test('AUD-04.4 nothing sensitive reaches store, chain or file, and the chain is whole', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redaction-'));
    try {
      const store = memoryLedgerStore();
      const sink = await openJsonlEventSink(join(folder, 'audit.jsonl'));
      const relay = startRelay({ store, chainId: 'one', sinks: [sink], log: silentLog });
      const ledger = await openLedger({ store, chainId: 'one', log: silentLog, onCommitted: relay.offer });
      const call = {
        agent_did: 'did:agent:a',
        invocation_id: 'i1',
        session_id: `of ${MAIL}`,
        tenant_id: 'acme',
        tool_id: TOKEN,
      };
      await ledger.commit({
        record: record({
          sessionId: `of ${MAIL}`,
          toolId: TOKEN,
          failure: { failed: true, code: 'E3001', message: `no ${TOKEN}` },
        }),
        events: [{ ...written({ state: 'DECLARED' }, call), id: 'e0' }, written({ state: 'FAILED' }, call)],
        durability: 'synchronous',
      });
      await ledger.commit({
        events: [draft({ subject: MAIL, data: { reason: `asked by ${MAIL}`, password: 'x' } })],
        durability: 'synchronous',
      });
      await ledger.close();
      await relay.close();
      const stored = JSON.stringify([await store.chainEvents('one', 0, 10), await store.findInvocation('acme', 'i1')]);
      const file = await readFile(join(folder, 'audit.jsonl'), 'utf8');
      for (const text of [stored, file]) {
        expect(text).not.toContain(MAIL);
        expect(text).not.toContain(TOKEN);
        expect(text).toContain('[REDACTED:email]');
      }
      expect(file.trim().split('\n')).toHaveLength(3);
      expect(await verifyLedger(store, signer)).toMatchObject({ whole: true, events: 3 });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('an entry without anything sensitive is the very same afterwards', () => {
    const entry = {
      record: record({
        sessionId: 'morning',
        userDid: 'did:user:ann',
        warnings: [{ code: 'w', message: 'plain' }],
        failure: { failed: true, code: 'E3001', message: 'plain' },
      }),
      events: [written({ state: 'COMPLETED' }), draft({ data: { change: 'registered', version: '1.0.0' } })],
      durability: 'asynchronous' as const,
    };
    expect(redaction(entry)).toBe(entry);
  });

  test('AUD-04 messages, details and warnings lose what is sensitive; ids and the result stay', () => {
    const { record: row } = redaction({
      record: record({
        invocationId: '4539148803436467',
        tenantId: MAIL,
        result: { mail: MAIL },
        failure: { failed: true, code: 'E3001', message: `for ${MAIL}`, details: { given: { token: 'abc' } } },
        warnings: [{ code: 'w', message: `from 10.1.2.3` }],
      }),
      events: [],
      durability: 'asynchronous',
    });
    expect(row).toMatchObject({
      invocationId: '4539148803436467',
      tenantId: MAIL,
      result: { mail: MAIL },
      failure: { code: 'E3001', message: 'for [REDACTED:email]', details: { given: { token: '[REDACTED:token]' } } },
      warnings: [{ code: 'w', message: 'from [REDACTED:ip]' }],
    });
  });

  test('AUD-04 what only the event of a call says is looked at too', () => {
    const said = written({
      hooks: [{ reason: `blocked ${MAIL}` }],
      invocation_id: 'i1',
      state: 'DENIED',
      tenant_id: 'acme',
    });
    const { events } = redaction({ record: record(), events: [said], durability: 'asynchronous' });
    expect(canonicalJson(events[0]?.data)).toBe(
      '{"hooks":[{"reason":"blocked [REDACTED:email]"}],"invocation_id":"i1","state":"DENIED","tenant_id":"acme"}',
    );
  });

  test('AUD-04.4 a person in a row stays there, and is redacted in the events, which are found by the agent', () => {
    for (const [name, own] of [
      ['agentDid', 'agent_did'],
      ['userDid', 'user_did'],
    ] as const) {
      const entry = {
        record: record({ [name]: MAIL }),
        events: [written({ state: 'FAILED' }, { invocation_id: 'i1', [own]: MAIL })],
        durability: 'asynchronous' as const,
      };
      const { record: row, events } = redaction(entry);
      expect(row).toBe(entry.record);
      expect(events[0]).toMatchObject({ data: { [own]: '[REDACTED:email]', state: 'FAILED' } });
      expect(events[0]).not.toHaveProperty('parts');
      expect(events[0]?.agentDid).toBe(name === 'agentDid' ? MAIL : undefined);
    }
  });

  test('AUD-04.4 the agent by which an event is found stays that of its draft, and is none where there was none', () => {
    const agentOf = (more: Partial<EventDraft>) =>
      redaction({ events: [draft(more)], durability: 'asynchronous' }).events[0]?.agentDid;
    expect(agentOf({ agentDid: 'did:agent:a', data: { agent_did: MAIL } })).toBe('did:agent:a');
    expect(agentOf({ data: { agent_did: 7, note: MAIL } })).toBeUndefined();
  });

  test('AUD-04.4 the subject of an event stays when it is the id of its call, and is looked at otherwise', () => {
    const card = '4539148803436467';
    const subjectOf = (subject: string | undefined, data: EventDraft['data']) => {
      const events = [draft({ data, ...(subject === undefined ? {} : { subject }) })];
      return redaction({ events, durability: 'asynchronous' }).events[0];
    };
    expect(subjectOf(card, { invocation_id: card, note: MAIL })).toMatchObject({
      subject: card,
      data: { invocation_id: card, note: '[REDACTED:email]' },
    });
    expect(subjectOf(card, { invocation_id: 'i1' })?.subject).toBe('[REDACTED:card]');
    expect(subjectOf(MAIL, {})).toMatchObject({ subject: '[REDACTED:email]', data: {} });
    expect(subjectOf(undefined, { note: MAIL })).not.toHaveProperty('subject');
  });

  test('AUD-04.4 an id that is redacted nowhere else is not invented in an event that has none', () => {
    const [event] = redaction({ events: [draft({ data: { note: MAIL } })], durability: 'asynchronous' }).events;
    expect(event?.data).toEqual({ note: '[REDACTED:email]' });
  });

  test.each(['sessionId', 'toolId', 'calledAs', 'claimSource'] as const)(
    'AUD-04.4 %s of a row is looked at',
    (name) => {
      const given = { record: record({ [name]: `of ${MAIL}` }), events: [], durability: 'asynchronous' as const };
      expect(redaction(given).record).toEqual({ ...given.record, [name]: 'of [REDACTED:email]' });
    },
  );

  test('AUD-04.4 the decision of a gate is looked at', () => {
    const gateDecision = { reason: `because of ${MAIL}` } as never;
    const given = { record: record({ gateDecision }), events: [], durability: 'asynchronous' as const };
    expect(redaction(given).record).toMatchObject({ gateDecision: { reason: 'because of [REDACTED:email]' } });
  });

  test('a name that stands alone is a name: nine digits of a session are no social security number', () => {
    const entry = { record: record({ sessionId: '219438765' }), events: [], durability: 'asynchronous' as const };
    expect(redaction(entry)).toBe(entry);
  });
});

test('AUD-04.4 of the events of an entry those that hold something are changed, and the others stay as they are', () => {
  const redaction = createEntryRedaction(createRedactor());
  const plain = draft({ data: { note: 'plain' } });
  const entry = { events: [plain, draft({ data: { note: MAIL } }), plain], durability: 'synchronous' } as const;
  const { events, durability } = redaction(entry);
  expect([events.length, events[0], events[2], durability]).toEqual([3, plain, plain, 'synchronous']);
  expect(JSON.stringify(events[1])).not.toContain(MAIL);
  const whole = { events: [plain], durability: 'synchronous' } as const;
  expect(redaction(whole)).toBe(whole);
});

test('a name is judged once, as long as it is among the last two thousand and no longer than a thousand characters', () => {
  const judged: string[] = [];
  const { value } = createRedactor();
  const redaction = createEntryRedaction({
    ...createRedactor(),
    value(given) {
      judged.push((given as { text: string }).text);
      return value(given);
    },
  });
  const judgedOf = (...names: string[]): number => {
    judged.length = 0;
    for (const toolId of names) redaction({ record: record({ toolId }), events: [], durability: 'asynchronous' });
    return judged.filter((name) => names.includes(name)).length;
  };
  const [most, longer] = ['n'.repeat(1_000), 'n'.repeat(1_001)];
  expect([judgedOf('one', 'one'), judgedOf(most, most), judgedOf(longer, longer)]).toEqual([1, 1, 2]);
  const given = { record: record({ toolId: `${longer} ${MAIL}` }), events: [], durability: 'asynchronous' as const };
  expect(redaction(given).record?.toolId).toBe(`${longer} [REDACTED:email]`);
  // The row's agent is the third of the texts that are known.
  expect(judgedOf(...Array.from({ length: 1_998 }, (_, at) => `${at}`))).toBe(1_998);
  expect([judgedOf(most), judgedOf('0'), judgedOf('one')]).toEqual([0, 0, 1]);
});
