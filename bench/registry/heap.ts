import { collectGarbage } from '@sallyport/std/held-bytes';

/** What lives on the heap of this process, garbage collected before, in MB. */
export function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}
