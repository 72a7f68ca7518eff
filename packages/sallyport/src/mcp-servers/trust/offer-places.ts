import { sha256 } from '@sallyport/std/sha256';

/** Kinds of offers whose changes wait for an operator; each kind of an upstream is known to the quarantine by a place. */
export const HELD_KINDS = ['prompts', 'templates'] as const;
export type HeldKind = (typeof HELD_KINDS)[number];

/** A place stands for an upstream in the quarantine; no upstream can have such a name. */
export const placeOf = (upstream: string, kind: HeldKind): string => `${upstream}/${kind}`;

/** An upstream's own place, where its tools are, and those of its offers. */
export const placesOf = (upstream: string): readonly string[] => [
  upstream,
  ...HELD_KINDS.map((kind) => placeOf(upstream, kind)),
];

export const isOfferPlace = (place: string): boolean => place.includes('/');

/** The upstream of a place. */
export const upstreamAt = (place: string): string => place.split('/', 1)[0] ?? place;

const PREFIX: Readonly<Record<HeldKind, string>> = { prompts: 'prompt', templates: 'template' };
const PLAIN = /^[A-Za-z0-9_-]{0,60}[A-Za-z0-9_]$/;
const HASH_CHARS = 16;

/**
 * Id of an offer among the ids of tools. Where a tool has it already, the offer stays withheld.
 * @param key name of a prompt, URI template of a template
 */
export function offerId(upstream: string, kind: HeldKind, key: string): string {
  return `${upstream}__${PREFIX[kind]}.${PLAIN.test(key) ? key : sha256(key).slice(0, HASH_CHARS)}`;
}
