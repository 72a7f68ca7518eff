// Hot path: every event of every call.

import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { quoted } from '@sallyport/std/json/json-text';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import { type PayloadText, payloadTextOf } from './payload-text.ts';

/** An event in its place of a hash chain. Its text is the event: what is hashed is what is stored and delivered. */
export interface ChainedEvent {
  readonly chainId: string;
  /** Place in the chain, from 1. */
  readonly seq: number;
  /** Hash of the event before. */
  readonly prev: string;
  readonly hash: string;
  readonly id: string;
  readonly source: string;
  readonly subject: string | undefined;
  readonly tenantId: string;
  /** ISO 8601. */
  readonly time: string;
  readonly type: string;
  readonly data: PayloadText;
  /** Canonical JSON of the CloudEvent without `chainhash`: what the hash is taken of. */
  readonly unsealed: string;
}

/** The CloudEvent as canonical JSON, in two parts: `chainhash` comes before every other attribute. */
export const eventTextParts = ({ hash, unsealed }: ChainedEvent): readonly [string, string] => [
  `{"chainhash":${quoted(hash)},`,
  unsealed.slice(1),
];

/** The CloudEvent as canonical JSON. */
export function eventText(event: ChainedEvent): string {
  const [first, rest] = eventTextParts(event);
  return first + rest;
}

/** The CloudEvent itself. */
export const cloudEventOf = (event: ChainedEvent): CloudEvent => JSON.parse(eventText(event)) as CloudEvent;

/** An event that was read, for those who take chained ones. It may be anything: nothing is checked. */
export function chainedEventOf(event: CloudEvent): ChainedEvent {
  const { chainhash, ...unsealed } = event;
  return {
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
    data: payloadTextOf(event.data),
    unsealed: canonicalJson(unsealed),
  };
}
