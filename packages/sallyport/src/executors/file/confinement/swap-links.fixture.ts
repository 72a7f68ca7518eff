// A worker that replaces a folder and a file by links to the outside and back, as fast as it can, until the test stops
// it.
import { renameSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { root, stop } = workerData as { root: string; stop: SharedArrayBuffer };
const stopped = new Int32Array(stop);
const exchange = (name: string): void => {
  // The name is in turn the real file or folder, absent, the link, and absent again.
  renameSync(`${root}/${name}`, `${root}/${name}.real`);
  renameSync(`${root}/${name}.link`, `${root}/${name}`);
  renameSync(`${root}/${name}`, `${root}/${name}.link`);
  renameSync(`${root}/${name}.real`, `${root}/${name}`);
};

let rounds = 0;
parentPort?.postMessage('running');
while (Atomics.load(stopped, 0) === 0) {
  exchange('folder');
  exchange('inner/folder');
  rounds += 1;
}
parentPort?.postMessage(rounds);
