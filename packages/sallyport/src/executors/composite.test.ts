import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../domain/invocation/usage.ts';
import { createCompositeExecutor } from './composite.ts';
import { callOf } from './conformance/executor-call.fixture.ts';
import type { Executor } from './executor.port.ts';
import { createNativeExecutor } from './native/native-executor.ts';

const never = new AbortController().signal;

/** A native executor that reports which of its methods ran, and owns only tools whose ids have its prefix. */
function marked(name: string, prefix: string, more: Partial<Executor> = {}): Executor {
  return {
    ...createNativeExecutor(),
    owns: ({ manifest }) => manifest.tool_id.startsWith(prefix),
    execute: async () => ({ result: `${name} execute`, usage: NO_USAGE }),
    executeConfirmed: async () => ({ result: `${name} confirmed`, usage: NO_USAGE }),
    ...more,
  };
}

const call = (toolId: string, kind: 'native' | 'composio' = 'native') =>
  callOf({ tool_id: toolId, executor: { kind } });

describe('the chain of executors', () => {
  test('EXE-01.3 the first executor in the configured order that owns the tool runs it', async () => {
    const first = marked('first', 'a');
    const second = marked('second', '');
    const one = createCompositeExecutor([first, second]);
    expect((await one.execute(call('abc'), never)).result).toBe('first execute');
    expect((await one.execute(call('xyz'), never)).result).toBe('second execute');
    const other = createCompositeExecutor([second, first]);
    expect((await other.execute(call('abc'), never)).result).toBe('second execute');
    expect(one.chain).toEqual([first, second]);
  });

  test('EXE-01.2 a confirmed call takes the path of confirmed calls', async () => {
    const chain = createCompositeExecutor([marked('first', 'a')]);
    expect((await chain.executeConfirmed(call('abc'), never)).result).toBe('first confirmed');
  });

  test('EXE-01.1 EXE-01.4 requiresConfirmation, isRetryable and owns are answered by the owner alone', () => {
    const careful = marked('careful', 'a', { requiresConfirmation: () => 'Really?', isRetryable: () => true });
    const chain = createCompositeExecutor([careful, marked('second', 'b')]);
    expect(chain.requiresConfirmation(call('abc'))).toBe('Really?');
    expect(chain.requiresConfirmation(call('bcd'))).toBeUndefined();
    expect(chain.isRetryable(call('abc').tool)).toBe(true);
    expect(chain.isRetryable(call('bcd').tool)).toBe(false);
    expect(chain.owns(call('abc').tool)).toBe(true);
    expect(chain.owns(call('cde').tool)).toBe(false);
  });

  test('EXE-01 a tool of a kind that nobody runs is refused with the kinds that there are', async () => {
    const chain = createCompositeExecutor([createNativeExecutor()]);
    const owner = chain.executorOf(call('mail', 'composio').tool);
    expect(isFailure(owner) && owner).toMatchObject({ code: 'E3901', details: { kind: 'composio' } });
    expect(isFailure(owner) && owner.message).toContain('native');
    await expect(chain.execute(call('mail', 'composio'), never)).rejects.toMatchObject({ code: 'E3901' });
    await expect(chain.executeConfirmed(call('mail', 'composio'), never)).rejects.toMatchObject({ code: 'E3901' });
    expect(chain.requiresConfirmation(call('mail', 'composio'))).toBeUndefined();
    expect(chain.isRetryable(call('mail', 'composio').tool)).toBe(false);
  });

  test('VIS-08.1 VIS-08.2 VIS-08.3 the kind alone decides who runs a tool: nothing of what the tool means is read', async () => {
    const other: Executor = {
      ...createNativeExecutor(),
      kind: 'shell',
      owns: ({ manifest }) => manifest.executor.kind === 'shell',
      execute: async () => ({ result: 'shell', usage: NO_USAGE }),
    };
    const native = marked('native', '', { owns: ({ manifest }) => manifest.executor.kind === 'native' });
    const chain = createCompositeExecutor([other, native]);
    const read = new Set<PropertyKey>();
    for (const kind of ['native', 'shell', 'composio'] as const) {
      const { tool, ...rest } = callOf({ executor: { kind } });
      const manifest = new Proxy(tool.manifest, {
        get: (target, key) => {
          read.add(key);
          return Reflect.get(target, key);
        },
      });
      const routed = chain.execute({ ...rest, tool: { ...tool, manifest } }, never);
      if (kind === 'composio') await expect(routed).rejects.toMatchObject({ code: 'E3901' });
      else expect((await routed).result).toBe(kind === 'shell' ? 'shell' : 'native execute');
    }
    expect([...read].toSorted()).toEqual(['executor', 'tool_id']);
  });

  test('a configuration is judged by the executor of its kind, and an unknown kind is a fault', () => {
    const chain = createCompositeExecutor([createNativeExecutor()]);
    const broken = callOf({ executor: { kind: 'native', config: { x: 1 } } }).tool.manifest;
    expect(chain.configFaults(broken)).toMatchObject([{ path: '/executor/config/x' }]);
    expect(chain.configFaults(call('mail', 'composio').tool.manifest)).toMatchObject([
      { path: '/executor/kind', code: 'E3008' },
    ]);
    expect(chain.configFaults(call('sum').tool.manifest)).toEqual([]);
  });

  test('an empty chain owns nothing', () => {
    const owner = createCompositeExecutor([]).executorOf(call('sum').tool);
    expect(owner).toMatchObject({ code: 'E3901' });
  });
});
