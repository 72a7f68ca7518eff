import type { KnownHole } from '../../linux/holes/open-holes.ts';

/** Published holes through the sandbox's boundary. Those within one sandbox are not counted: a tool is alone in its own. */
export const GVISOR_HOLES: readonly KnownHole[] = [
  {
    id: 'CVE-2025-2713',
    source: 'cve.org',
    published: '2025-03-28',
    fixedIn: '20250319.0',
    what: 'a user of the machine reads files of root through runsc',
    outOfReach: 'the layer starts runsc with the rights of an ordinary user alone (ADR 0003).',
  },
  {
    id: 'CVE-2026-96812',
    source: 'cve.org',
    published: '2026-09-25',
    // The record names a commit and no release; this is the first after it was published.
    fixedIn: '20260928.0',
    what: 'a device in an image opens that of the host (CUSE), and so makes a tool root of the machine',
    outOfReach: 'nothing that it shows has devices: folders are mounted without them, and there is no image.',
  },
];

/** Day and number of a release, such as 20221219.0, out of what runsc calls its version; undefined when there is none in it. */
export function releaseOf(version: string): string | undefined {
  return /\d{8}(?:\.\d+)?/.exec(version)?.[0];
}
