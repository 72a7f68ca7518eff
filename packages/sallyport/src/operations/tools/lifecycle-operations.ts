import type { OperationsOf } from '../catalogue/run.ts';
import type { TOOL_LIFECYCLE } from '../catalogue/tool-lifecycle.ts';
import type { OperationParts } from '../parts.ts';
import { checkManifest } from './check-manifest.ts';
import { diffTool } from './diff-tool.ts';
import { deprecateTool, restoreTool, sunsetTool } from './move-tool.ts';
import { toolCompliance } from './tool-compliance.ts';
import { toolHistory } from './tool-history.ts';

/** What does each operation on versions and their quality. */
export const lifecycleOperations = (parts: OperationParts): OperationsOf<typeof TOOL_LIFECYCLE> => ({
  'tools.deprecate': deprecateTool(parts),
  'tools.sunset': sunsetTool(parts),
  'tools.restore': restoreTool(parts),
  'tools.history': toolHistory(parts),
  'tools.diff': diffTool(parts),
  'tools.compliance': toolCompliance(parts),
  'tools.check': checkManifest(parts),
});
