import fc from 'fast-check';
import { expect, it } from 'vitest';
import { argumentFaults } from './meta-arguments.ts';
import { META_TOOLS, type MetaToolName } from './meta-tools.ts';

function faults(name: MetaToolName, given: Record<string, unknown>): string[] {
  const tool = META_TOOLS.get(name);
  if (tool === undefined) throw new Error(`There is no ${name}.`);
  return argumentFaults(tool.inputSchema, given).map(({ path, keyword }) => `${path} ${keyword}`);
}

it.each<[MetaToolName, Record<string, unknown>]>([
  ['find_tools', { query: 'x' }],
  ['find_tools', { query: 'x'.repeat(4_096), category: 'computation', tags: [], limit: 50 }],
  ['find_tools', { query: 'x', tags: ['a'], limit: 1 }],
  ['describe_tool', { name: 'x'.repeat(128), version: '^1.0.0' }],
  ['call_tool', { name: 'x' }],
  ['call_tool', { name: 'x', arguments: {}, version: 'latest' }],
])('%s takes %o', (name, given) => {
  expect(faults(name, given)).toEqual([]);
});

it.each<[MetaToolName, Record<string, unknown>, string[]]>([
  ['find_tools', {}, ['/query required']],
  ['find_tools', { query: '' }, ['/query minLength']],
  ['find_tools', { query: 'x'.repeat(4_097) }, ['/query maxLength']],
  ['find_tools', { query: ['x'] }, ['/query type']],
  ['find_tools', { query: 'x', category: 'magic' }, ['/category enum']],
  ['find_tools', { query: 'x', tags: 'a' }, ['/tags type']],
  ['find_tools', { query: 'x', tags: ['a', 1] }, ['/tags type']],
  ['find_tools', { query: 'x', tags: Array(65).fill('a') }, ['/tags maxItems']],
  ['find_tools', { query: 'x', limit: 0 }, ['/limit maximum']],
  ['find_tools', { query: 'x', limit: 51 }, ['/limit maximum']],
  ['find_tools', { query: 'x', limit: 1.5 }, ['/limit type']],
  ['find_tools', { query: 'x', limit: '5' }, ['/limit type']],
  ['describe_tool', { name: null }, ['/name type']],
  ['call_tool', { name: 'x', arguments: '{}' }, ['/arguments type']],
  ['call_tool', { name: 'x', arguments: [] }, ['/arguments type']],
  ['call_tool', { name: 'x', arguments: null }, ['/arguments type']],
  ['call_tool', { name: 'x', a: 1, 'b/c': 2 }, ['/a additionalProperties', '/b~1c additionalProperties']],
])('%s refuses %o', (name, given, found) => {
  expect(faults(name, given)).toEqual(found);
});

it('names only some of many unknown arguments', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, index]));
  expect(faults('call_tool', { name: 'x', ...many }).length).toBeLessThan(20);
});

it('judges any arguments without a throw', () => {
  const name = fc.constantFrom<MetaToolName>('find_tools', 'describe_tool', 'call_tool');
  fc.assert(fc.property(name, fc.object(), (tool, given) => void faults(tool, given)));
});
