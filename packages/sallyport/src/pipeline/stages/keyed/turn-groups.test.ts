import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import type { IdempotencyStore } from '../../idempotency-store.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { idempotencyKeyOf, scopedKey } from './idempotency-key.ts';

const order = {
  type: 'object',
  properties: { id: { type: 'string' }, n: { type: 'integer' }, note: { type: 'string' } },
};

/** A tool that counts its runs; `failing` makes it fail. */
async function counting(more: Partial<ToolManifest> = {}, changes: Parameters<typeof pipeline>[0] = {}) {
  const made = await pipeline(changes);
  const ran: unknown[] = [];
  const state = { failing: false };
  await made.add(
    manifest('pay', { side_effect_policy: 'irreversible', parameters_schema: order, ...more }),
    async (given) => {
      ran.push(given);
      await wait(10);
      if (state.failing) throw new Error('no');
      return { run: ran.length };
    },
  );
  const pay = (parameters: Record<string, unknown>, turn = 't-1', more: object = {}) =>
    made.call({ tool_id: 'pay', parameters, execution_options: { turn_group_id: turn }, ...more });
  return { ...made, ran, state, pay };
}

/** A store that records the keys that it was asked to claim. */
function listening(): IdempotencyStore & { readonly keys: string[] } {
  const inner = memoryIdempotencyStore();
  const keys: string[] = [];
  return {
    ...inner,
    keys,
    claim(claim, ttlMs) {
      keys.push(claim.key);
      return inner.claim(claim, ttlMs);
    },
  };
}

describe('VIS-04 a turn group', () => {
  test('VIS-04.4 runs a tool once for the same arguments, and says that the answer was there', async () => {
    for (const policy of ['pure', 'idempotent', 'compensatable', 'irreversible'] as const) {
      const { pay, ran } = await counting({ side_effect_policy: policy });
      const first = await pay({ n: 1 });
      const second = await pay({ n: 1 });
      expect([first.metadata?.cached, second.metadata?.cached]).toEqual([false, true]);
      expect(second).toMatchObject({ invocationId: first.invocationId, result: { run: 1 } });
      expect((await pay({ n: 2 })).result).toEqual({ run: 2 });
      expect((await pay({ n: 1 }, 't-2')).result).toEqual({ run: 3 });
      expect(ran).toHaveLength(3);
    }
  });

  test('VIS-04.1 VIS-04.3 VIS-04.7 has keys of tool, business and group, apart from those that callers choose', async () => {
    const idempotency = listening();
    const { pay, call } = await counting({}, { idempotency });
    const record = await pay({ n: 1 });
    const hash = record.inputHash?.slice(0, 16);
    expect(record.idempotencyKey).toBe(`pay:${hash}:turn_group:t-1`);
    expect(idempotency.keys).toEqual([`\ntool_idem:11:did:agent:apay:${hash}:turn_group:t-1`]);
    const chosen = { idempotency_key: `pay:${hash}:turn_group:t-1` };
    const own = await call({ tool_id: 'pay', parameters: { n: 1 }, execution_options: chosen });
    expect(own.metadata?.cached).toBe(false);
    expect(idempotency.keys.at(-1)).toBe(`did:agent:a\n${chosen.idempotency_key}`);
  });

  test('VIS-04.2 takes the fields that the tool names as the business, and refuses other arguments for it', async () => {
    const { pay, ran } = await counting({ idempotency_key_fields: ['id', 'n'] });
    const first = await pay({ id: 'o:1', n: 2 });
    expect(first.idempotencyKey).toBe('pay:o%3A1:2:turn_group:t-1');
    expect((await pay({ id: 'o:1', n: 2 })).metadata?.cached).toBe(true);
    expect((await pay({ id: 'o:1', n: 2, note: 'other' })).failure?.code).toBe('E3802');
    expect((await pay({ id: 'o', n: 2 })).metadata?.cached).toBe(false);
    expect((await pay({ n: 2 })).idempotencyKey).toBe('pay::2:turn_group:t-1');
    expect(ran).toHaveLength(3);
    for (const id of ['a%', 'a'])
      expect(await pay({ id, n: 2 })).toMatchObject({ state: 'COMPLETED', metadata: { cached: false } });
  });

  test('VIS-04.2 hashes a business whose fields are longer than a key should be', async () => {
    const { pay } = await counting({ idempotency_key_fields: ['id', 'n'] });
    const longest = 'x'.repeat(510);
    expect((await pay({ id: longest, n: 1 })).idempotencyKey).toBe(`pay:${longest}:1:turn_group:t-1`);
    expect((await pay({ id: `${longest}x`, n: 1 })).idempotencyKey).toMatch(/^pay:[0-9a-f]{64}:turn_group:t-1$/);
    expect((await pay({ id: `${longest}y`, n: 1 })).metadata?.cached).toBe(false);
  });

  test('is of one tenant and of one agent', async () => {
    const { pay, token, ran } = await counting();
    await pay({ n: 1 });
    const capability_token = await token({ agent_did: 'did:agent:b' });
    expect((await pay({ n: 1 }, 't-1', { capability_token })).metadata?.cached).toBe(false);
    expect(ran).toHaveLength(2);
  });

  test('gives a failure again for a tool that may not run twice, and tries one again that may', async () => {
    for (const [policy, runs] of [
      ['irreversible', 1],
      ['idempotent', 2],
    ] as const) {
      const { pay, ran, state } = await counting({ side_effect_policy: policy });
      state.failing = true;
      expect((await pay({ n: 1 })).failure?.code).toBe('E3109');
      state.failing = false;
      await pay({ n: 1 });
      expect(ran).toHaveLength(runs);
    }
  });

  test('PIPE-09 alone tries a failure again: under a key of the caller, a tool that may run twice does not', async () => {
    const { call, ran, state } = await counting({ side_effect_policy: 'idempotent' });
    const keyed = { tool_id: 'pay', parameters: { n: 1 }, execution_options: { idempotency_key: 'k' } };
    state.failing = true;
    const { invocationId } = await call(keyed);
    state.failing = false;
    expect(await call(keyed)).toMatchObject({ invocationId, failure: { code: 'E3109' }, metadata: { cached: true } });
    expect(ran).toHaveLength(1);
  });

  test('gives way to the key that the caller chose', async () => {
    const { call, ran } = await counting();
    const keyed = (n: number, turn: string) => ({
      tool_id: 'pay',
      parameters: { n },
      execution_options: { idempotency_key: 'k', turn_group_id: turn },
    });
    await call(keyed(1, 't-1'));
    expect((await call(keyed(1, 't-2'))).metadata?.cached).toBe(true);
    expect((await call(keyed(2, 't-1'))).failure?.code).toBe('E3802');
    expect(ran).toHaveLength(1);
  });
});

