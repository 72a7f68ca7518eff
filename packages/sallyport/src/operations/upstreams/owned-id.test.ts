import { systemClock as clock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import { beforeEach, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryQuarantineStore } from '../../../test/stores/memory-quarantine-store.ts';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import { createQuarantine, type UpstreamTool } from '../../mcp-servers/quarantine.ts';
import { createRegistry, RETENTION } from '../../registry/registry.ts';
import { silentLog as log } from '../../telemetry/log.ts';
import { createSchemaValidator } from '../../validation/schema-validator.ts';
import type { Asker } from '../operation.ts';
import { checkManifest } from '../tools/check-manifest.ts';
import { restoreTool } from '../tools/move-tool.ts';
import { registerTool } from '../tools/register-tool.ts';

const asker: Asker = { caller: { door: 'library' }, principal: { tenantId: 'acme', agentDid: 'did:op', roles: [] } };
const owned: UpstreamTool = { tenantId: 'acme', toolId: 'up__a', upstream: 'up', tool: 'a', noticedAt: '' };
const native: ToolManifest = {
  tool_id: 'up__a',
  tool_name: 'a',
  version: '9.0.0',
  description: 'Not what callers know by this id.',
  parameters_schema: { type: 'object' },
  executor: { kind: 'native' },
};
const from = (upstream: string, tool: string): ToolManifest => ({
  ...native,
  executor: { kind: 'mcp', config: { upstream, tool } },
});

async function openParts() {
  const compileSchema = createSchemaValidator().inspect;
  const registry = createRegistry({
    store: memoryToolStore(),
    clock,
    log,
    retention: RETENTION,
    timeoutSecondsMax: 300,
    compileSchema,
    configFaults: () => [],
  });
  const quarantine = createQuarantine({ store: memoryQuarantineStore(), clock, log });
  const ledger = await openLedger({ store: memoryLedgerStore(), chainId: 'test', log });
  return { registry, quarantine, ledger, clock };
}

let parts: Awaited<ReturnType<typeof openParts>>;
beforeEach(async () => {
  parts = await openParts();
});

async function outcome(manifest: object, who = asker): Promise<string> {
  const answer = await registerTool.run(parts)({ manifest: { ...manifest } }, who);
  return isFailure(answer) ? answer.code : answer.outcome;
}

test('REG-13 an id that belongs to a tool of an upstream is refused to every other tool, and told by a check', async () => {
  await parts.quarantine.put([owned]);
  expect(await outcome(native)).toBe('E3007');
  expect(await outcome(from('other', 'a'))).toBe('E3007');
  expect(await outcome(from('up', 'b'))).toBe('E3007');
  expect(await checkManifest.run(parts)({ manifest: { ...native } }, asker)).toMatchObject({
    valid: false,
    faults: [{ path: '/tool_id', code: 'E3007' }],
  });
  expect(parts.registry.versions('acme', 'up__a')).toEqual([]);
});

test('the tool itself may be registered by hand, and the id is free in other tenants and once the upstream is gone', async () => {
  await parts.quarantine.put([owned]);
  expect(await outcome(from('up', 'a'))).toBe('created');
  expect(await outcome(native, { ...asker, principal: { ...asker.principal, tenantId: 'globex' } })).toBe('created');
  await parts.registry.removeAll('acme', ['up__a']);
  await parts.quarantine.forget('acme', 'up');
  expect(await outcome({ ...native, version: '9.0.1' })).toBe('created');
  expect(await checkManifest.run(parts)({ manifest: { ...native, version: '9.0.2' } }, asker)).toMatchObject({
    valid: true,
  });
});

test('REG-13 a version of another tool that was removed before does not come back under the id of an upstream', async () => {
  expect(await outcome(native)).toBe('created');
  await parts.registry.removeAll('acme', ['up__a']);
  await parts.quarantine.put([owned]);
  const restore = () => restoreTool.run(parts)({ tool_id: 'up__a', version: '9.0.0' }, asker);
  expect(await restore()).toMatchObject({ code: 'E3007' });
  expect(parts.registry.versions('acme', 'up__a')).toEqual([]);
  await parts.quarantine.forget('acme', 'up');
  expect(await restore()).toMatchObject({ versions: [{ version: '9.0.0', state: 'active' }] });
});

test('what is no manifest is left to the registry to refuse', async () => {
  await parts.quarantine.put([owned]);
  for (const manifest of [{}, { tool_id: 7 }, { tool_id: 'constructor' }, { tool_id: 'free', executor: null }]) {
    await expect(outcome(manifest)).rejects.toMatchObject({ code: 'E3008' });
  }
});
