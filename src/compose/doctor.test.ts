import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { testImage } from '../sandbox/drivers/microvm/testing/test-image.ts';
import { doctor } from './doctor.ts';

const image = await testImage();

test.skipIf('missing' in image)('SBX-04 doctor says what a driver that works refuses to every tool', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'doctor-'));
  await mkdir(join(dataFolder, 'microvm'));
  for (const path of 'missing' in image ? [] : [image.kernel, image.initrd]) {
    await copyFile(path, join(dataFolder, 'microvm', basename(path)));
  }
  const findings = await doctor({ dataFolder });
  const told = (driver: string): string =>
    findings
      .filter(({ name }) => name.startsWith(`sandbox: ${driver} `))
      .map(({ message }) => message)
      .join(' ');
  expect(told('qemu')).toMatch(/lets no tool out.*E3104.*shows no folders.*E3105/);
  expect(told('bubblewrap')).not.toMatch(/lets no tool out|shows no folders/);
  await rm(dataFolder, { recursive: true });
});
