import { type Failure, isFailure } from '@sallyport/std/error/failure';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { ApprovalStore } from '../../approval-store.port.ts';
import type { Approvals, Decided } from '../../approvals.ts';
import {
  ADMIN,
  ALICE,
  type ApprovalsUnderTest,
  approvalsOf,
  approver,
  BOB,
  questionOf,
  rowOf,
} from '../approvals.fixture.ts';

/** How long one instance runs until it dies: after that none of its reads and writes succeed. */
interface Power {
  /** Reads and writes until the instance dies; infinite while it is alive. */
  left: number;
}

class Dead extends Error {}

/** A store used by an instance that may die before any operation, or right after it. */
function behind<T extends object>(store: T, power: Power): T {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return async (...given: unknown[]) => {
        if (power.left <= 0) throw new Dead('no power before');
        const done = await (Reflect.apply(method, target, given) as Promise<unknown>);
        power.left -= 1;
        if (power.left <= 0) throw new Dead('no power after');
        return done;
      };
    },
  });
}

type Step =
  | { readonly do: 'ask'; readonly n: number; readonly tool: 'pay' | 'send' }
  | { readonly do: 'approve' | 'deny'; readonly call: number; readonly who: number; readonly approvals: number }
  | { readonly do: 'edit'; readonly call: number; readonly who: number; readonly approvals: number; readonly n: number }
  | { readonly do: 'withdraw'; readonly call: number; readonly approvals: number }
  | { readonly do: 'sweep'; readonly approvals: number }
  | { readonly do: 'policies' }
  | { readonly do: 'pass' | 'jump'; readonly ms: number }
  | { readonly do: 'crash'; readonly approvals: number; readonly after: number };

const call = fc.nat(3);
const approvals = fc.nat(1);
const who = fc.nat(2);
const HOUR = 3_600_000;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('ask' as const), n: fc.nat(3), tool: fc.constantFrom('pay', 'send') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('approve' as const, 'deny' as const), call, who, approvals }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      call,
      who,
      approvals,
      n: fc.integer({ min: 10, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), call, approvals }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep' as const), approvals }) },
  { weight: 1, arbitrary: fc.constant({ do: 'policies' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1000, HOUR, 24 * HOUR) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump' as const), ms: fc.constantFrom(HOUR, -HOUR) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('crash' as const), approvals, after: fc.integer({ min: 1, max: 12 }) }),
  },
) as fc.Arbitrary<Step>;

const PEOPLE = [ALICE, BOB, ADMIN];

/** Two instances over one store; each of them may die and start again. */
class World {
  readonly made: ApprovalsUnderTest;
  readonly calls: InvocationRecord[] = [];
  /** The arguments of each call, by its index. */
  readonly asked: { readonly tool: string; readonly n: number }[] = [];
  /** Every n of an edit, by the index of the call. */
  readonly edits = new Map<number, Set<number>>();
  /** The results of people's decisions. */
  readonly answers: Decided[] = [];
  /** Whether a step made an instance die. */
  crashed = false;
  /**
   * True once the clock went back: decisions are listed by time, so a later one may now be listed after an earlier one.
   */
  wentBack = false;
  readonly #changePolicies: () => void;
  readonly #powers: Power[] = [{ left: Number.POSITIVE_INFINITY }, { left: Number.POSITIVE_INFINITY }];
  readonly #all: Approvals[] = [];
  /** All instances, dead ones too: a call that one of them resumed still ends. */
  readonly #ever: Approvals[] = [];

  constructor(made: ApprovalsUnderTest, changePolicies: () => void) {
    this.made = made;
    this.#changePolicies = changePolicies;
    this.#all = [0, 1].map((at) => this.#opened(at));
  }

