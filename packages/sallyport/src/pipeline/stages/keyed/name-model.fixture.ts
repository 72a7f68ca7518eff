import { deepEqual, equal } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { type Ledger, openLedger } from '../../../audit/ledger.ts';
import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import { verifyLedger } from '../../../audit/verify-ledger.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { IdempotencyStore } from '../../idempotency-store.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { recoverOpenCalls } from '../../run.ts';

/** Stores that the instances of one layer share. */
export interface SharedStores {
  readonly records: LedgerStore;
  readonly idempotency: IdempotencyStore;
}

/** Names by which one call is repeated; at least one of them. */
interface Names {
  readonly id: 'x-1' | 'x-2' | undefined;
  readonly key: 'k-1' | 'k-2' | undefined;
}

/** One request, sent once or several times at once. */
interface Ask extends Names {
  readonly n: number;
  /** How the call ends if it runs: its tool succeeds or fails, the call is refused, or its instance is killed. */
  readonly how: 'good' | 'fails' | 'refused' | 'killed';
  /** The instance that each copy goes to. */
  readonly copies: readonly (0 | 1)[];
}

/** The request that a name belongs to, and the answer to every equal request. */
interface Bound {
  readonly asked: string;
  readonly call: { readonly asked: string; readonly invocationId: string; readonly code: string | undefined };
}

/** The model in memory: the request of each id and of each key. */
interface Model {
  readonly ids: Map<string, Bound>;
  readonly keys: Map<string, Bound>;
  runs: number;
}

interface Instance {
  readonly made: Awaited<ReturnType<typeof pipeline>>;
  /** Kills the instance: from now on none of its writes reaches a store. */
  kill(): void;
  close(): Promise<void>;
}

/** The chains of these tests have no checkpoints, so no signer is needed. */
const NO_SIGNER = { sign: async () => ({ keyId: '', signature: '' }), verify: async () => false };

/** Two instances with an irreversible tool. */
class Layer {
  readonly #stores: SharedStores;
  readonly #play: string;
  #instances: Instance[] = [];
  runs = 0;
  /** Resolves when the tool of the call that is to be killed has begun to run. */
  #begun = Promise.withResolvers<void>();

  constructor(stores: SharedStores, play: string) {
    this.#stores = stores;
    this.#play = play;
  }

  async open(): Promise<void> {
    this.#instances = [await this.#start(0), await this.#start(1)];
  }

