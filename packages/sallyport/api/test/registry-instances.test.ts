import { checkSchema as check } from '../../../../test/check-schema.ts';
import {
  AnchorList,
  AnchorsToVerify,
  AnchorVerification,
  AuditPage,
  AuditQuery,
  AuditVerification,
} from '../schemas/audit.ts';
import { Health } from '../schemas/health.ts';
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
} from '../schemas/registry.ts';
import {
  UpstreamAddRequest,
  UpstreamAddResponse,
  UpstreamDefinition,
  UpstreamImportRequest,
  UpstreamImportResponse,
  UpstreamListResponse,
  UpstreamNameRequest,
  UpstreamRemoveResponse,
} from '../schemas/upstream.ts';
import { AT, MANIFEST } from './examples.fixture.ts';

const UPSTREAM = { name: 'everything', transport: { type: 'stdio', command: 'node', args: ['server.js'] } };
const UPSTREAM_STATUS = {
  name: 'everything',
  state: 'ready',
  transport: 'stdio',
  capabilities: ['tools'],
  tool_count: 3,
  quarantined_count: 0,
  malformed_count: 0,
  restart_count: 0,
  changed_at: AT,
};
const REGISTRATION = { tool_id: 'a', version: '1.0.0', outcome: 'created', warnings: [] };

check(
  'a list request',
  ToolListRequest,
  [{}, { page: 1, page_size: 200, tags: ['a'] }],
  [{ page: 0 }, { page_size: 201 }, { executor: 'soap' }],
);
check(
  'a list response',
  ToolListResponse,
  [
    {
      tools: [
        {
          tool_id: 'a',
          tool_name: 'A',
          description: '',
          category: 'computation',
          versions: ['1.0.0'],
          latest_version: '1.0.0',
          tags: [],
          requires_approval: false,
          executor: 'native',
        },
      ],
      pagination: { total_count: 1, page: 1, page_size: 50 },
    },
  ],
  [{ tools: [] }, { tools: [{}], pagination: { total_count: 1, page: 1, page_size: 50 } }],
);
check(
  'a request for one tool',
  ToolGetRequest,
  [{ tool_id: 'a', version: 'latest' }],
  [{}, { tool_id: 'a', version: '' }],
);
check(
  'a tool in detail',
  ToolDetail,
  [
    {
      manifest: MANIFEST,
      content_hash: 'f'.repeat(64),
      state: 'active',
      versions: ['1.2.0'],
      registered_at: AT,
      warnings: [],
    },
  ],
  [
    {
      manifest: MANIFEST,
      content_hash: 'f'.repeat(64),
      state: 'retired',
      versions: [],
      registered_at: AT,
      warnings: [],
    },
  ],
);
check(
  'a request to register',
  ToolRegisterRequest,
  [{ manifest: {} }],
  [{}, { manifest: 'x' }, { manifest: {}, force: true }],
);
check('a registration', Registration, [REGISTRATION], [{ ...REGISTRATION, outcome: 'replaced' }, { tool_id: 'a' }]);
check(
  'a request to import',
  OpenApiImportRequest,
  [{ document: '{}', name: 'a-1' }],
  [{ document: '' }, { document: '{}', name: 'a_b' }],
);
check(
  'an answer to an import',
  ImportResponse,
  [{ source: 'a', registrations: [REGISTRATION], skipped: [{ place: '/paths', reason: 'x' }] }],
  [{ source: 'a', registrations: [{}], skipped: [] }],
);
check('a request for manifests', ManifestListRequest, [{ page_size: 1000 }], [{ page_size: 1001 }]);
check(
  'an answer with manifests',
  ManifestListResponse,
  [{ manifests: [MANIFEST], total_count: 1, page: 1, page_size: 200 }],
  [{ manifests: [{}], total_count: 1, page: 1, page_size: 200 }],
);

