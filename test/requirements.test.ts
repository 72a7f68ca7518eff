import { expect, test } from 'vitest';
import { skippedIn } from '../scripts/requirements/last-run.ts';
import { type PlacedCitation, requirementRows, unknownCitations } from '../scripts/requirements/requirement-states.ts';
import { projectCitations } from '../scripts/requirements.ts';
import { REQUIREMENTS } from './requirements.ts';

const IDS = REQUIREMENTS.map(({ id }) => id);

test('every requirement is well formed', () => {
  for (const { id, source, clauses } of REQUIREMENTS) {
    expect(id).toMatch(/^[A-Z]{3,4}-\d\d$/);
    expect(clauses, id).not.toHaveLength(0);
    for (const clause of clauses) expect(clause, id).toMatch(/^\S.{3,}[^\s.;]$/);
    expect(new Set(clauses).size, id).toBe(clauses.length);
    expect(source === undefined || /^\d{3}/.test(source), id).toBe(true);
  }
});

test('ids are unique and counted up without gaps within each group', () => {
  const groups = Map.groupBy(IDS, (id) => id.replace(/-.*/, ''));
  for (const [group, ids] of groups) {
    expect(ids).toEqual(ids.map((_, index) => `${group}-${String(index + 1).padStart(2, '0')}`));
  }
});

test('the list holds every group with all of its rows', () => {
  const groups = Map.groupBy(IDS, (id) => id.replace(/-.*/, ''));
  expect(Object.fromEntries([...groups].map(([group, ids]) => [group, ids.length]))).toEqual({
    REG: 17,
    VIS: 9,
    PRM: 12,
    VAL: 7,
    PIPE: 16,
    SBX: 8,
    EXE: 12,
    EXT: 6,
    CIR: 5,
    DOC: 5,
    STA: 7,
    ORC: 6,
    AUD: 9,
    MOD: 14,
    API: 6,
    OPS: 6,
  });
});

test('no test of the project cites an unknown id', () => {
  expect(unknownCitations(REQUIREMENTS, projectCitations())).toEqual([]);
});

const cited = (id: string, kind: PlacedCitation['kind'] = 'run'): PlacedCitation => ({
  ids: [id],
  name: `${id} holds`,
  line: 7,
  kind,
  file: 'a.test.ts',
});
const ROW = { id: 'A-01', clauses: ['the first', 'the second'] };
const stateWith = (...citations: PlacedCitation[]) =>
  requirementRows([ROW], citations, ({ name }) => name.startsWith('A-01.2'))[0];

test('a row is proven when every clause is, by a test that ran here', () => {
  const both = requirementRows([ROW], [cited('A-01.1'), cited('A-01.2')]);
  expect(both).toEqual([
    {
      id: 'A-01',
      state: 'proven',
      tests: ['a.test.ts: A-01.1 holds', 'a.test.ts: A-01.2 holds'],
      clauses: [
        { id: 'A-01.1', clause: 'the first', state: 'proven', tests: ['a.test.ts: A-01.1 holds'] },
        { id: 'A-01.2', clause: 'the second', state: 'proven', tests: ['a.test.ts: A-01.2 holds'] },
      ],
    },
  ]);
  expect(stateWith(cited('A-01.1'), cited('A-01.2'))?.state).toBe('skipped here');
});

test('a row is partly proven when a clause is missing, and unproven without any test that runs', () => {
  expect(stateWith(cited('A-01.1'))?.state).toBe('partly');
  expect(stateWith(cited('A-01'))).toMatchObject({ state: 'partly', tests: ['a.test.ts: A-01 holds'] });
  expect(stateWith(cited('A-01.1'), cited('A-01.2', 'skipped'))?.state).toBe('partly');
  expect(stateWith(cited('A-01', 'skipped'))).toMatchObject({ state: 'unproven', tests: [] });
  expect(stateWith()?.state).toBe('unproven');
});

test('one expected failure outweighs the tests that hold', () => {
  const row = stateWith(cited('A-01.1'), cited('A-01.1', 'expected-failure'), cited('A-01.2'));
  expect(row?.state).toBe('expected-failure');
  expect(row?.clauses[0]?.tests).toHaveLength(2);
});

test('a test is skipped here when every run of its name skipped itself', () => {
  const isSkipped = skippedIn({
    ran: ['one', 'each (memory)', 'of 3 ways'],
    skipped: ['two', 'each (redis)', 'at 4 ends'],
  });
  const skipped = (name: string) => isSkipped({ name });
  expect(['one', 'two', 'each', 'of … ways', 'at … ends', 'at %d ends', 'never seen'].map(skipped)).toEqual([
    false,
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
});

test('an unknown id is named with its place, even where the test is switched off', () => {
  const citations = [cited('A-01'), cited('A-01.2'), cited('A-01.3'), cited('B-09', 'skipped')];
  expect(unknownCitations([ROW], citations)).toEqual(['a.test.ts:7: A-01.3', 'a.test.ts:7: B-09']);
});
