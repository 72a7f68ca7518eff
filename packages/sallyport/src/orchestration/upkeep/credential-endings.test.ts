import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import type { Credential } from '../../external/credentials.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { createCredentialEndings } from './credential-endings.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-06-01T00:00:00Z');

/** Instances over one store, with a clock that the test moves. */
function bench() {
  const store = memoryLedgerStore();
  let now = NOW;
  const logged: unknown[] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void logged.push([event, fields]) };
  return {
    logged,
    pass: (ms: number): void => {
      now += ms;
    },
    instance: async (chainId: string, credentials: readonly Credential[]) => {
      const ledger = await openLedger({ store, chainId, log: silentLog });
      const clock = { now: () => now, monotonic: () => now };
      return createCredentialEndings({ credentials, warnMs: 7 * DAY_MS, ledger, records: store, clock, log });
    },
    events: async (tenantId: string) =>
      (await store.events(tenantId, { type: 'ai.agent.credential.ending', limit: 100 })).map(({ event }) => event),
  };
}

const KEY: Credential = {
  ...{ name: 'petstore_key', tenantId: 'acme', type: 'api_key', rotationSchedule: 'on_demand' },
  expiresAt: NOW + 10 * DAY_MS,
};

test('EXT-06.3 a credential near its end is one event of its tenant, and another when it ended', async () => {
  const { instance, events, pass, logged } = bench();
  const turn = await instance('one', [KEY, { ...KEY, tenantId: 'other', expiresAt: NOW + 99 * DAY_MS }]);
  await turn();
  expect(await events('acme')).toEqual([]);
  pass(4 * DAY_MS);
  await turn();
  await turn();
  expect(await events('acme')).toMatchObject([
    {
      subject: 'petstore_key',
      tenantid: 'acme',
      data: {
        name: 'petstore_key',
        credential_type: 'api_key',
        reason: 'expires_soon',
        ends_at: '2026-06-11T00:00:00.000Z',
        rotation_schedule: 'on_demand',
      },
    },
  ]);
  expect(logged).toHaveLength(1);
  pass(6 * DAY_MS);
  await turn();
  expect((await events('acme')).map(({ data }) => data['reason'])).toEqual(['expires_soon', 'expired']);
  expect(await events('other')).toEqual([]);
});

test('EXT-06.3 what is on record is not recorded again by a restart or another instance, until the end is another one', async () => {
  const { instance, events, pass, logged } = bench();
  pass(5 * DAY_MS);
  for (const chainId of ['one', 'two', 'three']) await (await instance(chainId, [KEY]))();
  expect(await events('acme')).toHaveLength(1);
  // Each start logs the end of the credential, although the event is recorded only once.
  expect(logged).toHaveLength(3);
  await (await instance('four', [{ ...KEY, expiresAt: NOW + 11 * DAY_MS }]))();
  expect(await events('acme')).toHaveLength(2);
});