check(
  'an upstream',
  UpstreamDefinition,
  [
    UPSTREAM,
    { name: 'a'.repeat(40), transport: { type: 'http', url: 'https://example.com/mcp' }, request_timeout_ms: 1 },
  ],
  [
    { ...UPSTREAM, name: 'a'.repeat(41) },
    { ...UPSTREAM, name: 'a_b' },
    { ...UPSTREAM, transport: { type: 'stdio' } },
    { ...UPSTREAM, transport: { type: 'http', url: 'file:///etc/passwd' } },
    { ...UPSTREAM, transport: { type: 'websocket', url: 'wss://example.com' } },
    { ...UPSTREAM, request_timeout_ms: 0 },
  ],
);
check('a request to add an upstream', UpstreamAddRequest, [{ upstream: UPSTREAM }], [{}, UPSTREAM]);
check(
  'an answer to a new upstream',
  UpstreamAddResponse,
  [{ upstream: UPSTREAM_STATUS, registrations: [REGISTRATION] }],
  [{ upstream: { ...UPSTREAM_STATUS, state: 'up' }, registrations: [] }],
);
check('a request to import upstreams', UpstreamImportRequest, [{ configuration: '{}' }], [{ configuration: '{' }, {}]);
check(
  'an answer to imported upstreams',
  UpstreamImportResponse,
  [{ planned: [], imported: [], kept: [], refused: [{ name: 'a', reason: 'x' }], notes: [] }],
  [{ imported: [] }],
);
check('a list of upstreams', UpstreamListResponse, [{ upstreams: [UPSTREAM_STATUS] }], [{ upstreams: [UPSTREAM] }]);
check('the name of an upstream', UpstreamNameRequest, [{ name: 'a-1' }], [{ name: '-a' }, { name: '' }]);
check('an answer to a removed upstream', UpstreamRemoveResponse, [{ name: 'a', removed_tools: [] }], [{ name: 'a' }]);

check(
  'a health report',
  Health,
  [{ status: 'ready', ready: true, version: '0.1.0', uptime_seconds: 1, parts: { database: { ok: true } } }],
  [{ status: 'ok', ready: true, version: '0.1.0', uptime_seconds: 1, parts: {} }],
);

check(
  'an audit query',
  AuditQuery,
  [{}, { after: 0, limit: 1000, type: 'ai.agent.tool.invoked' }],
  [{ limit: 0 }, { limit: 1001 }, { type: 'x' }],
);
check('an audit page', AuditPage, [{ events: [], next: 0 }], [{ events: [{}], next: 0 }, { events: [] }]);
check(
  'an audit verification',
  AuditVerification,
  [
    {
      whole: true,
      events: 0,
      chains: [],
      calls: { checked: 0, open: 0, gaps: 0, first_gaps: [] },
      heads: { checked: 0, faults: [] },
      warnings: [],
    },
    {
      whole: false,
      events: 2,
      chains: [{ chain_id: 'a', events: 2, checkpoints: 0, whole: false, first_broken: { seq: 2, reason: 'changed' } }],
      calls: {
        checked: 2,
        open: 1,
        gaps: 1,
        first_gaps: [{ tenant_id: 'acme', invocation_id: 'call-1', reason: 'it has no row' }],
      },
      heads: { checked: 1, faults: [] },
      warnings: ['There is no file of heads.'],
    },
  ],
  [
    { whole: true, events: 0, chains: [] },
    { whole: true, events: 0, calls: { checked: 0, open: 0, gaps: 0, first_gaps: [] } },
    { whole: false, events: 1, chains: [{ chain_id: 'a' }] },
  ],
);
const ANCHOR = { chain_id: 'a', seq: 1, hash: 'h', time: '2026-01-01T00:00:00Z', key_id: 'k', signature: 's' };
check(
  'anchors that are compared',
  AnchorsToVerify,
  [{ anchors: [] }, { anchors: [ANCHOR] }],
  [
    {},
    { anchors: [{ ...ANCHOR, seq: 0 }] },
    { anchors: [{ ...ANCHOR, more: 1 }] },
    { anchors: Array(1_001).fill(ANCHOR) },
  ],
);
check(
  'what became of anchors',
  AnchorVerification,
  [{ whole: false, checked: 1, faults: [{ chain_id: 'a', seq: 1, reason: 'it is gone' }] }],
  [{ whole: true, checked: 1 }],
);
check('signed heads', AnchorList, [{ anchors: [ANCHOR] }], [{ anchors: [{ chain_id: 'a' }] }, {}]);
