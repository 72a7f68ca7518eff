import type { INVOCATIONS } from '../catalogue/invocations.ts';
import type { OperationsOf } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { cancelTool } from './cancel-tool.ts';
import { dryRun } from './dry-run.ts';
import { extendTool } from './extend-tool.ts';
import { invokeTool } from './invoke-tool.ts';
import { listCalls } from './list-calls.ts';
import { toolStatus } from './tool-status.ts';
import { watchTool } from './watch-tool.ts';

/** What can be asked about one call. */
export function invocationsOperations(parts: OperationParts): OperationsOf<typeof INVOCATIONS> {
  return {
    'tool.invoke': invokeTool(parts),
    'tool.dry_run': dryRun(parts),
    'calls.list': listCalls(parts),
    'tool.status': toolStatus(parts),
    'tool.cancel': cancelTool(parts),
    'tool.watch': watchTool(parts),
    'tool.extend': extendTool(parts),
  };
}
