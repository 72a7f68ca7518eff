import {
  ComposioImport,
  ImportReport,
  LangChainImport,
  OpenApiImport,
  SkillImport,
} from '../../../api/schemas/imports.ts';
import { UpstreamImportRequest, UpstreamImportResponse } from '../../../api/schemas/upstream.ts';
import type { OperationEntry } from '../operation.ts';

/** Foreign documents that become tools or upstreams. */
export const IMPORTS = {
  'tools.import-openapi': {
    summary: 'Register each operation of an OpenAPI document',
    method: 'POST',
    path: '/v1/imports/openapi',
    status: 200,
    access: 'operator',
    input: OpenApiImport,
    output: ImportReport,
  },
  'tools.import-langchain': {
    summary: 'Register serialised LangChain tools',
    method: 'POST',
    path: '/v1/imports/langchain',
    status: 200,
    access: 'operator',
    input: LangChainImport,
    output: ImportReport,
  },
  'tools.import-skill': {
    summary: 'Register the skills of a folder',
    method: 'POST',
    path: '/v1/imports/skills',
    status: 200,
    access: 'operator',
    input: SkillImport,
    output: ImportReport,
  },
  'tools.import-composio': {
    summary: 'Register tools of Composio, as its API lists them',
    method: 'POST',
    path: '/v1/imports/composio',
    status: 200,
    access: 'operator',
    input: ComposioImport,
    output: ImportReport,
  },
  'upstreams.import': {
    summary: "Add the servers of a desktop client's mcpServers JSON",
    method: 'POST',
    path: '/v1/imports/mcp-servers',
    status: 200,
    access: 'operator',
    input: UpstreamImportRequest,
    output: UpstreamImportResponse,
  },
} as const satisfies Record<string, OperationEntry>;
