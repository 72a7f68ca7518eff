import type { KnownHole } from '../../../linux/holes/open-holes.ts';

/** Holes of a bubblewrap with the set-uid bit only: a user who may start it becomes root of the machine. */
export const SET_UID_HOLES: readonly KnownHole[] = [
  {
    id: 'CVE-2016-8659',
    source: 'GHSA-q7w7-m7vg-xxg8',
    published: '2017-02-13',
    fixedIn: '0.1.3',
    what: 'with the set-uid bit, a user of the machine takes its rights over by ptrace',
  },
  {
    id: 'CVE-2020-5291',
    source: 'GHSA-j2qp-rvxj-43vj',
    published: '2020-03-30',
    since: '0.4.0',
    fixedIn: '0.4.1',
    what: 'with the set-uid bit, a user of the machine becomes root by --userns2',
  },
  {
    id: 'CVE-2026-41163',
    source: 'GHSA-xq78-7hw4-5jvp',
    published: '2026-05-09',
    since: '0.11.0',
    fixedIn: '0.11.2',
    what: 'with the set-uid bit, a user of the machine makes overlay mounts as root by ptrace',
  },
];

/**
 * Tested by `examine-program.ts`: Ubuntu has backported the fix into old versions, and has removed it again
 * (USN-8779-1, USN-8779-2).
 */
export const LINK_HOLE: KnownHole = {
  id: 'CVE-2026-87766',
  source: 'GHSA-pxhw-h44j-8pfx',
  published: '2026-08-26',
  fixedIn: '0.12.0',
  what: 'a link in a mounted folder makes it make files of the host while it prepares a sandbox',
  outOfReach:
    'it makes nothing in folders that tools may change, since those are put together before it starts (ADR 0014).',
};

/**
 * Recognised by its option, which Debian has backported into 0.8.0. The hole itself is Flatpak's; older versions have
 * no protection. CVE-2017-5226, keystrokes for the terminal, depends on how bubblewrap is called: here with
 * --new-session and a call filter.
 */
export const DESCRIPTOR_HOLE: KnownHole = {
  id: 'CVE-2024-42472',
  source: 'GHSA-7hgv-f2j8-xw87',
  published: '2024-08-14',
  fixedIn: '0.10.0',
  what: 'it cannot mount by descriptor, so that a folder may be exchanged before it is mounted',
  outOfReach: 'folders are opened and mounted by descriptor before it starts (ADR 0014).',
};

/** Holes of bubblewrap. */
export const BUBBLEWRAP_HOLES: readonly KnownHole[] = [
  ...SET_UID_HOLES,
  {
    id: 'CVE-2019-12439',
    source: 'GHSA-hj8h-43q8-g8vp',
    published: '2019-05-29',
    fixedIn: '0.3.3',
    what: 'another user of the machine makes its folder in /tmp first, so that it does not start or runs code of that user',
  },
  DESCRIPTOR_HOLE,
  LINK_HOLE,
];
