import { expect, test } from 'vitest';
import { openHoles } from '../../linux/holes/open-holes.ts';
import { GVISOR_HOLES, releaseOf } from './known-holes.ts';

const holesOf = (version: string): readonly string[] =>
  openHoles(GVISOR_HOLES, { name: 'runsc', version: releaseOf(version), isOpen: {}, install: '' }).map(
    ({ text }) => /CVE-[\d-]+|not known/.exec(text)?.[0] ?? text,
  );

test('SBX-02 a runsc is judged by its release, as its makers and as Debian write it', () => {
  expect(holesOf('0.0~20221219.0')).toEqual(['CVE-2025-2713', 'CVE-2026-96812']);
  expect(holesOf('release-20250319.0')).toEqual(['CVE-2026-96812']);
  expect(holesOf('release-20260928.0')).toEqual([]);
  expect(holesOf('VERSION_MISSING')).toEqual(['not known']);
});