describe('VIS-04 the call that came first', () => {
  test('left nothing before it was cut off: the next one runs, and a late one of its own does not', async () => {
    const idempotency = memoryIdempotencyStore();
    const { pay, ran, store } = await counting({}, { idempotency });
    const probe = await pay({ n: 1 });
    const claimed = async (invocationId: string, instanceId: string, key: string) => {
      const probe = { tenantId: 'acme', key, requestHash: 'x', nonce: 'probe', invocationId: 'probe' };
      const held = await idempotency.claim(probe, 60_000);
      await idempotency.takeOver({ ...held, nonce: invocationId, invocationId, instanceId }, held.nonce, 60_000);
    };
    const key = `\ntool_idem:11:did:agent:a${probe.idempotencyKey}`;
    await claimed('died-before-its-row', 'one', key);
    expect(await store.findInvocation('acme', 'died-before-its-row')).toBeUndefined();
    const after = await pay({ n: 1 });
    expect([after.metadata?.cached, after.result]).toEqual([false, { run: 2 }]);
    expect((await pay({ n: 1 })).metadata?.cached).toBe(true);
    expect(ran).toHaveLength(2);
  });

  test('was cut off and may run again: the next one runs; one of which nobody knows does not', async () => {
    for (const [code, runs] of [
      ['E3811', 2],
      ['E3804', 1],
    ] as const) {
      const memory = memoryLedgerStore();
      const { pay, ran, eventsOf, parts } = await counting({ side_effect_policy: 'idempotent' }, { store: memory });
      const first = await pay({ n: 1 });
      const failure = { failed: true, code, message: 'Cut off.' } as const;
      const { result: _result, outputHash: _hash, ...row } = first;
      const cutOff = { ...row, invocationId: 'cut-off', state: 'ABORTED' as const, failure };
      const [told] = await eventsOf(first.invocationId);
      const events = ['DECLARED', 'ABORTED'].map((state) => ({
        id: state,
        type: 'ai.agent.tool.failed' as const,
        time: 1,
        tenantId: 'acme',
        data: { ...told?.data, invocation_id: 'cut-off', state },
      }));
      await parts.ledger.commit({ record: cutOff, events, durability: 'synchronous' });
      const key = `\ntool_idem:11:did:agent:a${first.idempotencyKey}`;
      const probe = { tenantId: 'acme', key, requestHash: '', nonce: 'p', invocationId: 'p' };
      const held = await parts.idempotency.claim(probe, 60_000);
      await parts.idempotency.takeOver({ ...held, nonce: 'cut-off', invocationId: 'cut-off' }, held.nonce, 60_000);
      expect((await pay({ n: 1 })).failure?.code).toBe(code === 'E3804' ? 'E3804' : undefined);
      expect(ran).toHaveLength(runs);
    }
  });
});

