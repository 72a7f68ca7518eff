import type { Static, TSchema } from 'typebox';
import { AuditPage, AuditQuery, AuditVerification } from '../../api/schemas/audit.ts';
import { type Role, TokenMintRequest, TokenMintResponse } from '../../api/schemas/capability-token.ts';
import { Health } from '../../api/schemas/health.ts';
import { NoInput } from '../../api/schemas/identifiers.ts';
import {
  ToolCancelRequest,
  ToolCancelResponse,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolStatusRequest,
  ToolStatusResponse,
} from '../../api/schemas/invocation.ts';
import {
  ImportResponse,
  ManifestListRequest,
  ManifestListResponse,
  OpenApiImportRequest,
  Registration,
  ToolDetail,
  ToolGetRequest,
  ToolListRequest,
  ToolListResponse,
  ToolRegisterRequest,
  ToolRemoveRequest,
  ToolRemoveResponse,
} from '../../api/schemas/registry.ts';
import {
  UpstreamAddRequest,
  UpstreamAddResponse,
  UpstreamImportRequest,
  UpstreamImportResponse,
  UpstreamListResponse,
  UpstreamNameRequest,
  UpstreamRemoveResponse,
} from '../../api/schemas/upstream.ts';

/** Who may ask: anyone, any valid capability token, or a token (or local caller) with the operator's role. */
export type Access = 'open' | 'token' | Extract<Role, 'operator'>;

/** What can be asked of the layer, as data: doors, the OpenAPI document and the remote client are made from this table. */
export interface OperationEntry {
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path template; `{x}` is a member of the input. Of GET and DELETE the other members travel in the query, of POST in the body. */
  readonly path: string;
  /** HTTP status of a happy answer. */
  readonly status: 200 | 201;
  readonly access: Access;
  readonly input: TSchema;
  readonly output: TSchema;
}

/** THE table of operations, by name. */
export const OPERATIONS = {
  'tool.invoke': {
    summary: 'Invoke a tool (BC-2)',
    method: 'POST',
    path: '/v1/invocations',
    status: 200,
    access: 'token',
    input: ToolInvokeRequest,
    output: ToolInvokeResponse,
  },
  'tool.status': {
    summary: 'Status of an invocation (BC-2)',
    method: 'GET',
    path: '/v1/invocations/{invocation_id}',
    status: 200,
    access: 'token',
    input: ToolStatusRequest,
    output: ToolStatusResponse,
  },
  'tool.cancel': {
    summary: 'Cancel an invocation (BC-2)',
    method: 'DELETE',
    path: '/v1/invocations/{invocation_id}',
    status: 200,
    access: 'token',
    input: ToolCancelRequest,
    output: ToolCancelResponse,
  },
  'tool.list': {
    summary: 'List the tools that the caller may see (BC-2)',
    method: 'GET',
    path: '/v1/tools',
    status: 200,
    access: 'token',
    input: ToolListRequest,
    output: ToolListResponse,
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
  'tools.import-openapi': {
    summary: 'Register each operation of an OpenAPI document',
    method: 'POST',
    path: '/v1/imports/openapi',
    status: 200,
    access: 'operator',
    input: OpenApiImportRequest,
    output: ImportResponse,
  },
  'upstreams.list': {
    summary: 'List the upstreams',
    method: 'GET',
    path: '/v1/upstreams',
    status: 200,
    access: 'operator',
    input: NoInput,
    output: UpstreamListResponse,
  },
  'upstreams.add': {
    summary: 'Connect an MCP server and register its tools',
    method: 'POST',
    path: '/v1/upstreams',
    status: 201,
    access: 'operator',
    input: UpstreamAddRequest,
    output: UpstreamAddResponse,
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
  'upstreams.remove': {
    summary: 'Disconnect an upstream and remove its tools',
    method: 'DELETE',
    path: '/v1/upstreams/{name}',
    status: 200,
    access: 'operator',
    input: UpstreamNameRequest,
    output: UpstreamRemoveResponse,
  },
  'token.mint': {
    summary: 'Sign a capability token',
    method: 'POST',
    path: '/v1/tokens',
    status: 201,
    access: 'operator',
    input: TokenMintRequest,
    output: TokenMintResponse,
  },
  'audit.query': {
    summary: 'Read the audit events of the tenant',
    method: 'GET',
    path: '/v1/audit',
    status: 200,
    access: 'operator',
    input: AuditQuery,
    output: AuditPage,
  },
  'audit.verify': {
    summary: 'Check the hash chains',
    method: 'GET',
    path: '/v1/audit/verification',
    status: 200,
    access: 'operator',
    input: NoInput,
    output: AuditVerification,
  },
  health: {
    summary: 'Health of the layer',
    method: 'GET',
    path: '/healthz',
    status: 200,
    access: 'open',
    input: NoInput,
    output: Health,
  },
} as const satisfies Record<string, OperationEntry>;

/** The closed set of operations. */
export type OperationName = keyof typeof OPERATIONS;
/** What an operation takes, as the wire has it. */
export type OperationInput<N extends OperationName> = Static<(typeof OPERATIONS)[N]['input']>;
/** What an operation answers with, as the wire has it. */
export type OperationOutput<N extends OperationName> = Static<(typeof OPERATIONS)[N]['output']>;
