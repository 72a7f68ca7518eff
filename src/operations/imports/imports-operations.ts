import type { IMPORTS } from '../catalogue/imports.ts';
import type { OperationsOf } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importLangChain } from './import-langchain.ts';
import { importOpenApi } from './import-openapi.ts';
import { importSkill } from './import-skill.ts';
import { importUpstreams } from './import-upstreams.ts';

/** What does each import. */
export const importsOperations = (parts: OperationParts): OperationsOf<typeof IMPORTS> => ({
  'tools.import-openapi': importOpenApi(parts),
  'tools.import-langchain': importLangChain(parts),
  'tools.import-skill': importSkill(parts),
  'upstreams.import': importUpstreams(parts),
});
