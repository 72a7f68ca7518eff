// Hot path: every event of every call is linked here.

import { isoTime } from '@sallyport/std/iso-time';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { quoted } from '@sallyport/std/json/json-text';
import { sha256 } from '@sallyport/std/sha256';
import { rememberLast } from '@sallyport/std/text/remember-last';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import type { ChainedEvent } from '../domain/event/chained-event.ts';
import type { EventDraft, WrittenDraft } from '../domain/event/event-draft.ts';
import { payloadTextOf } from '../domain/event/payload-text.ts';

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
export function link(draft: EventDraft | WrittenDraft, chainId: string, head: ChainHead): ChainedEvent {
  const { id, subject, tenantId, type } = draft;
  const data = 'written' in draft ? draft.written : payloadTextOf(draft.data);
  const seq = head.seq + 1;
  const time = isoTime(draft.time);
  // Members in ascending order and no white space: the canonical text, without an object that would have to be sorted.
  const unsealed =
    `${chainStart(chainId)}${head.hash}","chainseq":${seq},"data":${data.text}` +
    `,"datacontenttype":"application/json","id":${quoted(id)}${middleOf(subject, tenantId)}${time}","type":"${type}"}`;
  const hash = sha256(unsealed);
  return {
    chainId,
    seq,
    prev: head.hash,
    hash,
    id,
    source: EVENT_SOURCE,
    subject,
    tenantId,
    time,
    type,
    data,
    unsealed,
  };
}

/** What an event begins with, up to the hash of the one before. */
const chainStart = rememberLast((chainId: string) => `{"chainid":${quoted(chainId)},"chainprev":"`);

const quotedTenant = rememberLast(quoted);
/** The events of a call come one after the other. */
let lastMiddle: { readonly subject: string; readonly tenantId: string; readonly text: string } | undefined;

/** What stands between the id of an event and its time. */
function middleOf(subject: string | undefined, tenantId: string): string {
  if (subject === undefined) return `${FIXED},"tenantid":${quotedTenant(tenantId)},"time":"`;
  if (lastMiddle?.subject === subject && lastMiddle.tenantId === tenantId) return lastMiddle.text;
  // Joined, it is one piece, and not many that every event puts together again.
  const text = [FIXED, ',"subject":', quoted(subject), ',"tenantid":', quotedTenant(tenantId), ',"time":"'].join('');
  lastMiddle = { subject, tenantId, text };
  return text;
}

const FIXED = `,"source":"${EVENT_SOURCE}","specversion":"1.0"`;

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
