// A program that the test starts as some user: it takes snapshots of a granted folder and restores them again and
// again, while
// another process exchanges the folder for a link. It prints how often each outcome occurred.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../../telemetry/log.ts';
import { AnotherFolder, NotSecured } from './snapshot.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';
import { takeSnapshot } from './take-snapshot.ts';

const [, , granted = '', outside = '', snapshots = '', rounds = '0'] = process.argv;
const folder = await openSnapshotFolder(snapshots, silentLog);
const signal = new AbortController().signal;
const ends: Record<string, number> = { restored: 0, refused: 0, another: 0, lost: 0 };
let added = 0;
for (let round = 0; round < Number(rounds); round += 1) {
  await using kept = await folder.make([granted]);
  try {
    await using snapshot = await takeSnapshot({
      paths: [granted],
      globs: ['**'],
      bytesMax: 0,
      pack: kept.pack,
      signal,
    });
    writeFileSync(join(outside, `precious${round}`), 'of somebody else');
    added += 1;
    await kept.restore(snapshot);
    ends['restored'] = (ends['restored'] ?? 0) + 1;
  } catch (thrown) {
    const end = thrown instanceof AnotherFolder ? 'another' : thrown instanceof NotSecured ? 'refused' : undefined;
    if (end === undefined) throw thrown;
    ends[end] = (ends[end] ?? 0) + 1;
  }
}
ends['lost'] = added - readdirSync(outside).filter((name) => name.startsWith('precious')).length;
process.stdout.write(JSON.stringify(ends));
