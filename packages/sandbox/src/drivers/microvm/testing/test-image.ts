import { createHash } from 'node:crypto';
import { accessSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@sallyport/std/files/find-program';
import { AGENT_PROGRAM, GUEST_FILES, INIT_PROGRAM, WARDEN_PROGRAM } from '../image/guest-programs.ts';
import { IMAGE_FILES, type PreparedImage, prepareImage } from '../image/prepare-image.ts';
import { reseedProgram } from '../image/reseed-program.ts';

/** The guest of the tests, made once and kept in the system's temporary folder; or why there is none. */
export async function testImage(): Promise<PreparedImage | { readonly missing: string }> {
  if (findProgram('qemu-system-x86_64') === undefined) return { missing: 'qemu-system-x86_64 is not installed' };
  const programs = JSON.stringify([AGENT_PROGRAM, INIT_PROGRAM, WARDEN_PROGRAM, GUEST_FILES, reseedProgram()]);
  const version = createHash('sha256').update(programs).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `sallyport-test-image-${version}`);
  const kept = { kernel: join(folder, IMAGE_FILES.kernel), initrd: join(folder, IMAGE_FILES.initrd) };
  try {
    for (const path of Object.values(kept)) accessSync(path);
    return kept;
  } catch {
    return prepareImage(folder).catch((error: unknown) => ({
      missing: `no image can be made: ${String(error).slice(0, 200)}`,
    }));
  }
}
