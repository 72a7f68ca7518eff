import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryQuarantineStore } from '../../../test/stores/memory-quarantine-store.ts';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import { createQuarantine } from '../../mcp-servers/quarantine.ts';
import { manifest, registryOver } from '../../registry/versions/registry.fixture.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { Asker } from '../operation.ts';
import { removeTool } from './move-tool.ts';
import { recordUnrecorded } from './record-unrecorded.ts';
import { registerTool } from './register-tool.ts';

const asker: Asker = { caller: { door: 'library' }, principal: { tenantId: 'acme', agentDid: 'did:op', roles: [] } };

/** Operations over one store; with `crash` the events of an operation are never written. */
async function openOperations() {
  const said: Record<string, unknown>[] = [];
  const toolStore = memoryToolStore();
  const ledger = await openLedger({ store: memoryLedgerStore(), chainId: 'test', log: silentLog });
  const open = (crash: boolean) => {
    const commit: typeof ledger.commit = (entry) => {
      if (crash) throw new Error('killed');
      said.push(...entry.events.flatMap((event) => ('data' in event ? [{ ...event.data }] : [])));
      return ledger.commit(entry);
    };
    const clock = systemClock;
    return {
      registry: registryOver(toolStore, { clock }),
      quarantine: createQuarantine({ store: memoryQuarantineStore(), clock, log: silentLog }),
      ledger: { ...ledger, commit },
      clock,
      log: silentLog,
    };
  };
  return { said, open };
}

/** A negative age: every unrecorded change is old enough. */
const AT_ONCE = -60_000;

test('AUD-01 a registration and a removal that were cut off before their events are told at the next start', async () => {
  const { said, open } = await openOperations();
  const killed = open(true);
  await expect(registerTool.run(killed)({ manifest: manifest('1.0.0') as never }, asker)).rejects.toThrow('killed');
  const next = open(false);
  await next.registry.load();
  expect(await recordUnrecorded(next, AT_ONCE)).toBe(1);
  expect(said).toMatchObject([
    {
      change: 'found-unrecorded',
      tenant_id: 'acme',
      tools: [{ tool_id: 'weather', tool_version: '1.0.0', state: 'active', by: 'did:op' }],
    },
  ]);
  expect(await recordUnrecorded(next, AT_ONCE)).toBe(0);

  const again = open(true);
  await again.registry.load();
  await expect(removeTool.run(again)({ tool_id: 'weather', force: true }, asker)).rejects.toThrow('killed');
  expect(await recordUnrecorded(open(false), AT_ONCE)).toBe(1);
  expect(said.at(-1)).toMatchObject({ tools: [{ tool_id: 'weather', state: 'removed', by: 'did:op' }] });
});

test('what an operation told itself is not told again', async () => {
  const { said, open } = await openOperations();
  const parts = open(false);
  await registerTool.run(parts)({ manifest: manifest('1.0.0') as never }, asker);
  await removeTool.run(parts)({ tool_id: 'weather', force: true }, asker);
  expect(said.map(({ change }) => change)).toEqual(['registered', 'removed']);
  expect(await recordUnrecorded(parts, AT_ONCE)).toBe(0);
});

test('what another instance is in the middle of is left to it', async () => {
  const { open } = await openOperations();
  await expect(registerTool.run(open(true))({ manifest: manifest('1.0.0') as never }, asker)).rejects.toThrow('killed');
  expect(await recordUnrecorded(open(false))).toBe(0);
});
