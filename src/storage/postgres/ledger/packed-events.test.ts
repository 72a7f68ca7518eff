import { expect, test } from 'vitest';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import { pack, ROW_EVENTS_MAX, rowsOf, unpack } from './packed-events.ts';

test('AUD-03 events come out of their row as they went in', () => {
  const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":"c","state":"A"}');
  for (const data of [
    [{}, {}, {}],
    [{ invocation_id: 'a', state: 'A' }, { invocation_id: 'a', state: 'B', more: null }, { invocation_id: 'a' }],
    [{ constructor: 'c', state: 'A' }, hostile, hostile],
    [hostile, { state: 'A' }, {}],
    [{ toString: 1 }, {}, { toString: 1, 'nul \0': '\ud800' }],
  ]) {
    const events = data.map((each, at) => event(at + 1, { data: each }));
    const rows = rowsOf(events);
    expect(rows.length).toBe(1);
    expect(rows.flatMap((row) => unpack(throughText(pack(row))))).toEqual(events);
  }
});

test('what the events of a row have in common stands once', () => {
  const [row] = rowsOf([1, 2, 3].map((seq) => event(seq, { data: { tool_id: 'weather', state: `state-${seq}` } })));
  const text = JSON.stringify(row && pack(row));
  for (const once of ['weather', 'acme', 'chain-1', 'hash-1', 'hash-2']) expect(text.split(`"${once}"`).length).toBe(2);
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
    expect(() => rowsOf(places.map((seq) => event(seq)))).toThrow('place in the hash chain is taken');
  }
  const interleaved = [event(1), event(1, { chainid: 'chain-2' }), event(2), event(2, { chainid: 'chain-2' })];
  expect(rowsOf(interleaved).length).toBe(4);
});

test('AUD-03 a row that was changed beyond recognition is still read, so that verification can name it', () => {
  for (const text of ['{}', '{"each":7}', '{"each":[null]}', '[]', '{"each":[{}]}', 'null', '1']) {
    expect(unpack(JSON.parse(text)).length).toBe(1);
  }
});

const throughText = <T>(document: T): T => JSON.parse(JSON.stringify(document)) as T;

function event(seq: number, changes: Partial<CloudEvent> = {}): CloudEvent {
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
