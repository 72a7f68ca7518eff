// Hot path: every call's row and events go through here before they are hashed.
import type { Redactor } from '@sallyport/guards';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { EventDraft, EventMembers } from '../domain/event/event-draft.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import { rememberTexts } from './redaction/remember-texts.ts';
import type { LedgerEntry } from './writing/ledger-entry.ts';

/**
 * Takes personal data and secrets out of an entry, before it is linked: the chain then proves what was written (AUD-04).
 * The same entry when there is nothing in it.
 *
 * Looked at are all words of callers, operators and upstreams: session and names of tools as they were given, origins of
 * content, warnings, messages and details of errors, reasons, and whatever else an event holds, agents and users too. Ids
 * of invocations, tenants and hashes stay as they are, for rows are found by them. So does the result of a call, which is
 * what its caller asked for and no part of any event.
 *
 * The agent and the user of a call's row stay: they are from a credential that was verified, a call belongs to them, and
 * somebody may be called alice@example.com. No event holds such a name, but it is found by it.
 */
export type EntryRedaction = (entry: LedgerEntry) => LedgerEntry;

/** Makes the redaction of one ledger. */
export function createEntryRedaction(redactor: Redactor): EntryRedaction {
  // A field's name keeps a text from being judged as if it stood alone.
  const clean = rememberTexts((text) => (redactor.value({ text }).value as { readonly text: string }).text);
  return (entry) => {
    const record = entry.record === undefined ? undefined : cleanRecord(entry.record, clean, redactor);
    // What the row shares with its events is looked at once, in the row.
    const isWhole = record === entry.record && !namesSomebody(record, clean);
    const events = sameOr(entry.events, (event) =>
      isWhole && saysNothingElse(event, clean) ? event : cleanEvent(event, clean, redactor),
    );
    if (record === entry.record && events === entry.events) return entry;
    return { ...entry, events, ...(record === undefined ? {} : { record }) };
  };
}

type Clean = (text: string) => string;

/** Texts of a row that its events repeat. */
const TEXTS = ['sessionId', 'toolId', 'calledAs', 'claimSource'] as const;
/** Who a call belongs to: its events repeat it, and only there it is looked at. */
const IDENTITIES = ['agentDid', 'userDid'] as const;
/** What only the row has. */
const VALUES = ['failure', 'warnings', 'gateDecision'] as const;

function cleanRecord(record: InvocationRecord, clean: Clean, redactor: Redactor): InvocationRecord {
  let changes: Record<string, unknown> | undefined;
  const note = (name: string, value: unknown): void => {
    changes ??= {};
    changes[name] = value;
  };
  for (const name of TEXTS) {
    const text = record[name];
    if (text === undefined) continue;
    const cleaned = clean(text);
    if (cleaned !== text) note(name, cleaned);
  }
  for (const name of VALUES) {
    const value = record[name];
    if (value === undefined || (name === 'warnings' && record.warnings.length === 0)) continue;
    const redacted = redactor.value(value).value;
    if (redacted !== value) note(name, redacted);
  }
  return changes === undefined ? record : { ...record, ...changes };
}

const namesSomebody = (record: InvocationRecord | undefined, clean: Clean): boolean =>
  record !== undefined &&
  IDENTITIES.some((name) => {
    const text = record[name];
    return text !== undefined && clean(text) !== text;
  });

function cleanEvent(event: EventDraft, clean: Clean, redactor: Redactor): EventDraft {
  const data = cleanData(event.data, redactor);
  const isId = event.subject === event.data['invocation_id'];
  const subject = event.subject === undefined || isId ? event.subject : clean(event.subject);
  if (data === event.data && subject === event.subject) return event;
  const { parts: _parts, ...rest } = event;
  // An event is found by the agent that it was about, whatever its data say of it.
  const agentDid = event.agentDid ?? event.data['agent_did'];
  return {
    ...rest,
    data,
    ...(typeof agentDid === 'string' ? { agentDid } : {}),
    ...(subject === undefined ? {} : { subject }),
  };
}

/** Members of the events of a call that hold nothing but states, numbers, hashes and rows of the error catalogue. */
const OF_THE_LAYER: ReadonlySet<string> = new Set([
  'duration_ms',
  'error',
  'execution_metadata',
  'output_hash',
  'output_kept_hash',
  'state',
]);

/** Whether an event of a call says, beside what its row says too, nothing that could be sensitive. */
function saysNothingElse({ parts }: EventDraft, clean: Clean): boolean {
  if (parts === undefined) return false;
  let words: Record<string, unknown> | undefined;
  const { own } = parts;
  for (const name in own) {
    if (own[name] === undefined || OF_THE_LAYER.has(name)) continue;
    words ??= {};
    words[name] = own[name];
  }
  if (words === undefined) return true;
  const text = canonicalJson(words);
  return clean(text) === text;
}

/** Rows are found by these, so they stay what they are. */
const KEYS = ['invocation_id', 'tenant_id'] as const;

function cleanData(data: EventMembers, redactor: Redactor): EventMembers {
  const redacted = redactor.value(data).value as Record<string, unknown>;
  if (redacted === data) return data;
  const kept = KEYS.filter((name) => name in data).map((name) => [name, data[name]]);
  return { ...redacted, ...Object.fromEntries(kept) };
}

function sameOr<T>(list: readonly T[], change: (each: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let i = 0; i < list.length; i += 1) {
    const each = list[i] as T;
    const after = change(each);
    if (after === each) continue;
    changed ??= [...list];
    changed[i] = after;
  }
  return changed ?? list;
}
