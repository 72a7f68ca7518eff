import { checkSchema as check } from '../../../../test/check-schema.ts';
import { ManifestChange, ToolDiffRequest, ToolDiffResponse } from '../schemas/registry/tool-comparison.ts';
import {
  ComplianceReport,
  ManifestCheckRequest,
  ManifestCheckResponse,
  ToolDeprecateRequest,
  ToolHistoryResponse,
  ToolRemoveRequest,
  ToolRemoveResponse,
  ToolRestoreRequest,
  ToolSunsetRequest,
} from '../schemas/registry/tool-lifecycle.ts';

const AT = '2026-11-21T10:00:00.000Z';

check(
  'a request to remove',
  ToolRemoveRequest,
  [{ tool_id: 'a' }, { tool_id: 'a', version: '1.0.0', force: true, reason: 'gone' }],
  [{ tool_id: 'a', version: '^1.0.0' }, { tool_id: '../a' }],
);
check('an answer to a removal', ToolRemoveResponse, [{ tool_id: 'a', removed: ['1.0.0'] }], [{ tool_id: 'a' }]);
check(
  'a request to deprecate',
  ToolDeprecateRequest,
  [
    { tool_id: 'a' },
    { tool_id: 'a', version: '1.0.0', in_favor_of: '2.0.0', migration_guide: 'Rename.', reason: 'old' },
  ],
  [
    { tool_id: 'a', version: 'latest' },
    { tool_id: 'a', in_favor_of: '' },
    { tool_id: 'a', state: 'sunset' },
  ],
);
check('a request to sunset', ToolSunsetRequest, [{ tool_id: 'a' }], [{}]);
check('a request to restore', ToolRestoreRequest, [{ tool_id: 'a', version: '1.0.0' }], [{ tool_id: 'a' }]);
check(
  'a history',
  ToolHistoryResponse,
  [
    {
      tool_id: 'a',
      versions: [
        {
          version: '1.0.0',
          state: 'deprecated',
          content_hash: '0',
          registered_at: AT,
          in_use: false,
          changes: [{ state: 'deprecated', at: AT, by: 'did:web:a', reason: 'old' }],
        },
      ],
    },
  ],
  [{ tool_id: 'a', versions: [{ version: '1.0.0', state: 'gone' }] }],
);
check('a request to check', ManifestCheckRequest, [{ manifest: {} }], [{}, { manifest: 'text' }]);
check(
  'a compliance report',
  ComplianceReport,
  [{ score: 50, points: 2, points_met: 1, findings: [{ path: '/a', rule: '$schema', message: 'is missing' }] }],
  [{ score: 101, points: 2, points_met: 1, findings: [] }],
);
check(
  'the answer to a check',
  ManifestCheckResponse,
  [{ valid: false, faults: [], warnings: [] }],
  [{ valid: 'no', faults: [], warnings: [] }],
);
check('a request to compare', ToolDiffRequest, [{ tool_id: 'a', from: '1.0.0' }], [{ tool_id: 'a' }]);
check(
  'a change of a manifest',
  ManifestChange,
  [{ path: '/x', kind: 'required-added', severity: 'breaking', message: 'x is required.', needs_review: true }],
  [{ path: '/x', kind: 'required-added', severity: 'grave', message: 'x' }],
);
check(
  'a comparison',
  ToolDiffResponse,
  [
    {
      tool_id: 'a',
      from: '1.0.0',
      to: '1.1.0',
      breaking: false,
      needs_review: false,
      step: 'minor',
      step_honoured: true,
      complete: true,
      changes: [],
      warnings: [],
    },
  ],
  [{ tool_id: 'a', from: '1.0.0', to: '1.1.0' }],
);
