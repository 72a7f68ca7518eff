import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { EventMembers, EventParts } from './event-draft.ts';

/**
 * An event with its position in a hash chain. Its text is the event: the hashed text is also the stored and delivered
 * one.
 */
export interface ChainedEvent extends EventKeys {
  readonly chainId: string;
  /** Position in the chain, from 1. */
  readonly seq: number;
  /** Hash of the previous event. */
  readonly prev: string;
  readonly hash: string;
  readonly id: string;
  readonly source: string;
  readonly subject: string | undefined;
  readonly tenantId: string;
  /** ISO 8601. */
  readonly time: string;
  readonly type: string;
  readonly data: EventMembers;
  /** `data` in two parts; undefined when it is not split. */
  readonly parts: EventParts | undefined;
  /** Canonical JSON of the CloudEvent without `chainhash`: the hashed text. */
  readonly unsealed: string;
}

/** Keys for finding events; undefined when the event has no such key, or its value is not text. */
export interface EventKeys {
  readonly invocationId: string | undefined;
  readonly toolId: string | undefined;
  readonly agentDid: string | undefined;
}

/** The keys in an event's data. `data` of an event that was tampered with may be anything. */
export const keysOf = (data: EventMembers | undefined): EventKeys => ({
  invocationId: textOr(data?.['invocation_id']),
  toolId: textOr(data?.['tool_id']),
  agentDid: textOr(data?.['agent_did']),
});

const textOr = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The CloudEvent as canonical JSON, in two parts: `chainhash` comes before every other attribute. */
export const eventTextParts = ({ hash, unsealed }: ChainedEvent): readonly [string, string] => [
  `{"chainhash":${JSON.stringify(hash)},`,
  unsealed.slice(1),
];

/** The CloudEvent as canonical JSON. */
export function eventText(event: ChainedEvent): string {
  const [first, rest] = eventTextParts(event);
  return first + rest;
}

/** The CloudEvent itself. */
export const cloudEventOf = (event: ChainedEvent): CloudEvent => JSON.parse(eventText(event)) as CloudEvent;

/** A stored event as a chained one. It may be anything: nothing is checked. */
export function chainedEventOf(event: CloudEvent): ChainedEvent {
  const { chainhash, ...unsealed } = event;
  return {
    ...keysOf(event.data),
    chainId: event.chainid,
    seq: event.chainseq,
    prev: event.chainprev,
    hash: chainhash,
    id: event.id,
    source: event.source,
    subject: event.subject,
    tenantId: event.tenantid,
    time: event.time,
    type: event.type,
    data: event.data,
    parts: undefined,
    unsealed: canonicalJson(unsealed),
  };
}
