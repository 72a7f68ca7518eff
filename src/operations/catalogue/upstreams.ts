import { NoInput } from '../../../api/schemas/identifiers.ts';
import {
  UpstreamAddRequest,
  UpstreamAddResponse,
  UpstreamListResponse,
  UpstreamNameRequest,
  UpstreamRemoveResponse,
} from '../../../api/schemas/upstream.ts';
import type { OperationEntry } from './entry.ts';

/** The MCP servers that the layer is a client of. */
export const UPSTREAMS = {
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
  'upstreams.remove': {
    summary: 'Disconnect an upstream and remove its tools',
    method: 'DELETE',
    path: '/v1/upstreams/{name}',
    status: 200,
    access: 'operator',
    input: UpstreamNameRequest,
    output: UpstreamRemoveResponse,
  },
} as const satisfies Record<string, OperationEntry>;
