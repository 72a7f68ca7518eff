import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { openKeyRing } from '../../../identity/key-ring.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { checkpointSigner } from './checkpoint-signer.ts';

test('AUD-03 what a key signed is verified after it was replaced, after a restart, and by an instance that did not look since', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-signer-'));
  const open = () => openKeyRing({ folder, issuer: 'sallyport', clock: systemClock, log: silentLog });
  try {
    await using ring = await open();
    await using other = await open();
    const signer = checkpointSigner(ring);
    const before = await signer.sign('head');
    await ring.rotate(0);
    const after = await signer.sign('head');
    expect(after.keyId).not.toBe(before.keyId);
    await using again = await open();
    for (const each of [signer, checkpointSigner(again), checkpointSigner(other)]) {
      expect(await each.verify('head', before.keyId, before.signature)).toBe(true);
      expect(await each.verify('head', after.keyId, after.signature)).toBe(true);
      expect(await each.verify('other', before.keyId, before.signature)).toBe(false);
      expect(await each.verify('head', after.keyId, before.signature)).toBe(false);
      expect(await each.verify('head', 'unknown', before.signature)).toBe(false);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
