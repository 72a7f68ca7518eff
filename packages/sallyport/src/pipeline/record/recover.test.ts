import { failure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { recoverOpenCalls, settleOpen } from './recover.ts';

describe('what a crash left open', () => {
  test('PIPE-13.1 ends as outcome unknown, or as safe to call again, on the disk, and the chain says so', async () => {
    const memory = memoryLedgerStore();
    const written: string[] = [];
    const append: typeof memory.append = async (batch, durability) => {
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
    const end = { type: 'ai.agent.tool.failed', data: { state: 'ABORTED' } };
    const effect = { type: 'ai.agent.tool.side_effect.failed' };
    expect(await everyEventOf('a')).toMatchObject([effect, end]);
    expect(await everyEventOf('d')).toMatchObject([end]);
    expect(written.toSorted()).toEqual(['a', 'b', 'd'].map((id) => `${id} ABORTED synchronous`));
    expect(await recoverOpenCalls(parts, 'one')).toBe(0);
    const late = failure('E3804', 'It did not end in time.', { details: { cut_off_by: 'E3103' } });
    await memory.append({ records: [open('e', 'irreversible')], events: [] }, 'synchronous');
    await settleOpen(parts, open('e', 'irreversible'), late);
    expect((await everyEventOf('e')).map(({ type }) => type)).toContain('ai.agent.tool.timeout');
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
