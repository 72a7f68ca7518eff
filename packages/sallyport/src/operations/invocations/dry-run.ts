import { DryRunResponse } from '../../../api/schemas/calls/dry-run.ts';
import { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Says how a call would end, and why; nothing is run or taken (PIPE-15). */
export const dryRun = operation({
  name: 'tools.dry-run',
  summary: 'Say what would become of an invocation, and why; nothing is run or taken',
  method: 'POST',
  path: '/v1/dry-runs',
  status: 200,
  access: 'token',
  input: ToolInvokeRequest,
  output: DryRunResponse,
  run:
    ({ rehearseCall }: Pick<OperationParts, 'rehearseCall'>) =>
    (request, { caller }) =>
      rehearseCall({ request, caller }),
});
