import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compiledCodeFolder } from './compiled-code.ts';

test('compiled code is kept for a day, and the folder is made when it is missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'compiled-'));
  try {
    const ofVersion = join(compiledCodeFolder(join(folder, 'new')), 'v24');
    mkdirSync(ofVersion);
    const dayMs = 24 * 60 * 60 * 1000;
    for (const [name, age] of [
      ['old', dayMs + 60_000],
      ['recent', dayMs - 60_000],
    ] as const) {
      const path = join(ofVersion, name);
      writeFileSync(path, '');
      utimesSync(path, new Date(), new Date(Date.now() - age));
    }
    compiledCodeFolder(join(folder, 'new'));
    expect(readdirSync(ofVersion)).toEqual(['recent']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