  async #start(on: 0 | 1): Promise<Instance> {
    const instanceId = `${this.#play}-${on}`;
    const { records, idempotency } = this.#stores;
    let killed = false;
    const alive = <Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) => {
      return (...given: Given): Promise<Result> =>
        killed ? Promise.reject(new ToolLayerError('E3811', 'killed')) : act(...given);
    };
    const ledger = await openLedger({ store: records, chainId: instanceId, log: silentLog });
    await recoverOpenCalls({ records, ledger, clock: systemClock }, instanceId);
    const own: Ledger = { ...ledger, commit: alive(ledger.commit) };
    const keys: IdempotencyStore = {
      claim: alive(idempotency.claim),
      takeOver: alive(idempotency.takeOver),
      find: alive(idempotency.find),
      release: alive(idempotency.release),
    };
    const made = await pipeline({ ledger: own, store: records, records, idempotency: keys, instanceId });
    const tool = { side_effect_policy: 'irreversible' as const, parameters_schema: { type: 'object' } };
    await made.add(manifest('pay', tool), ({ n, how }) => this.#pay(Number(n), String(how)));
    return {
      made,
      kill: () => {
        killed = true;
      },
      close: () => ledger.close(),
    };
  }

  async #pay(n: number, how: string): Promise<unknown> {
    this.runs += 1;
    if (how === 'killed') {
      this.#begun.resolve();
      await new Promise(() => undefined);
    }
    await wait(2);
    if (how === 'fails') throw new Error('no');
    return { n };
  }

  async ask({ id, key, n, how, copies }: Ask, runs: boolean): Promise<InvocationRecord[]> {
    const request = {
      tool_id: 'pay',
      parameters: { n, how },
      ...(id === undefined ? {} : { invocation_id: `${this.#play}-${id}` }),
      execution_options: {
        ...(key === undefined ? {} : { idempotency_key: `${this.#play}-${key}` }),
        ...(how === 'refused' ? { require_approval: true } : {}),
      },
    };
    const call = (on: 0 | 1): Promise<InvocationRecord> => (this.#instances[on] as Instance).made.call(request);
    if (how !== 'killed' || !runs) return Promise.all(copies.map(call));
    this.#begun = Promise.withResolvers();
    const [on = 0] = copies;
    void call(on);
    await this.#begun.promise;
    await this.restart(on, true);
    return [await call(on), await call(on === 0 ? 1 : 0)];
  }

  async restart(on: 0 | 1, killed: boolean): Promise<void> {
    if (killed) this.#instances[on]?.kill();
    await this.#instances[on]?.close();
    this.#instances[on] = await this.#start(on);
  }

  async close(): Promise<void> {
    for (const each of this.#instances) await each.close();
    const { calls } = await verifyLedger(this.#stores.records, NO_SIGNER);
    equal(calls.gaps, 0, JSON.stringify(calls.first_gaps));
  }
}

const ENDS: Readonly<Record<Ask['how'], string | undefined>> = {
  good: undefined,
  fails: 'E3109',
  refused: 'E3806',
  killed: 'E3804',
};

class AskFor implements fc.AsyncCommand<Model, Layer> {
  readonly asked: Ask;
  constructor(asked: Ask) {
    this.asked = asked;
  }
  check(): boolean {
    return true;
  }

  async run(model: Model, layer: Layer): Promise<void> {
    const { id, key, n, how } = this.asked;
    const asked = JSON.stringify([n, how]);
    const byId = id === undefined ? undefined : model.ids.get(id);
    const byKey = key === undefined ? undefined : model.keys.get(key);
    const whole = JSON.stringify([n, how, key ?? null]);
    const known = byId ?? byKey;
    const isConflict = byId === undefined ? known !== undefined && known.asked !== asked : byId.asked !== whole;
    const runs = known === undefined && how !== 'refused';
    const answers = await layer.ask(this.asked, runs);
    if (runs) model.runs += 1;
    equal(layer.runs, model.runs, 'what is asked for under names runs once');
    const [first] = answers as [InvocationRecord];
    const call = known?.call ?? { asked, invocationId: first.invocationId, code: ENDS[how] };
    for (const { failure, invocationId, result } of answers) {
      if (isConflict) {
        equal(failure?.code, 'E3802');
        continue;
      }
      equal(failure?.code, call.code);
      if (how === 'refused') continue;
      equal(invocationId, call.invocationId);
      if (call.code === undefined) deepEqual(result, { n });
    }
    if (isConflict || how === 'refused') return;
    if (id !== undefined && byId === undefined) model.ids.set(id, { asked: whole, call });
    if (key !== undefined && byKey === undefined) model.keys.set(key, { asked, call });
  }

  toString(): string {
    const { id = '-', key = '-', n, how, copies } = this.asked;
    return `${how} ${n} as ${id} ${key} at ${copies.join('')}`;
  }
}

class Restart implements fc.AsyncCommand<Model, Layer> {
  readonly on: 0 | 1;
  readonly killed: boolean;
  constructor(on: 0 | 1, killed: boolean) {
    this.on = on;
    this.killed = killed;
  }
  check(): boolean {
    return true;
  }
  async run(_model: Model, layer: Layer): Promise<void> {
    await layer.restart(this.on, this.killed);
  }
  toString(): string {
    return `${this.killed ? 'kill' : 'restart'} ${this.on}`;
  }
}

const on = fc.constantFrom(0 as const, 1 as const);

const ask: fc.Arbitrary<Ask> = fc
  .record({
    id: fc.constantFrom(undefined, 'x-1' as const, 'x-2' as const),
    key: fc.constantFrom(undefined, 'k-1' as const, 'k-2' as const),
    n: fc.integer({ min: 1, max: 2 }),
    how: fc.constantFrom('good' as const, 'good' as const, 'fails' as const, 'refused' as const, 'killed' as const),
    copies: fc.array(on, { minLength: 1, maxLength: 3 }),
  })
  .filter(({ id, key }) => id !== undefined || key !== undefined);

/**
 * Plays requests under ids and keys, exact retries, refusals and kills on two instances, and compares them with a model
 * in memory.
 */
export async function playNames(shared: () => Promise<SharedStores>, numRuns: number): Promise<void> {
  let plays = 0;
  const commands = fc.commands(
    [
      ask.map((asked) => new AskFor(asked)),
      fc.tuple(on, fc.boolean()).map(([which, killed]) => new Restart(which, killed)),
    ],
    { maxCommands: 12 },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (played) => {
      plays += 1;
      const layer = new Layer(await shared(), `play-${plays}`);
      await layer.open();
      await fc.asyncModelRun(() => ({ model: { ids: new Map(), keys: new Map(), runs: 0 }, real: layer }), played);
      await layer.close();
    }),
    { numRuns },
  );
}
