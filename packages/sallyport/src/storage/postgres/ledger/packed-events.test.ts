import { expect, test } from 'vitest';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import { EMPTY_CHAIN, flawOf, headOf, link } from '../../../audit/chain.ts';
import { chainedEventOf, cloudEventOf } from '../../../domain/event/chained-event.ts';
import { packed, ROW_EVENTS_MAX, rowsOf, unpack } from './packed-events.ts';

test('AUD-03 events come out of their row as they went in', () => {
  const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":"c","state":"A"}');
  for (const data of [
    [{}, {}, {}],
    [{ invocation_id: 'a', state: 'A' }, { invocation_id: 'a', state: 'B', more: null }, { invocation_id: 'a' }],
    [{ constructor: 'c', state: 'A' }, hostile, hostile],
    [hostile, { state: 'A' }, {}],
    [{ toString: 1 }, {}, { toString: 1, 'nul \0': '\ud800' }],
  ]) {
    const events = data.map((each, at) => cloudEvent(at + 1, { data: each }));
    const rows = rowsOf(events.map(chainedEventOf));
    expect(rows.length).toBe(1);
    expect(packed(rows).flatMap((text) => unpack(JSON.parse(text)))).toEqual(events);
  }
});

test('AUD-03 what the events of a call have in common stands once, and they come out whole', () => {
  const drafts = [1, 2, 3].map((at) => ({
    id: `event-${at}`,
    type: 'ai.agent.tool.state_changed' as const,
    time: at,
    tenantId: 'acme',
    subject: 'call-1',
    data: { state: `state-${at}`, tool_id: 'weather' },
    parts: { shared: { tool_id: 'weather' }, own: { state: `state-${at}` } },
  }));
  const first = link(drafts[0] as (typeof drafts)[0], 'chain-1', EMPTY_CHAIN);
  const second = link(drafts[1] as (typeof drafts)[0], 'chain-1', first);
  const events = [first, second, link(drafts[2] as (typeof drafts)[0], 'chain-1', second)];
  const rows = rowsOf(events);
  const text = packed(rows).join();
  for (const once of ['weather', 'acme', 'chain-1', 'call-1', first.hash])
    expect(text.split(`"${once}"`).length).toBe(2);
  expect(unpack(JSON.parse(text))).toEqual(events.map(cloudEventOf));
});

test('AUD-03 rows that the first release wrote are read and verified, and events have the hashes that it gave them', () => {
  const read = FIRST_RELEASE.flatMap((text) => unpack(JSON.parse(text)));
  let head = EMPTY_CHAIN;
  for (const event of read) {
    expect(flawOf(event, head)).toBeUndefined();
    head = headOf(event);
  }
  expect(head.seq).toBe(3);
  head = EMPTY_CHAIN;
  for (const { id, type, time, subject, tenantid, data, chainhash } of read) {
    const draft = { id, type, time: Date.parse(time), tenantId: tenantid, subject: subject ?? '', data };
    head = link(draft, 'chain-1', head);
    expect(head.hash).toBe(chainhash);
  }
});

test('a row ends where the chain, the tenant, the subject or the call is another, and after 100 events', () => {
  const others: Partial<CloudEvent>[] = [
    { chainid: 'chain-2' },
    { chainseq: 3 },
    { chainprev: 'other' },
    { tenantid: 'globex' },
    { subject: 'other' },
    { source: 'other' },
    { data: { invocation_id: 'b' } },
    { data: { tool_id: 'b' } },
    { data: { agent_did: 'b' } },
  ];
  for (const changes of others) expect(rowsOf([event(1), event(2, changes)]).length).toBe(2);
  const many = Array.from({ length: 2 * ROW_EVENTS_MAX + 1 }, (_, at) => event(at + 1));
  expect(rowsOf(many).map(({ length }) => length)).toEqual([ROW_EVENTS_MAX, ROW_EVENTS_MAX, 1]);
  expect(rowsOf([])).toEqual([]);
});

test('AUD-03 a batch with one place twice, or with places that go backwards, is refused', () => {
  for (const places of [
    [1, 1],
    [1, 2, 2],
    [2, 1],
    [1, 2, 5, 3],
  ]) {
    const taken = { code: 'E3812', message: expect.stringContaining('place in the hash chain is taken') };
    expect(() => rowsOf(places.map((seq) => event(seq)))).toThrow(expect.objectContaining(taken));
  }
  const interleaved = [event(1), event(1, { chainid: 'chain-2' }), event(2), event(2, { chainid: 'chain-2' })];
  expect(rowsOf(interleaved).length).toBe(4);
});

test('AUD-03 a row that was changed beyond recognition is still read, so that verification can name it', () => {
  for (const text of ['{}', '{"each":7}', '{"each":[null]}', '[]', '{"each":[{}]}', 'null', '1']) {
    expect(unpack(JSON.parse(text)).length).toBe(1);
  }
});

const ENVELOPE =
  '"datacontenttype":"application/json","source":"tool-execution-layer","specversion":"1.0","subject":"call-1","tenantid":"acme"';
const ABOUT = '"agent_did":"did:web:é","invocation_id":"call-1","tool_id":"weather"';
const HASHES = [
  '9344fee9405a028639a568c2be5da073ddf87ef8278fb2d29058ec77adc51f9d',
  'f185c432b7f7408f851790848e458bc6c911e7e8b0581bea01e30fa825c7e1ac',
  '40a91efac4e19d2328123e79a310e25eb22e77e2c9b67fdfa17649fee8d4cc5f',
] as const;

/** Two rows from the table of the first release: one of two events, one of a single event. */
const FIRST_RELEASE = [
  `{"shared":{"chainid":"chain-1","chainprev":"${'0'.repeat(64)}","chainseq":1,${ENVELOPE},"data":{${ABOUT}}},"each":[` +
    `{"chainhash":"${HASHES[0]}","data":{"capabilities":[],"state":"DECLARED"},"id":"event-1",` +
    '"time":"2026-01-02T03:04:05.679Z","type":"ai.agent.tool.state_changed"},' +
    `{"chainhash":"${HASHES[1]}","data":{"capabilities":[],"state":"EXECUTING"},"id":"event-2",` +
    '"time":"2026-01-02T03:04:05.680Z","type":"ai.agent.tool.invoked"}]}',
  `{"shared":{"chainid":"chain-1","chainprev":"${HASHES[1]}","chainseq":3,${ENVELOPE},"data":{}},"each":[` +
    `{"chainhash":"${HASHES[2]}","data":{${ABOUT},"capabilities":[],"duration_ms":0.5,"state":"COMPLETED"},` +
    '"id":"event-3","time":"2026-01-02T03:04:05.681Z","type":"ai.agent.tool.succeeded"}]}',
];

const event = (seq: number, changes?: Partial<CloudEvent>) => chainedEventOf(cloudEvent(seq, changes));

function cloudEvent(seq: number, changes: Partial<CloudEvent> = {}): CloudEvent {
  return {
    specversion: '1.0',
    id: `event-${seq}`,
    source: 'tool-execution-layer',
    type: 'ai.agent.tool.state_changed',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    tenantid: 'acme',
    chainid: 'chain-1',
    chainseq: seq,
    chainprev: `hash-${seq - 1}`,
    chainhash: `hash-${seq}`,
    data: {},
    ...changes,
  };
}
