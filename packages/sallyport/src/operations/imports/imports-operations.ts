import type { IMPORTS } from '../catalogue/imports.ts';
import type { OperationsOf } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { importComposio } from './import-composio.ts';
import { importLangChain } from './import-langchain.ts';
import { importOpenApi } from './import-openapi.ts';
import { importSkill } from './import-skill.ts';
import { importUpstreams } from './import-upstreams.ts';

/** What does each import. */
export const importsOperations = (parts: OperationParts): OperationsOf<typeof IMPORTS> => ({
  'tools.import-openapi': importOpenApi(parts),
  'tools.import-langchain': importLangChain(parts),
  'tools.import-skill': importSkill(parts),
  'tools.import-composio': importComposio(parts),
  'upstreams.import': importUpstreams(parts),
});
