import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tryMutants } from './try-mutants.ts';

test('mutants of a proven line are killed, those of an unproven one survive', { timeout: 240_000 }, async () => {
  const results = mkdtempSync(join(tmpdir(), 'mutants-'));
  onTestFinished(() => rmSync(results, { recursive: true }));
  const { survivors, lines } = await tryMutants({
    folders: ['scripts/mutate/example'],
    glob: '*.ts',
    mutantMsMax: 60_000,
    withHeavy: false,
    results,
  });
  const proven = survivors.filter(({ at }) => at === 'scripts/mutate/example/fare.ts:3');
  const unproven = survivors.filter(({ at }) => at === 'scripts/mutate/example/fare.ts:4');
  expect(proven).toEqual([]);
  expect(unproven.map(({ mutant }) => mutant)).toEqual(['true', 'false']);
  expect(lines).toContainEqual(
    expect.stringMatching(/% {2}\d killed, 2 survived, 0 uncovered {2}scripts\/mutate\/example\/fare\.ts$/),
  );
});
