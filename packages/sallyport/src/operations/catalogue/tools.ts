import { ToolSearchRequest, ToolSearchResponse } from '../../../api/schemas/registry/search.ts';
import { ToolRemoveRequest, ToolRemoveResponse } from '../../../api/schemas/registry/tool-lifecycle.ts';
import {
  ManifestListRequest,
  ManifestListResponse,
  Registration,
  ToolDetail,
  ToolGetRequest,
  ToolListRequest,
  ToolListResponse,
  ToolRegisterRequest,
} from '../../../api/schemas/registry.ts';
import type { OperationEntry } from '../operation.ts';

/** Which tools there are, and their versions. */
export const TOOLS = {
  'tool.list': {
    summary: 'List the tools that the caller may see (BC-2)',
    method: 'GET',
    path: '/v1/tools',
    status: 200,
    access: 'token',
    input: ToolListRequest,
    output: ToolListResponse,
  },
  'tools.search': {
    summary: 'Find tools by what they do, among those that the caller may see',
    method: 'POST',
    path: '/v1/tool-search',
    status: 200,
    access: 'token',
    input: ToolSearchRequest,
    output: ToolSearchResponse,
  },
  'tools.get': {
    summary: 'One tool with its manifest',
    method: 'GET',
    path: '/v1/tools/{tool_id}',
    status: 200,
    access: 'token',
    input: ToolGetRequest,
    output: ToolDetail,
  },
  'tools.manifests': {
    summary: 'Manifests of the tools that the caller may see',
    method: 'GET',
    path: '/v1/manifests',
    status: 200,
    access: 'token',
    input: ManifestListRequest,
    output: ManifestListResponse,
  },
  'tools.register': {
    summary: 'Register a manifest',
    method: 'POST',
    path: '/v1/tools',
    status: 201,
    access: 'operator',
    input: ToolRegisterRequest,
    output: Registration,
  },
  'tools.remove': {
    summary: 'Remove one version of a tool, or all',
    method: 'DELETE',
    path: '/v1/tools/{tool_id}',
    status: 200,
    access: 'operator',
    input: ToolRemoveRequest,
    output: ToolRemoveResponse,
  },
} as const satisfies Record<string, OperationEntry>;
