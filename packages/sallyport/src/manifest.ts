/** Types and schemas of the contract, for programs that make or read manifests. */
export { AgentSandboxContext } from '../api/schemas/agent-sandbox-context.ts';
export { CapabilityClaims } from '../api/schemas/capability-token.ts';
export { CloudEvent } from '../api/schemas/cloud-event.ts';
export { ProblemDetails, ToolErrorBody } from '../api/schemas/error.ts';
export {
  ToolCancelRequest,
  ToolCancelResponse,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolStatusRequest,
  ToolStatusResponse,
} from '../api/schemas/invocation.ts';
export { ToolListRequest, ToolListResponse } from '../api/schemas/registry.ts';
export { ToolManifest } from '../api/schemas/tool-manifest.ts';
export { UpstreamDefinition } from '../api/schemas/upstream.ts';
