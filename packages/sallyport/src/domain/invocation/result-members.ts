import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { isObject } from '../shape/is-object.ts';

type Members = Readonly<Record<string, unknown>>;

const NONE: Members = {};

/** The members of a result; for an MCP server's result, those of its structured content. */
export function resultMembers(result: unknown): Members {
  const members = isObject(result) ? result : NONE;
  const structured = members['structuredContent'];
  return Array.isArray(members['content']) && isObject(structured) ? structured : members;
}

/** The members of a result that a compensation may need, kept beside the part of the result that its reader gets. */
export interface KeptMembers {
  readonly kept: Members;
  /** Names of members that are too long to be kept. */
  readonly left: readonly string[];
}

/** Characters of a kept member as JSON, and of all of them together. */
const MEMBER_CHARS_MAX = 1_024;
const MEMBERS_CHARS_MAX = 16_384;

/** Keeps the short members of a result: ids and the like. */
export function keepMembers(result: unknown): KeptMembers {
  const kept: [name: string, value: unknown][] = [];
  const left: string[] = [];
  let room = MEMBERS_CHARS_MAX;
  for (const [name, value] of Object.entries(resultMembers(result))) {
    const chars = name.length + canonicalJson(value).length;
    if (chars > Math.min(room, MEMBER_CHARS_MAX)) left.push(name.slice(0, MEMBER_CHARS_MAX));
    else {
      kept.push([name, value]);
      room -= chars;
    }
  }
  return { kept: Object.fromEntries(kept), left: left.slice(0, LEFT_MAX) };
}

const LEFT_MAX = 256;

/** The same without the values. */
export const namesOnly = ({ kept, left }: KeptMembers): KeptMembers => ({
  kept: {},
  left: [...Object.keys(kept), ...left].slice(0, LEFT_MAX),
});
