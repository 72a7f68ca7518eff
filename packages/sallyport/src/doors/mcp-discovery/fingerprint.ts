import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { ReadResource } from './read-resource.ts';

/** Subject of the list of resources; other subjects are URIs. */
export const LIST = 'list';

/**
 * Hash of what a caller sees of a subject; undefined when it does not exist for the caller. Throws for an invalid
 * token.
 */
export type Fingerprint = (subject: string, caller: Caller) => Promise<string | undefined>;

/** Page size and most pages of tools read for the list of resources. */
const PAGE_SIZE = 1_000;
const PAGES_MAX = 100;

export function createFingerprint(layer: ToolLayer, read: ReadResource): Fingerprint {
  return async (subject, caller) => {
    if (subject === LIST) return ofList(layer, caller);
    const resource = await read(subject, caller);
    return resource === undefined ? undefined : sha256(canonicalJson(resource));
  };
}

async function ofList(layer: ToolLayer, caller: Caller): Promise<string> {
  const pages: string[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const input = { list: 'agent-enabled', page, page_size: PAGE_SIZE } as const;
    const { tools, total_count } = await layer.ask('visibility.list', input, caller);
    const shown = tools.map(({ name, tool_name, description }) => [name, tool_name, description]);
    pages.push(sha256(JSON.stringify(shown)));
    if (page * PAGE_SIZE >= total_count) break;
    // Yields to calls first: a page of many tools takes time.
    await nextTurn();
  }
  return sha256(pages.join());
}
