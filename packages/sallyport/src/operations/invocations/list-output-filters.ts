import { OutputFilterList } from '../../../api/schemas/calls/overflow.ts';
import { NoInput } from '../../../api/schemas/identifiers.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Lists the output filters with their counts: results by confidence, and characters before and after. */
export const listOutputFilters = operation({
  name: 'output-filters.list',
  summary: 'List the output filters, and what each made of the results of this instance since its start',
  method: 'GET',
  path: '/v1/output-filters',
  status: 200,
  access: 'viewer',
  layerWide: true,
  input: NoInput,
  output: OutputFilterList,
  run:
    ({ outputFilters }: Pick<OperationParts, 'outputFilters'>) =>
    () => ({
      filters: (outputFilters?.counts() ?? []).map(({ charactersBefore, charactersAfter, ...count }) => ({
        ...count,
        characters_before: charactersBefore,
        characters_after: charactersAfter,
      })),
    }),
});