test('VIS-04 PIPE-09 a call asks for its claim once its row stands, and does not run when the claim is another’s or lost', async () => {
  for (const [becomes, ends] of [
    ['taken', ['E3811', 0]],
    ['lost', ['E3811', 0]],
    ['kept', [undefined, 1]],
  ] as const) {
    const inner = memoryIdempotencyStore();
    let asked = 0;
    const idempotency: IdempotencyStore = {
      ...inner,
      async find(tenantId, key) {
        asked += 1;
        const held = await inner.find(tenantId, key);
        if (held !== undefined && becomes === 'taken')
          await inner.takeOver({ ...held, nonce: 'faster' }, held.nonce, 60_000);
        if (held !== undefined && becomes === 'lost') await inner.release(tenantId, key, held.nonce);
        return inner.find(tenantId, key);
      },
    };
    const { pay, ran } = await counting({}, { idempotency });
    const record = await pay({ n: 1 });
    expect([record.failure?.code, ran.length]).toEqual(ends);
    expect(asked).toBe(1);
  }
});

test('PIPE-09 a scope cannot be read in two ways, and keys that are stored keep theirs', () => {
  expect(scopedKey({ agentDid: 'did:agent:a' }, 'k')).toBe('did:agent:a\nk');
  expect(scopedKey({ agentDid: 'did:a\nb' }, 'k')).toBe('\nkey:7:did:a\nbk');
  const scopes: readonly (readonly [string, string | undefined, string])[] = [
    ['did:a', undefined, 'b\nk'],
    ['did:a\nb', undefined, 'k'],
    ['did:a\nb\nk', undefined, ''],
    ['', undefined, 'did:a\nb\nk'],
    ['did:a\n', undefined, 'b\nk'],
    ['did:a', 'b', 'k'],
    ['did:a', 'c', 'k'],
    ['did:a', 'b', '\nk'],
    ['did:a', 'bk', ''],
    ['did:a', '', 'bk'],
    ['did:a\n', undefined, '1:bk'],
    ['did:a\n', 'b', 'k'],
  ];
  const keys = scopes.map(([agentDid, userDid, key]) => scopedKey({ agentDid, userDid }, key));
  expect(new Set(keys).size).toBe(scopes.length);
});

test('PIPE-13 a call is taken back once, whichever owner asks for it: its key is of no owner', () => {
  const keyed = (agentDid: string, compensates?: string) => {
    const principal = { tenantId: 'acme', agentDid, roles: [] };
    const request = { execution_options: { idempotency_key: 'k' } };
    const own = compensates === undefined ? {} : { compensates };
    return idempotencyKeyOf({ request, principal, ...own } as unknown as Parameters<typeof idempotencyKeyOf>[0])
      ?.scoped;
  };
  expect([keyed('a', 'x'), keyed('b', 'x')]).toEqual(['\ncompensation:0:k', '\ncompensation:0:k']);
  expect(keyed('a')).toBe('a\nk');
});
