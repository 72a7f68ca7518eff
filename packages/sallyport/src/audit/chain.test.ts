import { CloudEvent as SdkEvent } from 'cloudevents';
import { describe, expect, test } from 'vitest';
import { cloudEventOf, eventText } from '../domain/event/chained-event.ts';
import type { EventDraft } from '../domain/event/event-draft.ts';
import { type ChainHead, EMPTY_CHAIN, flawOf, headOf, link } from './chain.ts';

const draft = (data: Record<string, unknown> = { state: 'DECLARED' }): EventDraft => ({
  id: 'e1',
  type: 'ai.agent.tool.invoked',
  time: Date.UTC(2026, 0, 14, 10, 30),
  tenantId: 'acme',
  subject: 'inv-1',
  data,
});

const linked = (event: EventDraft, chainId: string, head: ChainHead) => cloudEventOf(link(event, chainId, head));

describe('a chain of events', () => {
  test('AUD-03.1 an event that follows its head is whole, and any change to it shows', () => {
    const first = linked(draft(), 'chain', EMPTY_CHAIN);
    const second = linked(draft({ state: 'COMPLETED', n: { b: 1, a: [1, 2] } }), 'chain', headOf(first));
    expect(flawOf(first, EMPTY_CHAIN)).toBeUndefined();
    expect(flawOf(second, headOf(first))).toBeUndefined();
    const changes: Partial<typeof second>[] = [
      { data: { ...second.data, state: 'FAILED' } },
      { type: 'ai.agent.tool.failed' },
      { tenantid: 'other' },
      { time: '2026-01-14T10:31:00.000Z' },
      { subject: 'inv-2' },
      { id: 'e2' },
    ];
    for (const change of changes) {
      expect(flawOf({ ...second, ...change }, headOf(first))).toBe('its content does not match its hash');
    }
  });

  test('AUD-03.1 a missing, repeated or foreign event is named', () => {
    const first = linked(draft(), 'chain', EMPTY_CHAIN);
    const second = linked(draft(), 'chain', headOf(first));
    const third = linked(draft(), 'chain', headOf(second));
    expect(flawOf(third, headOf(first))).toBe('event 2 is missing; the next one found is 3');
    expect(flawOf(first, headOf(second))).toContain('event 3 is missing');
    const foreign = linked(draft({ other: true }), 'chain', { seq: 1, hash: 'f'.repeat(64) });
    expect(flawOf(foreign, headOf(first))).toBe('it does not follow the event before it');
  });

  test('AUD-01.1 an event is a CloudEvent 1.0 by the reference SDK', () => {
    const event = linked(draft(), 'chain', EMPTY_CHAIN);
    const read = new SdkEvent({ ...event });
    expect(read.validate()).toBe(true);
    expect(read.type).toBe('ai.agent.tool.invoked');
    expect(read.source).toBe('tool-execution-layer');
  });

  test('the order of keys in data does not change the hash', () => {
    const one = linked(draft({ a: 1, b: { c: 2, d: 3 } }), 'chain', EMPTY_CHAIN);
    const other = linked(draft({ b: { d: 3, c: 2 }, a: 1 }), 'chain', EMPTY_CHAIN);
    expect(one.chainhash).toBe(other.chainhash);
  });
});

test('AUD-06 an event is found by the agent of its draft, which redaction may have taken out of its data', () => {
  const data = { agent_did: '[REDACTED:email]', invocation_id: 'inv-1', tool_id: 'send' };
  const keys = (event: EventDraft) => {
    const { agentDid, invocationId, toolId } = link(event, 'chain', EMPTY_CHAIN);
    return [agentDid, invocationId, toolId];
  };
  expect(keys({ ...draft(data), agentDid: 'alice@example.com' })).toEqual(['alice@example.com', 'inv-1', 'send']);
  expect(keys(draft(data))).toEqual(['[REDACTED:email]', 'inv-1', 'send']);
});

test('AUD-01.1 AUD-01.9 the text of an event, which is hashed and delivered, is a CloudEvent 1.0 with its place in the chain', () => {
  const event = link(draft(), 'chain', EMPTY_CHAIN);
  expect(JSON.parse(eventText(event))).toEqual({
    chainhash: event.hash,
    chainid: 'chain',
    chainprev: '0'.repeat(64),
    chainseq: 1,
    data: { state: 'DECLARED' },
    datacontenttype: 'application/json',
    id: 'e1',
    source: 'tool-execution-layer',
    specversion: '1.0',
    subject: 'inv-1',
    tenantid: 'acme',
    time: '2026-01-14T10:30:00.000Z',
    type: 'ai.agent.tool.invoked',
  });
});
