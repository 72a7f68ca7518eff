// A program that the test starts: takes a snapshot of a tree, changes the tree and reports it. Then it restores the tree
// or waits, until the test kills it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../../telemetry/log.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';
import { takeSnapshot } from './take-snapshot.ts';

const [, , tree = '', snapshots = '', restores = ''] = process.argv;
const folder = await openSnapshotFolder(snapshots, silentLog);
await using kept = await folder.make([tree]);
const signal = new AbortController().signal;
await using snapshot = await takeSnapshot({ paths: [tree], globs: ['**'], bytesMax: 0, pack: kept.pack, signal });
for (let at = 0; at < 300; at += 2) {
  writeFileSync(join(tree, `f${at}`), 'changed');
  rmSync(join(tree, `f${at + 1}`));
  writeFileSync(join(tree, `new${at}`), 'new');
}
process.stdout.write('changed\n');
if (restores === 'restores') await kept.restore(snapshot);
else await new Promise((resolve) => setTimeout(resolve, 60_000));
process.stdout.write('restored\n');
