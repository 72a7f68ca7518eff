// Hot path: every call's row and events pass here before they are hashed.
import type { Redactor } from '@sallyport/guards';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { EventDraft, EventMembers } from '../domain/event/event-draft.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import { rememberTexts } from './redaction/remember-texts.ts';
import type { LedgerEntry } from './writing/ledger-entry.ts';

/**
 * Removes personal data and secrets from an entry before it is linked, so that the chain proves what was written
 * (AUD-04). Returns the same entry when it contains none.
 *
 * All text of callers, operators and upstreams is checked: session and names of tools as given, origins of content,
 * warnings, messages and details of errors, reasons, and all other members of events, agents and users included. Ids of
 * invocations, tenants and hashes stay, since rows are found by them. The result of a call stays too: it is what the
 * caller asked for, and part of no event.
 *
 * The agent and the user in a call's row stay: they come from a verified credential, the call belongs to them, and a
 * user may be called alice@example.com. No event holds such a name in its data, but events are found by it.
 */
export type EntryRedaction = (entry: LedgerEntry) => LedgerEntry;

/** Makes the redaction of one ledger. */
export function createEntryRedaction(redactor: Redactor): EntryRedaction {
  // A field's name is checked with its text, so that the text is not judged in isolation.
  const clean = rememberTexts((text) => (redactor.value({ text }).value as { readonly text: string }).text);
  return (entry) => {
    const record = entry.record === undefined ? undefined : cleanRecord(entry.record, clean, redactor);
    // Text that the row shares with its events is checked once, in the row.
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
/** The owner of a call: events repeat it, and it is checked only there. */
const IDENTITIES = ['agentDid', 'userDid'] as const;
/** Members that only the row has. */
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
  // Keeps the real agent as key of the event, whatever its data say.
  const agentDid = event.agentDid ?? event.data['agent_did'];
  return {
    ...rest,
    data,
    ...(typeof agentDid === 'string' ? { agentDid } : {}),
    ...(subject === undefined ? {} : { subject }),
  };
}

/** Members of the events of a call that hold only states, numbers, hashes and rows of the error catalogue. */
const OF_THE_LAYER: ReadonlySet<string> = new Set([
  'duration_ms',
  'error',
  'execution_metadata',
  'output_hash',
  'output_kept_hash',
  'state',
]);

/** True when an event of a call holds, besides what its row holds too, nothing that could be sensitive. */
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

/** Rows are found by these, so they are not redacted. */
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
