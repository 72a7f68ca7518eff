import type { OperationsOf } from '../catalogue/run.ts';
import type { TOOLS } from '../catalogue/tools.ts';
import type { OperationParts } from '../parts.ts';
import { getTool } from './get-tool.ts';
import { listManifests } from './list-manifests.ts';
import { listTools } from './list-tools.ts';
import { removeTool } from './move-tool.ts';
import { registerTool } from './register-tool.ts';
import { searchTools } from './search-tools.ts';

/** What does each operation of the tools. */
export const toolsOperations = (parts: OperationParts): OperationsOf<typeof TOOLS> => ({
  'tool.list': listTools(parts),
  'tools.search': searchTools(parts),
  'tools.get': getTool(parts),
  'tools.manifests': listManifests(parts),
  'tools.register': registerTool(parts),
  'tools.remove': removeTool(parts),
});
