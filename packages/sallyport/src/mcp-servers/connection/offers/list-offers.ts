import { setImmediate as othersWork } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { OfferListing } from '../../known-upstream.ts';
import type { Handshake } from '../handshake/handshake.ts';
import type { Multiplexer } from '../multiplexer.ts';
import { promptOf, resourceOf, templateOf } from './listed-offer.ts';

/** Limits of one list. What is beyond them is left out, and can be read by its address all the same. */
const LIST_BOUNDS = {
  entriesMax: 10_000,
  pagesMax: 1_000,
  /** All entries together, as JSON. */
  charsMax: 16 * MiB,
  pageTimeoutMs: 20_000,
  /** Entries processed before other work gets a turn. */
  perSlice: 200,
} as const;

/** Reads the lists of resources, templates and prompts. A list that cannot be read is empty. Never rejects. */
export async function listOffers(
  mux: Multiplexer,
  { offered, instructions }: Pick<Handshake, 'offered' | 'instructions'>,
  signal: AbortSignal,
): Promise<OfferListing> {
  const incomplete: { method: string; reason: string }[] = [];
  const read = <Entry>(capability: string, method: string, member: string, entryOf: EntryOf<Entry>) =>
    offered[capability] === undefined ? [] : readList(mux, { method, member, entryOf, signal }, incomplete);
  const [resources, templates, prompts] = await Promise.all([
    read('resources', 'resources/list', 'resources', resourceOf),
    read('resources', 'resources/templates/list', 'resourceTemplates', templateOf),
    read('prompts', 'prompts/list', 'prompts', promptOf),
  ]);
  const said = instructions === undefined ? {} : { instructions };
  return { offers: { ...said, capabilities: offered, resources, templates, prompts }, incomplete };
}

type EntryOf<Entry> = (listed: unknown) => Entry | undefined;

interface ListWanted<Entry> {
  readonly method: string;
  readonly member: string;
  readonly entryOf: EntryOf<Entry>;
  readonly signal: AbortSignal;
}

async function readList<Entry>(
  mux: Multiplexer,
  { method, member, entryOf, signal }: ListWanted<Entry>,
  incomplete: { method: string; reason: string }[],
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  const cursors = new Set<string>();
  let chars = 0;
  let seen = 0;
  let cursor: string | undefined;
  const stop = (reason: string): readonly Entry[] => {
    incomplete.push({ method, reason });
    return entries;
  };
  try {
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = await mux.request(method, params, { signal, timeoutMs: LIST_BOUNDS.pageTimeoutMs });
      const listed = page[member];
      if (!Array.isArray(listed)) return stop('a page holds no list');
      for (const each of listed as readonly unknown[]) {
        if (seen % LIST_BOUNDS.perSlice === 0) await othersWork();
        if (entries.length >= LIST_BOUNDS.entriesMax) return stop(`it has more than ${LIST_BOUNDS.entriesMax} entries`);
        seen += 1;
        const entry = isObject(each) ? entryOf(each) : undefined;
        if (entry === undefined) continue;
        chars += JSON.stringify(entry).length;
        if (chars > LIST_BOUNDS.charsMax) return stop(`it is longer than ${LIST_BOUNDS.charsMax / MiB} Mi characters`);
        entries.push(entry);
      }
      cursor = typeof page['nextCursor'] === 'string' && page['nextCursor'] !== '' ? page['nextCursor'] : undefined;
      if (cursor !== undefined && cursors.has(cursor)) return stop('it comes back to a page that it already sent');
      if (cursor !== undefined) cursors.add(cursor);
      if (cursors.size >= LIST_BOUNDS.pagesMax) return stop(`it has more than ${LIST_BOUNDS.pagesMax} pages`);
    } while (cursor !== undefined);
  } catch (thrown) {
    return stop(thrown instanceof Error ? thrown.message.slice(0, 300) : 'it cannot be read');
  }
  return entries;
}
