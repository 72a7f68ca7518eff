import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What lives on the heap of this process, garbage collected before, in MB. */
export function heapMb(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}
