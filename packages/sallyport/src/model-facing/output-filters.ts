// Asked for every call; without filters nothing is made.

import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../telemetry/log.ts';
import type { FilterConfidence, FilterCount, FilteredCall, OutputFilter } from './output-filter.ts';
import { filterTexts } from './results/filter-texts.ts';

/** A result as filters left it. */
export interface FilteredResult {
  readonly result: unknown;
  /** The filters that changed something, in order. */
  readonly filters: readonly { readonly filter: string; readonly confidence: FilterConfidence }[];
}

/** The output filters of one layer, in the order of their configuration. */
export interface OutputFilters {
  /**
   * Filters a result with every filter that matches, one after the other. Never rejects: a filter that throws counts as
   * `fallback`.
   * @param call made only where there are filters
   * @param fits false for what is no result of the tool any more: then the filter counts as `fallback`
   * @returns undefined when nothing was changed
   */
  filter(
    result: unknown,
    call: () => FilteredCall,
    pause: () => Promise<void> | undefined,
    fits: (filtered: unknown) => boolean,
  ): Promise<FilteredResult | undefined>;
  /** In the order of the filters. */
  counts(): readonly FilterCount[];
}

/** Filters of one layer. */
const FILTERS_MAX = 200;
const ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Makes the filters ready.
 * @throws ToolLayerError E3801 for an id that is not well formed or there twice, and for too many filters
 */
export function createOutputFilters(filters: readonly OutputFilter[], log: Pick<Log, 'warn'>): OutputFilters {
  checkFilters(filters);
  const counted = filters.map((filter) => ({ filter, count: newCount(filter.id) }));
  return {
    async filter(given, callOf, pause, fits) {
      const call = callOf();
      const used: FilteredResult['filters'][number][] = [];
      let result = given;
      for (const { filter, count } of counted) {
        const made = await filterOnce(filter, result, call, pause, log);
        if (made === undefined) continue;
        const isChanged = made.charactersAfter !== made.charactersBefore;
        const confidence = isChanged && !fits(made.result) ? 'fallback' : made.confidence;
        count[confidence] += 1;
        if (confidence === 'fallback') continue;
        count.charactersBefore += made.charactersBefore;
        count.charactersAfter += made.charactersAfter;
        if (!isChanged) continue;
        result = made.result;
        used.push({ filter: filter.id, confidence });
      }
      return used.length === 0 ? undefined : { result, filters: used };
    },
    counts: () => counted.map(({ count }) => ({ ...count })),
  };
}

type Count = { -readonly [Name in keyof FilterCount]: FilterCount[Name] };

const newCount = (filter: string): Count => ({
  filter,
  full: 0,
  partial: 0,
  fallback: 0,
  charactersBefore: 0,
  charactersAfter: 0,
});

/** @returns undefined for a filter that does not match, and for a result without a text to filter */
async function filterOnce(
  filter: OutputFilter,
  result: unknown,
  call: FilteredCall,
  pause: () => Promise<void> | undefined,
  log: Pick<Log, 'warn'>,
): ReturnType<typeof filterTexts> {
  try {
    if (!filter.matches(call)) return undefined;
    return await filterTexts(result, (text) => filter.filter(text, call, pause));
  } catch (cause) {
    log.warn('output-filter-failed', { filter: filter.id, tool_id: call.toolId, cause });
    return { result, confidence: 'fallback', charactersBefore: 0, charactersAfter: 0 };
  }
}

function checkFilters(filters: readonly OutputFilter[]): void {
  const ids = new Set<string>();
  for (const { id } of filters) {
    if (!ID.test(id)) throw faulty(id, 'is no id; write letters, digits, ., _ and -');
    if (ids.has(id)) throw faulty(id, 'is there twice');
    ids.add(id);
  }
  if (filters.length > FILTERS_MAX)
    throw new ToolLayerError('E3801', `There are more than ${FILTERS_MAX} output filters.`);
}

const faulty = (id: string, what: string): ToolLayerError =>
  new ToolLayerError('E3801', `The output filter "${String(id).slice(0, 64)}" ${what}.`);
