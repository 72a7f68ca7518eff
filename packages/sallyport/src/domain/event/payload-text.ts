// Hot path: the data of every event of every call.
import { canonicalJson } from '@sallyport/std/json/canonical-json';

/** `data` of an event as JSON text, made once: what is hashed, stored and delivered. */
export interface PayloadText {
  /** The whole object, canonical (RFC 8785). */
  readonly text: string;
  /** Members that the events of one entry have in common, without braces; empty for none. */
  readonly shared: string;
  /** The other members, without braces. */
  readonly own: string;
  /** What events are looked up by; undefined when the event is not about one, or its value is not text. */
  readonly invocationId: string | undefined;
  readonly toolId: string | undefined;
  readonly agentDid: string | undefined;
}

/** The text of data that nobody else has made. `data` of an event that was tampered with may be anything. */
export function payloadTextOf(data: Readonly<Record<string, unknown>> | undefined): PayloadText {
  const text = canonicalJson(data);
  return {
    text,
    shared: '',
    own: text.slice(1, -1),
    invocationId: textOr(data?.['invocation_id']),
    toolId: textOr(data?.['tool_id']),
    agentDid: textOr(data?.['agent_did']),
  };
}

const textOr = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
