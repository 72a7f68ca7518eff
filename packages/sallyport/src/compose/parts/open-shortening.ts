import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { valuesOf } from '../../domain/settings/setting.ts';
import { createOutputFilters } from '../../model-facing/output-filters.ts';
import type { OverflowStore } from '../../model-facing/overflow-store.port.ts';
import { createOverflows, OVERFLOW_SETTINGS } from '../../model-facing/overflows.ts';
import { readOutputFilters } from '../../model-facing/read-output-filters.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import type { Ingredients } from './ingredients.ts';

/**
 * Opens what makes results short: output filters, and the store of whole texts.
 * @throws ToolLayerError E3801 for filters and files that cannot be met
 */
export async function openShortening(
  { settings, clock, log, outputFilters: own = [] }: Ingredients,
  store: OverflowStore,
): Promise<Pick<PipelineParts, 'outputFilters' | 'overflows'>> {
  const overflows = createOverflows({ store, clock, log, ...valuesOf(OVERFLOW_SETTINGS, settings) });
  const named = settings['calls.output_filters_file'];
  const path = named === '' ? join(settings['data_folder'], 'output-filters.toml') : named;
  const declared = await readOutputFilters(path);
  if (named !== '' && declared.length === 0)
    throw new ToolLayerError(
      'E3801',
      `calls.output_filters_file names ${path}, which is not there or holds no [[filter]].`,
    );
  const filters = [...own, ...declared];
  return filters.length === 0 ? { overflows } : { overflows, outputFilters: createOutputFilters(filters, log) };
}
