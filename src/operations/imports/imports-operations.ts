import type { IMPORTS } from '../catalogue/imports.ts';
import type { OperationsOf } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importOpenApi } from './import-openapi.ts';
import { importUpstreams } from './import-upstreams.ts';

/** What does each import. */
export const importsOperations = (parts: OperationParts): OperationsOf<typeof IMPORTS> => ({
  'tools.import-openapi': importOpenApi(parts),
  'upstreams.import': importUpstreams(parts),
});
