import { describe, expect, test } from 'vitest';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { recoverOpenCalls } from './recover.ts';

describe('what a crash left open', () => {
  test('PIPE-13.1 ends as outcome unknown, or as safe to call again, and the chain says so', async () => {
    const { parts, store, eventsOf } = await pipeline();
    const open = (invocationId: string, sideEffect: 'idempotent' | 'irreversible'): InvocationRecord => ({
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
    ];
    await store.append({ records, events: [] }, 'synchronous');
    expect(await recoverOpenCalls(parts, 'one')).toBe(2);
    expect(await store.findInvocation('acme', 'a')).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
    expect(await store.findInvocation('acme', 'b')).toMatchObject({ state: 'ABORTED', failure: { code: 'E3811' } });
    expect(await store.findInvocation('acme', 'c')).toMatchObject({ state: 'EXECUTING' });
    expect((await eventsOf('a')).map(({ data }) => data['state'])).toEqual(['ABORTED']);
    expect(await recoverOpenCalls(parts, 'one')).toBe(0);
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
