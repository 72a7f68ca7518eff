import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { memoryToolStore } from '../../../../test/stores/memory-tool-store.ts';
import { manifest, registryOver } from '../registry.fixture.ts';

const open = () => registryOver(memoryToolStore());
const tool = (id: string, more: Record<string, unknown> = {}) => manifest('1.0.0', { tool_id: id, ...more });

test('REG-10.1 REG-10.3 a requirement that closes a circle is refused, and the circle is named', async () => {
  const registry = open();
  await registry.register('acme', tool('a', { requires: ['b'] }));
  await registry.register('acme', tool('b', { requires: ['c'] }));
  await expect(registry.register('acme', tool('c', { requires: ['a'] }))).rejects.toMatchObject({
    code: 'E3008',
    failure: {
      details: {
        cycle: ['c', 'a', 'b', 'c'],
        faults: [{ path: '/requires', message: 'requires close a circle: c → a → b → c' }],
      },
    },
  });
  expect(registry.manifests('acme')).toHaveLength(2);
  expect((await registry.register('globex', tool('c', { requires: ['a'] }))).outcome).toBe('created');
});

test('REG-10 a circle within one registration is refused where it closes', async () => {
  const ends = await open().registerAll('acme', [
    tool('a', { requires: ['b'] }),
    tool('b', { requires: ['a'] }),
    tool('self', { requires: ['self'] }),
    tool('c', { requires: ['a'] }),
  ]);
  expect(ends.map((end) => (isFailure(end) ? end.code : end.outcome))).toEqual([
    'created',
    'E3008',
    'E3008',
    'created',
  ]);
});

test('REG-10 only the newest version of a tool counts', async () => {
  const registry = open();
  await registry.register('acme', tool('a', { requires: ['b'] }));
  await registry.register('acme', manifest('2.0.0', { tool_id: 'a' }));
  expect((await registry.register('acme', tool('b', { requires: ['a'] }))).outcome).toBe('created');
  expect((await registry.register('acme', manifest('1.5.0', { tool_id: 'a', requires: ['b'] }))).outcome).toBe(
    'created',
  );
  await expect(registry.register('acme', manifest('2.1.0', { tool_id: 'a', requires: ['b'] }))).rejects.toMatchObject({
    code: 'E3008',
  });
});

test('REG-10.2 REG-10.3 a circle of preferences and an unknown requirement are warnings', async () => {
  const registry = open();
  const first = await registry.register('acme', tool('a', { prefers: ['b'], requires: ['later'] }));
  expect(first.warnings).toContainEqual(
    expect.objectContaining({ code: 'unknown_requirement', details: { missing: ['later'] } }),
  );
  const second = await registry.register('acme', tool('b', { prefers: ['a'] }));
  expect(second.warnings).toContainEqual(
    expect.objectContaining({ code: 'prefers_cycle', details: { cycle: ['b', 'a', 'b'] } }),
  );
  expect(registry.dependencies('acme').broken).toMatchObject([{ kind: 'prefers' }]);
});

test('REG-10.1 MOD-05 the graph of a tenant follows its newest versions', async () => {
  const registry = open();
  await registry.registerAll('acme', [tool('read'), tool('write', { requires: ['read'] })]);
  const graph = registry.dependencies('acme');
  expect(registry.dependencies('acme')).toBe(graph);
  expect(graph.gate(['read', 'write'], new Set()).open).toEqual(['read']);
  expect(graph.gate(['read', 'write'], new Set(['read'])).open).toEqual(['read', 'write']);
  await registry.register('acme', manifest('1.1.0', { tool_id: 'write' }));
  expect(registry.dependencies('acme').gate(['read', 'write'], new Set()).open).toEqual(['read', 'write']);
  expect(registry.dependencies('globex').gate(['read'], new Set()).open).toEqual(['read']);
});

test('REG-10 thousands of tools in a chain are registered one by one and together', async () => {
  const registry = open();
  const chain = Array.from({ length: 3000 }, (_, at) => tool(`t${at}`, { requires: [`t${at + 1}`] }));
  const ends = await registry.registerAll('acme', chain);
  expect(ends.filter(isFailure)).toEqual([]);
  await expect(registry.register('acme', tool('t3000', { requires: ['t0'] }))).rejects.toMatchObject({ code: 'E3008' });
});
