import { isFailure } from '@sallyport/std/error/failure';
import { ToolComplianceRequest, ToolComplianceResponse } from '../../../api/schemas/registry/tool-lifecycle.ts';
import { complianceOf } from '../../registry/registry.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Rates the descriptions in a registered tool's schemas (REG-08). */
export const toolCompliance = operation({
  name: 'tools.compliance',
  summary: 'How well the schemas of a tool are described, with what is missing',
  method: 'GET',
  path: '/v1/tools/{tool_id}/compliance',
  status: 200,
  access: 'token',
  input: ToolComplianceRequest,
  output: ToolComplianceResponse,
  run:
    ({ visible }: Pick<OperationParts, 'visible'>) =>
    ({ tool_id, version }, asker) => {
      const found = visible.read(asker, tool_id, version);
      if (isFailure(found)) return found;
      const { manifest } = found.tool;
      return { tool_id, version: manifest.version, compliance: complianceOf(manifest) };
    },
});
