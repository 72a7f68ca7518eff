import { expect, test } from 'vitest';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { UpstreamTool } from '../quarantine-store.port.ts';
import { compareListing, type ListingComparison } from './compare-listing.ts';
import { definitionHash } from './definition-hash.ts';
import { known, listed } from './known-tools.fixture.ts';

const served = (tool: ListedMcpTool): NonNullable<UpstreamTool['served']> => ({
  ...{ hash: definitionHash(tool), definition: tool, serverVersion: '1', findings: [] },
});

/** Ids of the tools of a listing, by the result of the comparison. */
function compare(tools: readonly ListedMcpTool[], before: readonly UpstreamTool[]): Record<string, string[]> {
  const byId = new Map(before.map((tool) => [tool.toolId, tool]));
  const found: ListingComparison = compareListing(
    'up',
    tools.map((tool) => ({ toolId: `up__${tool.name.replaceAll(' ', '_')}`, listed: tool })),
    before.filter(({ upstream }) => upstream === 'up'),
    (toolId) => byId.get(toolId),
  );
  return {
    unknown: found.unknown.map(({ toolId }) => toolId),
    accepted: found.accepted.map(({ known: { toolId } }) => toolId),
    changed: found.changed.map(({ known: { toolId } }) => toolId),
    rejected: found.rejected.map(({ known: { toolId } }) => toolId),
    absent: found.absent.map(({ toolId }) => toolId),
    refused: found.refused.map(({ place }) => place),
  };
}
const NOTHING = { unknown: [], accepted: [], changed: [], rejected: [], absent: [], refused: [] };

test('a tool is new, as accepted, changed or absent', () => {
  expect(compare([listed('a')], [])).toEqual({ ...NOTHING, unknown: ['up__a'] });
  expect(compare([listed('a')], [known('a')])).toEqual({ ...NOTHING, accepted: ['up__a'] });
  expect(compare([listed('a', 'Second.')], [known('a')])).toEqual({ ...NOTHING, changed: ['up__a'] });
  expect(compare([], [known('a')])).toEqual({ ...NOTHING, absent: ['up__a'] });
  expect(compare([], [known('a', { block: 'absent' })])).toEqual(NOTHING);
});

test('REG-09.5 any part of a definition counts, and the order of members does not', () => {
  const first: ListedMcpTool = { name: 'a', inputSchema: { type: 'object', properties: { x: {}, y: {} } } };
  const before = known('a', { acceptedHash: definitionHash(first) });
  const others: Partial<ListedMcpTool>[] = [
    { title: 'A' },
    { description: 'A.' },
    { inputSchema: { type: 'object', properties: { x: {}, y: { type: 'string' } } } },
    { outputSchema: { type: 'object' } },
    { annotations: { readOnlyHint: true } },
  ];
  for (const other of others) expect(compare([{ ...first, ...other }], [before]).changed).toEqual(['up__a']);
  const turned = { inputSchema: { properties: { y: {}, x: {} }, type: 'object' }, name: 'a' };
  expect(compare([turned], [before]).accepted).toEqual(['up__a']);
});

test('what waits is noted once, what was rejected is known again, and the accepted definition always leads back', () => {
  const second = listed('a', 'Second.');
  const waiting = known('a', { block: 'changed', served: served(second) });
  expect(compare([second], [waiting])).toEqual(NOTHING);
  expect(compare([listed('a', 'Third.')], [waiting])).toEqual({ ...NOTHING, changed: ['up__a'] });
  expect(compare([listed('a')], [waiting])).toEqual({ ...NOTHING, accepted: ['up__a'] });
  const refused = known('a', { block: 'absent', rejectedHash: definitionHash(second) });
  expect(compare([second], [refused])).toEqual({ ...NOTHING, rejected: ['up__a'] });
  const { acceptedHash: _hash, ...never } = waiting;
  expect(compare([listed('a')], [never])).toEqual({ ...NOTHING, changed: ['up__a'] });
});

test('REG-09 an id stays with its holder, whoever else asks for it', () => {
  expect(compare([listed('a_b')], [known('a b', { toolId: 'up__a_b' })])).toMatchObject({
    refused: ['a_b'],
    absent: ['up__a_b'],
  });
  expect(compare([listed('a')], [known('a', { upstream: 'other' })])).toEqual({ ...NOTHING, refused: ['a'] });
});
