// Hot path: every event of every call is linked here.
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import type { EventDraft } from '../domain/event/event-draft.ts';
import { canonicalJson } from '../std/canonical-json.ts';
import { sha256 } from '../std/sha256.ts';

/** The newest link of a chain. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** Head of a chain that has no event yet. */
export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: '0'.repeat(64) };

/** `source` of every event of the layer (000 §4.3). */
export const EVENT_SOURCE = 'tool-execution-layer';

/** Gives an event its place behind `head` (AUD-03). */
export function link(draft: EventDraft, chainId: string, head: ChainHead): CloudEvent {
  // Members in ascending order: the canonical text then needs no sorting.
  const unsealed: Omit<CloudEvent, 'chainhash'> = {
    chainid: chainId,
    chainprev: head.hash,
    chainseq: head.seq + 1,
    data: draft.data,
    datacontenttype: 'application/json',
    id: draft.id,
    source: EVENT_SOURCE,
    specversion: '1.0',
    ...(draft.subject === undefined ? {} : { subject: draft.subject }),
    tenantid: draft.tenantId,
    time: new Date(draft.time).toISOString(),
    type: draft.type,
  };
  return Object.assign(unsealed, { chainhash: sha256(canonicalJson(unsealed)) });
}

/** The head of a chain whose newest event is this one. */
export function headOf(event: CloudEvent): ChainHead {
  return { seq: event.chainseq, hash: event.chainhash };
}

/**
 * What is wrong with an event that should follow `head`, in words for an auditor; undefined when it is whole.
 * Everything in the event counts: a change to any attribute or to `data` changes the hash.
 */
export function flawOf(event: CloudEvent, head: ChainHead): string | undefined {
  if (event.chainseq !== head.seq + 1)
    return `event ${head.seq + 1} is missing; the next one found is ${event.chainseq}`;
  if (event.chainprev !== head.hash) return 'it does not follow the event before it';
  const { chainhash, ...unsealed } = event;
  if (sha256(canonicalJson(unsealed)) !== chainhash) return 'its content does not match its hash';
  return undefined;
}
