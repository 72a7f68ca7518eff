import { expect, test } from 'vitest';
import { type PlacedCitation, requirementRows, unknownCitations } from '../scripts/requirement-states.ts';
import { projectCitations } from '../scripts/requirements.ts';
import { REQUIREMENTS } from './requirements.ts';

const IDS = REQUIREMENTS.map(({ id }) => id);

test('every requirement is well formed', () => {
  for (const { id, source, behaviour } of REQUIREMENTS) {
    expect(id).toMatch(/^[A-Z]{3,4}-\d\d$/);
    expect(behaviour, id).toMatch(/^\S.{19,}\S$/);
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
    REG: 14,
    VIS: 8,
    PRM: 11,
    VAL: 6,
    PIPE: 15,
    SBX: 8,
    EXE: 12,
    EXT: 4,
    CIR: 4,
    DOC: 5,
    STA: 6,
    ORC: 6,
    AUD: 8,
    MOD: 11,
    API: 6,
    OPS: 4,
  });
});

test('no test of the project cites an unknown id', () => {
  expect(unknownCitations(IDS, projectCitations())).toEqual([]);
});

const cited = (id: string, kind: PlacedCitation['kind']): PlacedCitation => ({
  ids: [id],
  name: `${id} holds`,
  line: 7,
  kind,
  file: 'a.test.ts',
});

test('a row is proven by a test, unproven without one and without one that runs', () => {
  const rows = requirementRows(['A-01', 'A-02', 'A-03'], [cited('A-01', 'run'), cited('A-03', 'skipped')]);
  expect(rows).toEqual([
    { id: 'A-01', state: 'proven', tests: ['a.test.ts: A-01 holds'] },
    { id: 'A-02', state: 'unproven', tests: [] },
    { id: 'A-03', state: 'unproven', tests: [] },
  ]);
});

test('one expected failure outweighs the tests that hold', () => {
  const [row] = requirementRows(['A-01'], [cited('A-01', 'run'), cited('A-01', 'expected-failure')]);
  expect(row?.state).toBe('expected-failure');
  expect(row?.tests).toHaveLength(2);
});

test('an unknown id is named with its place, even where the test is switched off', () => {
  expect(unknownCitations(['A-01'], [cited('A-01', 'run'), cited('B-09', 'skipped')])).toEqual(['a.test.ts:7: B-09']);
});
