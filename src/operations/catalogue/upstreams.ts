import { NoInput } from '../../../api/schemas/identifiers.ts';
import {
  QuarantineAcceptResponse,
  QuarantineDecision,
  QuarantineListRequest,
  QuarantineListResponse,
  QuarantineRejectResponse,
} from '../../../api/schemas/registry/quarantine.ts';
import {
  UpstreamAddRequest,
  UpstreamAddResponse,
  UpstreamDetail,
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
    access: 'viewer',
    input: NoInput,
    output: UpstreamListResponse,
  },
  'upstreams.get': {
    summary: 'One upstream: its state, what it offers, what is wrong with it (REG-09)',
    method: 'GET',
    path: '/v1/upstreams/{name}',
    status: 200,
    access: 'viewer',
    input: UpstreamNameRequest,
    output: UpstreamDetail,
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
  'upstreams.quarantine': {
    summary: 'List the tools that wait for an operator, with what changed (REG-09)',
    method: 'GET',
    path: '/v1/quarantine',
    status: 200,
    access: 'viewer',
    input: QuarantineListRequest,
    output: QuarantineListResponse,
  },
  'upstreams.accept': {
    summary: 'Accept what an upstream serves now, as a new version',
    method: 'POST',
    path: '/v1/upstreams/{name}/accept',
    status: 200,
    access: 'operator',
    input: QuarantineDecision,
    output: QuarantineAcceptResponse,
  },
  'upstreams.reject': {
    summary: 'Refuse what an upstream serves now',
    method: 'POST',
    path: '/v1/upstreams/{name}/reject',
    status: 200,
    access: 'operator',
    input: QuarantineDecision,
    output: QuarantineRejectResponse,
  },
} as const satisfies Record<string, OperationEntry>;
