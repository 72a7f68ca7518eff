// Hot path: every event of every call is linked here.

import { isoTime } from '@sallyport/std/iso-time';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import { type ChainedEvent, keysOf } from '../domain/event/chained-event.ts';
import type { EventDraft } from '../domain/event/event-draft.ts';

/** The newest link of a chain. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** Head of a chain that has no event yet. */
export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: '0'.repeat(64) };

/** `source` of every event of the layer (000 §4.3). */
export const EVENT_SOURCE = 'tool-execution-layer';

/**
 * Links an event after `head` (AUD-03). The one place where the text of an event is made: this text is hashed and
 * delivered. Its members are in ascending order, which `canonicalJson` writes fastest; it sorts them otherwise.
 */
export function link(draft: EventDraft, chainId: string, head: ChainHead): ChainedEvent {
  const { id, subject, tenantId, type, data, parts } = draft;
  const keys = keysOf(data);
  const seq = head.seq + 1;
  const time = isoTime(draft.time);
  const unsealed = canonicalJson({
    chainid: chainId,
    chainprev: head.hash,
    chainseq: seq,
    data,
    datacontenttype: 'application/json',
    id,
    source: EVENT_SOURCE,
    specversion: '1.0',
    subject,
    tenantid: tenantId,
    time,
    type,
  });
  return {
    invocationId: keys.invocationId,
    toolId: keys.toolId,
    agentDid: draft.agentDid ?? keys.agentDid,
    chainId,
    seq,
    prev: head.hash,
    hash: sha256(unsealed),
    id,
    source: EVENT_SOURCE,
    subject,
    tenantId,
    time,
    type,
    data,
    parts,
    unsealed,
  };
}

/** The head of a chain that ends with this event. */
export function headOf(event: CloudEvent): ChainHead {
  return { seq: event.chainseq, hash: event.chainhash };
}

/**
 * The fault of an event that should follow `head`, in words for an auditor; undefined when it is whole. A change to any
 * attribute or to `data` changes the hash.
 */
export function flawOf(event: CloudEvent, head: ChainHead): string | undefined {
  if (event.chainseq !== head.seq + 1)
    return `event ${head.seq + 1} is missing; the next one found is ${event.chainseq}`;
  if (event.chainprev !== head.hash) return 'it does not follow the event before it';
  const { chainhash, ...unsealed } = event;
  if (sha256(canonicalJson(unsealed)) !== chainhash) return 'its content does not match its hash';
  return undefined;
}
