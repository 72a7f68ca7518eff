import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import type { ToolPermissions } from '../../../../api/schemas/tool-manifest.ts';
import type { LayerLimits } from '../../../permission/compute-grant.ts';
import { manifest } from '../../pipeline.fixture.ts';
import { callGrant, type LayerBounds } from './call-grant.ts';

const layer: LayerLimits = {
  defaults: { timeoutMs: 1000, cpuMillicores: 500, memoryMb: 64, outputBytesMax: 1000, processesMax: 7, diskMb: 8 },
  maxima: { timeoutMs: 2000, cpuMillicores: 500, memoryMb: 64, outputBytesMax: 1000, processesMax: 7, diskMb: 8 },
};
const claims = {
  tool_id: '*',
  agent_did: 'did:a',
  tenant_id: 't',
  allowed_operations: ['execute'],
  filesystem_permissions: { allowed_paths: ['/'], mode: 'rw' as const },
  exp: 2,
  iat: 1,
  iss: 'i',
};

function asked(bounds: Partial<LayerBounds>, permissions: ToolPermissions = {}) {
  const tool = { manifest: manifest('t', { permissions }) };
  const grantOf = callGrant({ layer, agentContext: {}, laterTimeoutMsMax: 2000, ...bounds });
  return (request: Partial<ToolInvokeRequest> = {}) =>
    grantOf({ request: { tool_id: 't', ...request }, claims, tool } as unknown as Parameters<typeof grantOf>[0]);
}

test('SBX-01 the bandwidth of a call is within that of the agent and of the layer, and within that of the call', () => {
  const ask = asked({ agentContext: { resource_limits: { network_bandwidth_mbps: 50 } } });
  const limit = (request: Partial<ToolInvokeRequest>): unknown => {
    const grant = ask(request);
    return isFailure(grant) ? grant.code : grant.limits.networkBandwidthMbps;
  };
  expect(limit({})).toBe(50);
  expect(limit({ resource_limits: { network_bandwidth_mbps: 5 } })).toBe(5);
  expect(limit({ resource_limits: { network_bandwidth_mbps: 51 } })).toBe('E3102');
  expect(limit({ agent_sandbox_context: { resource_limits: { network_bandwidth_mbps: 9 } } })).toBe(9);
  expect(limit({ agent_sandbox_context: { resource_limits: { network_bandwidth_mbps: 90 } } })).toBe(50);
});

test('SBX-03 processes and disk are those of the layer, whatever a call brings', () => {
  const ask = asked({});
  expect(ask()).toMatchObject({ limits: { processesMax: 7, diskMb: 8 } });
  expect(ask({ resource_limits: { timeout_seconds: 1 } })).toMatchObject({ limits: { processesMax: 7, diskMb: 8 } });
});

test('SBX-01.7 a link that comes to be in a granted path is found, also by the second call of the same token', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'call-grant-')));
  mkdirSync(join(folder, 'work/a'), { recursive: true });
  mkdirSync(join(folder, 'work/b'));
  symlinkSync('a', join(folder, 'work/link'));
  const agentContext = { filesystem_policy: { mounts: [{ path: join(folder, 'work'), mode: 'rw' as const }] } };
  const ask = asked({ agentContext }, { filesystem: [{ path: join(folder, 'work/link'), mode: 'rw' }] });
  expect(isFailure(ask())).toBe(false);
  rmSync(join(folder, 'work/link'));
  symlinkSync('../..', join(folder, 'work/link'));
  expect(ask()).toMatchObject({ code: 'E3105' });
  rmSync(join(folder, 'work/link'));
  symlinkSync('b', join(folder, 'work/link'));
  expect(isFailure(ask())).toBe(false);
  rmSync(folder, { recursive: true });
});

test('a token and a tool that met before get the same grant', () => {
  const ask = asked({});
  expect(ask()).toBe(ask());
});

test('PIPE-12.1 a call that a worker runs may last as long as such calls may, also for an agent whose calls may not', () => {
  const timeoutOf = (agentContext: LayerBounds['agentContext'], request: Partial<ToolInvokeRequest>): unknown => {
    const grant = asked({ agentContext, laterTimeoutMsMax: 60_000 })(request);
    return isFailure(grant) ? grant.code : grant.limits.timeoutMs;
  };
  const later = { execution_options: { async_mode: true } };
  for (const agentContext of [{}, { resource_limits: { timeout_seconds: 2 } }]) {
    expect(timeoutOf(agentContext, { resource_limits: { timeout_seconds: 2 } })).toBe(2_000);
    expect(timeoutOf(agentContext, { resource_limits: { timeout_seconds: 3 } })).toBe('E3102');
    expect(timeoutOf(agentContext, { ...later, resource_limits: { timeout_seconds: 60 } })).toBe(60_000);
    expect(timeoutOf(agentContext, { ...later, resource_limits: { timeout_seconds: 61 } })).toBe('E3102');
  }
  const bandwidth = asked({ agentContext: { resource_limits: { timeout_seconds: 2, network_bandwidth_mbps: 50 } } });
  expect(bandwidth(later)).toMatchObject({ limits: { networkBandwidthMbps: 50 } });
});
