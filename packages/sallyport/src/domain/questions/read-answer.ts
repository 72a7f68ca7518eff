import { KiB } from '@sallyport/std/bytes';
import { isObject } from '../shape/is-object.ts';

/** Limits of a client's answer. */
const ANSWER_BOUNDS = {
  /** Longest completion, in characters of JSON. */
  completionCharsMax: 256 * KiB,
  nameCharsMax: 1_000,
  rootsMax: 256,
  uriCharsMax: 4_000,
} as const;

type Members = Readonly<Record<string, unknown>>;

/** The known members of a completion (`CreateMessageResult`); undefined for anything else, and for one too long. */
export function completionIn(said: unknown): Members | undefined {
  if (!isObject(said)) return undefined;
  const { role, content, model, stopReason } = said;
  const isContent = isObject(content) || (Array.isArray(content) && content.every(isObject));
  if ((role !== 'assistant' && role !== 'user') || !isContent || !isName(model)) return undefined;
  const completion = { role, content, model, ...(isName(stopReason) ? { stopReason } : {}) };
  return JSON.stringify(completion).length <= ANSWER_BOUNDS.completionCharsMax ? completion : undefined;
}

/** The folders of a client (`ListRootsResult`); undefined for anything else, and for too many. */
export function rootsIn(said: unknown): Members | undefined {
  const given = isObject(said) ? said['roots'] : undefined;
  if (!Array.isArray(given) || given.length > ANSWER_BOUNDS.rootsMax) return undefined;
  const roots = (given as unknown[]).map(rootIn);
  return roots.every((root) => root !== undefined) ? { roots } : undefined;
}

function rootIn(value: unknown): Members | undefined {
  const { uri, name } = isObject(value) ? value : {};
  if (typeof uri !== 'string' || uri.length > ANSWER_BOUNDS.uriCharsMax || !uri.startsWith('file://')) return undefined;
  return { uri, ...(isName(name) ? { name } : {}) };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= ANSWER_BOUNDS.nameCharsMax;
}