  #opened(at: number): Approvals {
    const power: Power = { left: Number.POSITIVE_INFINITY };
    this.#powers[at] = power;
    const { approvalStore, store, parts, resume } = this.made;
    const ledger = behind({ commit: parts.ledger.commit }, power);
    const opened = this.made.open({
      store: behind<ApprovalStore>(approvalStore, power),
      records: behind<Pick<LedgerStore, 'waitingCalls' | 'findInvocation'>>(store, power),
      ledger,
      instanceId: `world-${at}`,
      resume: async (tenantId, invocationId, approval) => {
        if (power.left <= 0) throw new Dead('no power to resume');
        await resume(tenantId, invocationId, approval);
      },
    });
    this.#ever.push(opened);
    return opened;
  }

  async idle(): Promise<void> {
    for (const each of this.#ever) await each.idle();
  }

  /** Restarts both instances, and carries out every decision that can be carried out. */
  async recover(): Promise<void> {
    await this.idle();
    for (const at of [0, 1]) this.#all[at] = this.#opened(at);
    for (let turn = 0; turn < 4; turn += 1) {
      this.made.clock.pass(60_000);
      for (const each of this.#all) {
        await each.sweep();
        await this.idle();
      }
    }
  }

  async take(given: Step): Promise<void> {
    switch (given.do) {
      case 'ask': {
        const { tool, n } = given;
        this.calls.push(await this.made.call({ tool_id: tool, parameters: { n } }));
        this.asked.push({ tool, n });
        return;
      }
      case 'policies':
        return this.#changePolicies();
      case 'pass':
        return this.made.clock.pass(given.ms);
      case 'jump':
        this.wentBack ||= given.ms < 0;
        return this.made.clock.jump(given.ms);
      case 'crash': {
        this.crashed = true;
        const power = this.#powers[given.approvals];
        if (power !== undefined && power.left > 0) power.left = given.after;
        return;
      }
      default:
        return this.#decide(given);
    }
  }

  async #decide(given: Exclude<Step, { do: 'ask' | 'policies' | 'pass' | 'jump' | 'crash' }>): Promise<void> {
    if ((this.#powers[given.approvals]?.left ?? 0) <= 0) {
      // The instance starts again after a while, as a new holder: the claims of the dead one have expired by then.
      this.made.clock.pass(60_000);
      this.#all[given.approvals] = this.#opened(given.approvals);
    }
    const at = this.#all[given.approvals];
    if (at === undefined) return;
    await this.#asked(at, given).catch((thrown: unknown) => {
      if (!(thrown instanceof Dead)) throw thrown;
    });
  }

  async #asked(
    at: Approvals,
    given: Exclude<Step, { do: 'ask' | 'policies' | 'pass' | 'jump' | 'crash' }>,
  ): Promise<void> {
    if (given.do === 'sweep') return at.sweep();
    const record = this.calls[given.call];
    if (record === undefined) return;
    const row = await rowOf(this.made, record);
    if (given.do === 'withdraw') return void (await at.withdraw('acme', row.invocationId, 'somebody'));
    const { approvalId } = row.state === 'AUTHORIZED' ? questionOf(row) : questionOf(record);
    const order = { approvalId, approver: PEOPLE[given.who] ?? approver('nobody') };
    if (given.do !== 'edit') return this.#note(await at[given.do](order));
    const edits = this.edits.get(given.call) ?? new Set<number>();
    this.edits.set(given.call, edits.add(given.n));
    this.#note(await at.approve({ ...order, parameters: { n: given.n } }));
  }

  #note(answer: Decided | Failure): void {
    if (!isFailure(answer)) this.answers.push(answer);
  }
}

/** A claim that expires while its holder still runs the call: the next holder must not run the same call meanwhile. */
const EXPIRED_CLAIM: Step[] = [
  { do: 'policies' },
  { do: 'crash', approvals: 1, after: 1 },
  { do: 'policies' },
  { do: 'ask', n: 0, tool: 'send' },
  { do: 'edit', call: 0, who: 0, approvals: 0, n: 10 },
  { do: 'sweep', approvals: 1 },
  { do: 'sweep', approvals: 1 },
];

test('ORC-05.3 ORC-05.7 ORC-03 whatever happens between a question and its end, and wherever an instance dies: a declined or expired call never runs, none runs twice, and no approval reaches another call', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
      let version = 1;
      const decide = () => ({ allowed: true, policies: ['p'], engine: 'e', version: `${version}` });
      const terms = '[[rule]]\ntools = ["pay"]\nquorum = 2';
      const made = await approvalsOf({ terms, pipeline: { policy: { decide, clear() {} } } });
      const world = new World(made, () => {
        version += 1;
      });
      // Two steps at the same time, as if by different people.
      for (let at = 0; at < steps.length; at += 2) {
        await Promise.all(steps.slice(at, at + 2).map((each) => world.take(each)));
      }
      await world.recover();
      await check(world);
    }),
    { numRuns: 150, examples: [[EXPIRED_CLAIM]] },
  );
}, 120_000);

async function check({ made, calls, asked, edits, answers, crashed, wentBack }: World): Promise<void> {
  const ran = [...made.ran];
  for (const { approvalId, state } of answers) {
    if (state !== 'pending') expect((await made.approvalStore.closing('acme', approvalId))?.outcome).toBe(state);
  }
  for (const [at, record] of calls.entries()) {
    const row = await rowOf(made, record);
    const { tool = '', n = -1 } = asked[at] ?? {};
    const allowed = new Set([n, ...(edits.get(at) ?? [])]);
    const decided = await made.approvalStore.closings('acme', 100, 0);
    const own = decided.filter(({ invocationId }) => invocationId === record.invocationId);
    if (row.state === 'COMPLETED') {
      // The newest approval comes first: after an approval expired, the call as it was changed by then is asked for
      // again.
      const given = own.filter(({ outcome }) => outcome === 'approved');
      const yes = given.at(0);
      expect(yes?.given?.binding.toolId).toBe(tool);
      const quorum = tool === 'pay' ? 2 : 1;
      const { size } = new Set(yes?.approvers);
      // More approvers than required occur only when an instance died between storing a vote and counting it.
      if (crashed) expect(size).toBeGreaterThanOrEqual(quorum);
      else expect(size).toBe(quorum);
      const changed = given.filter(({ parameters }) => parameters !== undefined).map((each) => each.parameters?.['n']);
      const mayBe = changed.length === 0 ? [n] : wentBack ? changed : changed.slice(0, 1);
      for (const each of mayBe) expect(allowed).toContain(each);
      const place = ran.findIndex((each) => each['tool'] === tool && mayBe.includes(each['n']));
      expect(place).not.toBe(-1);
      ran.splice(place, 1);
    } else if (isFinal(row.state)) {
      expect(own.some(({ outcome }) => outcome !== 'approved')).toBe(true);
      expect(['E3807', 'E3808', 'E3805']).toContain(row.failure?.code);
    } else {
      // The call still waits, and its approval is not closed.
      expect(own.map(({ approvalId }) => approvalId)).not.toContain(questionOf(row).approvalId);
    }
  }
  // Every run was matched with one approved call.
  expect(ran).toEqual([]);
}
