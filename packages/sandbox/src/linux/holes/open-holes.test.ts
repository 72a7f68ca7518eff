import { expect, test } from 'vitest';
import { type ExaminedProgram, type KnownHole, openHoles } from './open-holes.ts';

const HOLES: readonly KnownHole[] = [
  { id: 'CVE-1', source: 'one', published: '2020-01-01', since: '0.11.0', fixedIn: '0.11.2', what: 'a way out' },
  { id: 'CVE-2', source: 'two', published: '2020-01-01', fixedIn: '1.2', what: 'another', outOfReach: 'never used.' },
];

function idsOf(version: string | undefined, isOpen: ExaminedProgram['isOpen'] = {}): readonly string[] {
  const program = { name: 'sandboxer', version, isOpen, install: 'Install it.' };
  return openHoles(HOLES, program).map(({ text }) => /CVE-\d|not known/.exec(text)?.[0] ?? text);
}

test('SBX-02 a hole is open from the first version that has it to the one before the first without', () => {
  expect(idsOf('0.10.9')).toEqual(['CVE-2']);
  expect(idsOf('0.11')).toEqual(['CVE-1', 'CVE-2']);
  expect(idsOf('0.11.1.9')).toEqual(['CVE-1', 'CVE-2']);
  expect(idsOf('0.11.2')).toEqual(['CVE-2']);
  expect(idsOf('1.1.99')).toEqual(['CVE-2']);
  expect(idsOf('1.2.0')).toEqual([]);
  expect(idsOf('20')).toEqual([]);
});

test('SBX-02 what was tried counts more than the version, either way', () => {
  expect(idsOf('0.11.1', { 'CVE-1': false, 'CVE-2': false })).toEqual([]);
  expect(idsOf('20', { 'CVE-2': true })).toEqual(['CVE-2']);
  expect(idsOf('0.11.1', { 'CVE-2': undefined })).toEqual(['CVE-1', 'CVE-2']);
});

test('SBX-02 a version that nobody knows is a hole that reaches the sandboxes; of the others the text says it', () => {
  expect(idsOf(undefined)).toEqual(['not known']);
  const program = { name: 'sandboxer', version: '0.11.0', isOpen: {}, install: 'Install it.' };
  const [open, unused] = openHoles(HOLES, program);
  expect(open).toMatchObject({
    isReached: true,
    text: expect.stringMatching(/CVE-1 .*fixed in 0\.11\.2.*a way out.*Install it/),
  });
  expect(unused).toMatchObject({
    isReached: false,
    text: expect.stringMatching(/does not reach.*never used\. Install it/),
  });
  expect(openHoles(HOLES, { ...program, version: undefined })[0]?.isReached).toBe(true);
});
