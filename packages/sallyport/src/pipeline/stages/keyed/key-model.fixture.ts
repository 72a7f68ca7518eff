import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { PipelineParts } from '../../parts.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** Stores that instances of one layer share, and how each instance opens them. */
export interface SharedParts {
  open(
    instanceId: string,
  ): Promise<{ readonly parts: Partial<PipelineParts> & Pick<PipelineParts, 'ledger'>; close(): Promise<void> }>;
}

/** One call under a key. */
interface Ask {
  readonly key: string;
  readonly n: number;
  /** Index of the instance. */
  readonly on: 0 | 1;
  /** The call succeeds, is refused before its tool is reached, or its tool fails. */
  readonly how: 'good' | 'refused' | 'fails';
}

/** The first request with each key, and its outcome. */
type Keys = Map<string, { readonly n: number; readonly fails: boolean; readonly invocationId: string }>;

interface Layer {
  ask(asked: Ask): Promise<InvocationRecord>;
  restart(on: 0 | 1): Promise<void>;
  /** How often the tool ran for each key. */
  readonly runs: Map<string, number>;
}

type Instance = Awaited<ReturnType<typeof pipeline>> & { close(): Promise<void> };

/**
 * Two instances of one layer with a tool that must not run twice.
 * @param play prefix of its keys, since several plays may share one database
 */
async function openLayer(shared: SharedParts, play: string): Promise<Layer & { close(): Promise<void> }> {
  const runs = new Map<string, number>();
  const start = async (on: 0 | 1): Promise<Instance> => {
    const { parts, close } = await shared.open(`instance-${on}`);
    const { limits } = (await pipeline({ ledger: parts.ledger })).parts;
    const made = await pipeline({
      ...parts,
      instanceId: `instance-${on}`,
      limits: { ...limits, callsPerAgentMax: 100 },
      ...(parts.records === undefined ? {} : { store: parts.records }),
    });
    await made.add(
      manifest('pay', { side_effect_policy: 'irreversible', parameters_schema: { type: 'object' } }),
      (given) => pay(runs, given),
    );
    return { ...made, close };
  };
  const instances: [Instance, Instance] = [await start(0), await start(1)];
  return {
    runs,
    async ask({ key, n, on, how }) {
      const execution_options = {
        idempotency_key: play + key,
        ...(how === 'refused' ? { require_approval: true } : {}),
      };
      return instances[on].call({ tool_id: 'pay', parameters: { key, n, fails: how === 'fails' }, execution_options });
    },
    async restart(on) {
      await instances[on].close();
      instances[on] = await start(on);
    },
    async close() {
      for (const each of instances) await each.close();
    },
  };
}

async function pay(runs: Map<string, number>, { key, n, fails }: Readonly<Record<string, unknown>>): Promise<unknown> {
  runs.set(String(key), (runs.get(String(key)) ?? 0) + 1);
  await wait(2);
  if (fails === true) throw new Error('no');
  return { n };
}

/** Any number of calls at the same time, on both instances. */
class AskTogether implements fc.AsyncCommand<Keys, Layer> {
  readonly asks: readonly Ask[];
  constructor(asks: readonly Ask[]) {
    this.asks = asks;
  }
  check(): boolean {
    return true;
  }
  async run(model: Keys, layer: Layer): Promise<void> {
    const answers = await Promise.all(this.asks.map(async (asked) => ({ asked, record: await layer.ask(asked) })));
    for (const key of new Set(this.asks.map((each) => each.key))) {
      judge(
        model,
        key,
        answers.filter(({ asked }) => asked.key === key),
      );
      equal(layer.runs.get(key) ?? 0, model.has(key) ? 1 : 0, 'a call under a key runs once');
    }
  }
  toString(): string {
    return `together(${this.asks.map(({ key, n, on, how }) => `${how} ${key}=${n} on ${on}`).join(', ')})`;
  }
}

interface Answered {
  readonly asked: Ask;
  readonly record: InvocationRecord;
}

/** The call that ran first is the answer to every equal request, and a conflict for every other request. */
function judge(model: Keys, key: string, answers: readonly Answered[]): void {
  const known = model.get(key);
  const ran = answers.filter(({ record }) => record.state === 'COMPLETED' || record.failure?.code === 'E3109');
  const [first] = ran;
  const holder =
    known ??
    (first === undefined
      ? undefined
      : { n: first.asked.n, fails: first.asked.how === 'fails', invocationId: first.record.invocationId });
  for (const { asked, record } of answers) {
    const isSame = holder !== undefined && asked.n === holder.n && (asked.how === 'fails') === holder.fails;
    const code = record.failure?.code;
    // While a call that is refused later holds the key, every other request gets a conflict.
    const metRefused = answers.some(
      (each) => each.asked.how === 'refused' && (each.asked.n !== asked.n || asked.how === 'fails'),
    );
    if (known === undefined && metRefused && code === 'E3802') continue;
    if (code === 'E3806') {
      equal(asked.how, 'refused', 'only what asks for an approval is refused for want of one');
      equal(known, undefined, 'what is known is answered before anybody is asked');
    } else if (isSame) {
      equal(record.invocationId, holder.invocationId);
      if (holder.fails) equal(code, 'E3109');
      else deepEqual(record.result, { n: holder.n });
    } else equal(code, 'E3802', 'another request under the key is a conflict');
  }
  const mustRun = known === undefined && answers.every(({ asked }) => asked.how !== 'refused');
  if (mustRun) ok(holder !== undefined, 'one of those that may run does');
  if (holder !== undefined) model.set(key, holder);
}

class Restart implements fc.AsyncCommand<Keys, Layer> {
  readonly on: 0 | 1;
  constructor(on: 0 | 1) {
    this.on = on;
  }
  check(): boolean {
    return true;
  }
  async run(_model: Keys, layer: Layer): Promise<void> {
    await layer.restart(this.on);
  }
  toString(): string {
    return `restart(${this.on})`;
  }
}

const on = fc.constantFrom(0 as const, 1 as const);

const ask: fc.Arbitrary<Ask> = fc.record({
  key: fc.constantFrom('k-1', 'k-2'),
  n: fc.integer({ min: 1, max: 2 }),
  on,
  how: fc.constantFrom('good', 'good', 'refused', 'fails'),
});

/**
 * Sends requests with keys in any order, alone and at the same time, with restarts, and compares the results with the
 * model.
 */
export async function playKeys(shared: () => Promise<SharedParts>, numRuns: number): Promise<void> {
  let plays = 0;
  const commands = fc.commands(
    [
      fc.array(ask, { minLength: 1, maxLength: 1 }).map((each) => new AskTogether(each)),
      fc.array(ask, { minLength: 2, maxLength: 6 }).map((each) => new AskTogether(each)),
      on.map((which) => new Restart(which)),
    ],
    { maxCommands: 8 },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (played) => {
      plays += 1;
      const layer = await openLayer(await shared(), `play ${plays} `);
      try {
        await fc.asyncModelRun(() => ({ model: new Map(), real: layer }), played);
      } finally {
        await layer.close();
      }
    }),
    { numRuns },
  );
}
