import { setImmediate } from 'node:timers/promises';
import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { commitUnlessOver } from './commit-unless-over.ts';
import { goesOn, linkHeldEvents, recoverOpenCalls, settleOpen } from './recover.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import { rowEvent } from './row-event.ts';

describe('what a crash left open', () => {
  test('PIPE-13.1 ends as outcome unknown, or as safe to call again, on the disk, and the chain says so', async () => {
    const memory = memoryLedgerStore();
    const written: string[] = [];
    const append: typeof memory.append = async (batch, durability) => {
      await setImmediate();
      for (const { invocationId, state } of batch.records) written.push(`${invocationId} ${state} ${durability}`);
      await memory.append(batch, durability);
    };
    const { parts, store, everyEventOf } = await pipeline({ store: { ...memory, append } });
    const open = (invocationId: string, sideEffect: 'pure' | 'idempotent' | 'irreversible'): InvocationRecord => ({
      invocationId,
      tenantId: 'acme',
      agentDid: 'did:agent:a',
      toolId: 'write',
      door: 'rest',
      sideEffect,
      state: 'EXECUTING',
      instanceId: 'one',
      warnings: [],
      acceptedAt: 1,
    });
    const records = [
      open('a', 'irreversible'),
      open('b', 'idempotent'),
      { ...open('c', 'irreversible'), instanceId: 'two' },
      open('d', 'pure'),
    ];
    await memory.append({ records, events: [] }, 'synchronous');
    expect(await recoverOpenCalls(parts, 'one')).toBe(3);
    expect(await store.findInvocation('acme', 'a')).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
    expect(await store.findInvocation('acme', 'b')).toMatchObject({ state: 'ABORTED', failure: { code: 'E3811' } });
    expect(await store.findInvocation('acme', 'c')).toMatchObject({ state: 'EXECUTING' });
    expect(await store.findInvocation('acme', 'd')).toMatchObject({ state: 'ABORTED', failure: { code: 'E3811' } });
    const end = { type: 'ai.agent.tool.failed', data: { state: 'ABORTED', error: { e_code: expect.any(String) } } };
    const whose = { tenant_id: 'acme', agent_did: 'did:agent:a', tool_id: 'write', invocation_id: 'a' };
    const side_effect = { policy: 'irreversible', e_code: 'E3804' };
    const effect = { type: 'ai.agent.tool.side_effect.failed', data: { ...whose, side_effect } };
    expect(await everyEventOf('a')).toMatchObject([effect, end]);
    expect(await everyEventOf('d')).toMatchObject([end]);
    for (const { data } of await everyEventOf('d')) expect(data['error']).not.toHaveProperty('message');
    expect(rowEvent(open('f', 'pure'), 'ai.agent.tool.invoked', 1).data['error']).toBeUndefined();
    expect(written.toSorted()).toEqual(['a', 'b', 'd'].map((id) => `${id} ABORTED synchronous`));
    expect(await recoverOpenCalls(parts, 'one')).toBe(0);
    const late = failure('E3804', 'It did not end in time.', { details: { cut_off_by: 'E3103' } });
    await memory.append({ records: [open('e', 'irreversible')], events: [] }, 'synchronous');
    await settleOpen(parts, open('e', 'irreversible'), late);
    expect((await everyEventOf('e')).map(({ type }) => type)).toContain('ai.agent.tool.timeout');
  });

  test('AUD-01 the events that rows hold are on the disk before anything else of these calls is written', async () => {
    const memory = memoryLedgerStore();
    const written: unknown[] = [];
    const append: typeof memory.append = async (batch, durability) => {
      await setImmediate();
      written.push([durability, batch.records.map(({ invocationId }) => invocationId)]);
      await memory.append(batch, durability);
    };
    const { parts, everyEventOf } = await pipeline({ store: { ...memory, append } });
    const row = { tenantId: 'acme', agentDid: 'a', toolId: 'write', door: 'rest', instanceId: 'one' } as const;
    const open = { ...row, state: 'EXECUTING', warnings: [], acceptedAt: 1 } as const;
    const own = '"state":"EXECUTING"';
    const heldEvents = { shared: '', each: [{ id: 'e', type: 'ai.agent.tool.invoked', time: 1, own }] } as const;
    const records = [
      { ...open, invocationId: 'holds', heldEvents },
      { ...open, invocationId: 'plain' },
    ];
    await memory.append({ records, events: [] }, 'synchronous');
    await linkHeldEvents(parts, 'one');
    expect(written).toEqual([['synchronous', ['holds']]]);
    expect(await everyEventOf('holds')).toMatchObject([{ type: 'ai.agent.tool.invoked' }]);
    expect(await memory.findInvocation('acme', 'holds')).not.toHaveProperty('heldEvents');
  });

  test('ORC-06 a call that waits is left to a worker, and so is one that ran and may be repeated', () => {
    const row = { state: 'EXECUTING', sideEffect: 'irreversible' } as InvocationRecord;
    const waiting = { wait: { for: 'worker', confirmed: false } } as InvocationRecord['waiting'];
    expect(goesOn(row)).toBe(false);
    expect(goesOn({ ...row, sideEffect: 'pure' })).toBe(false);
    expect(goesOn({ ...row, waiting: waiting as NonNullable<typeof waiting> })).toBe(false);
    expect(goesOn({ ...row, state: 'AUTHORIZED', waiting: waiting as NonNullable<typeof waiting> })).toBe(true);
    expect(goesOn({ ...row, sideEffect: 'pure', waiting: waiting as NonNullable<typeof waiting> })).toBe(true);
  });

  test('work in a store that is away is repeated while there is patience, and no other failure is', async () => {
    const tried = async (codes: readonly ('E3812' | 'E3802')[], patienceMs?: number) => {
      const asked: boolean[] = [];
      const work = async (again: boolean) => {
        asked.push(again);
        const code = codes[asked.length - 1];
        if (code !== undefined) throw new ToolLayerError(code, 'No.');
        return 'done';
      };
      const end = await retryWhileUnavailable(work, patienceMs).catch((thrown: ToolLayerError) => thrown.code);
      return [end, ...asked];
    };
    expect(await tried([])).toEqual(['done', false]);
    expect(await tried(['E3812'])).toEqual(['done', false, true]);
    expect(await tried(['E3812', 'E3802'])).toEqual(['E3802', false, true]);
    expect(await tried(['E3802'])).toEqual(['E3802', false]);
    expect(await tried(['E3812'], 0)).toEqual(['E3812', false]);
  });

  test('ORC-06 the first end of a call stands: who comes second learns it, and every other failure is thrown', async () => {
    const end = { record: { invocationId: 'i' } as InvocationRecord, events: [], durability: 'synchronous' } as const;
    const writing = (code?: 'E3802' | 'E3812') =>
      commitUnlessOver(
        {
          commit: async () => {
            if (code !== undefined) throw new ToolLayerError(code, 'No.');
          },
        },
        end,
      );
    expect([await writing(), await writing('E3802')]).toEqual([true, false]);
    await expect(writing('E3812')).rejects.toMatchObject({ code: 'E3812' });
  });

  test('PIPE-02.1 the list holds the eleven stages of a call in their order, and the hooks among them', async () => {
    const seen: string[] = [];
    const { add, call } = await pipeline({ onStage: (stage) => seen.push(stage) });
    await add(manifest('double'), () => 1);
    await call({ tool_id: 'double', parameters: { n: 1 } });
    expect(seen).toEqual([
      'admit',
      'resolve',
      'validate',
      'authorize',
      'reuse',
      'consult',
      'approve',
      'reserve',
      'prepare',
      'execute',
      'review',
      'inspect',
      'settle',
    ]);
  });
});
