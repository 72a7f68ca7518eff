import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@sallyport/std/clock';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { SlotStore } from '../../packages/sallyport/src/permission/slot-store.port.ts';
import { type AgentSlot, AgentSlots } from '../../packages/sallyport/src/pipeline/ongoing/slots/agent-slots.ts';
import { SlotShare } from '../../packages/sallyport/src/pipeline/ongoing/slots/slot-share.ts';
import { postgresSlotStore } from '../../packages/sallyport/src/storage/postgres/calls/postgres-slot-store.ts';
import { poolTarget } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

let databases: TestDatabases;
export let pool: Pool;
let connect: () => Client;
beforeAll(async () => {
  databases = await embeddedDatabases();
  const target = poolTarget(await databases.fresh());
  connect = () => new Client(target);
  pool = new Pool({ ...target, max: 8 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
});
afterAll(async () => {
  await pool.end();
  await databases.close();
});
beforeEach(() => pool.query('delete from sallyport.slot_holders'));

const opened: SlotShare[] = [];
/** Closes the instances that are still open; it runs after each test by itself. */
export async function closeInstances(): Promise<void> {
  for (const share of opened.splice(0)) await share[Symbol.asyncDispose]();
}
afterEach(closeInstances);

/** Closes one instance before its test ends. */
export async function closeInstance({ share }: { readonly share: SlotShare }): Promise<void> {
  await share[Symbol.asyncDispose]();
  opened.splice(opened.indexOf(share), 1);
}

export const AGENT = 'acme\ndid:example:busy';
const never = new AbortController().signal;
/** Longer than the tests run. */
export const NEVER_MS = 2 ** 30;
const WAIT = { waitingMax: 1000, allWaitingMax: 1000, ms: NEVER_MS, signal: never };

/** The slots of all instances, in the database of this test file. */
export const slotStore = (): SlotStore => postgresSlotStore({ pool, connect, log: silentLog });

/** An instance with slots for its agents, on the shared database. */
export async function instance(
  given: {
    readonly id?: string;
    readonly leaseMs?: number;
    readonly clock?: Clock;
    readonly change?: (store: SlotStore) => SlotStore;
  } = {},
) {
  let questions = 0;
  const store = slotStore();
  const counted: SlotStore = {
    ...store,
    share: (owner, use) => {
      questions += 1;
      return store.share(owner, use);
    },
  };
  const share = new SlotShare({
    store: given.change?.(counted) ?? counted,
    instanceId: given.id ?? randomUUID(),
    leaseMs: given.leaseMs ?? 60_000,
    clock: given.clock ?? systemClock,
    log: silentLog,
    renewMs: 100,
  });
  opened.push(share);
  await share.start();
  const slots = new AgentSlots(share);
  const wait = (max: number, more: Partial<typeof WAIT> = {}, agent = AGENT): Promise<AgentSlot> =>
    slots.wait(agent, max, { ...WAIT, ...more });
  return { slots, share, wait, questions: () => questions };
}

/** An instance that, while it sleeps, cannot reach the database and receives no notifications. */
export async function sleepy(leaseMs: number, id: string = randomUUID()) {
  let asleep = false;
  const unlessAsleep =
    <Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      asleep ? Promise.reject(new Error('asleep')) : act(...given);
  const made = await instance({
    id,
    leaseMs,
    change: (store) => ({
      ...store,
      renew: unlessAsleep(store.renew),
      share: unlessAsleep(store.share),
      listen: (owner, heard) => store.listen(owner, (agentHash) => (asleep ? undefined : heard(agentHash))),
    }),
  });
  return {
    ...made,
    sleep: (is: boolean) => {
      asleep = is;
    },
  };
}

/** What the database says of the agents' slots: of each instance that has or wants some, how many. */
export const rows = async () =>
  (await pool.query('select slots, wanted from sallyport.agent_slots order by slots')).rows;
