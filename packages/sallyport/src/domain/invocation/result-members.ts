import { isObject } from '../shape/is-object.ts';

type Members = Readonly<Record<string, unknown>>;

const NONE: Members = {};

/** The members of a result; for an MCP server's result, those of its structured content. */
export function resultMembers(result: unknown): Members {
  const members = isObject(result) ? result : NONE;
  const structured = members['structuredContent'];
  return Array.isArray(members['content']) && isObject(structured) ? structured : members;
}
