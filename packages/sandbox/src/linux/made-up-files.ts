/** Uid and gid that a tool sees as its own, whatever they are outside. */
export const INSIDE_ID = 1000;

/** Looked up in when the spec's environment has no PATH. */
export const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What of the host's /etc is harmless and needed: the loader's cache, certificates (no keys), program choices. */
export const SHOWN_ETC: readonly string[] = [
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
];

/**
 * Made-up files of /etc by path, so that names resolve and nothing of the host shows.
 * @param uid what the tool sees as its own
 */
export function madeUpFiles(uid: number = INSIDE_ID): Readonly<Record<string, string>> {
  const root = uid === 0 ? [] : ['root:x:0:0:root:/root:/usr/sbin/nologin'];
  return {
    '/etc/passwd': [
      ...root,
      `sandbox:x:${uid}:${uid}:sandbox:/tmp:/bin/sh`,
      'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
      '',
    ].join('\n'),
    '/etc/group': `${uid === 0 ? '' : 'root:x:0:\n'}sandbox:x:${uid}:\nnogroup:x:65534:\n`,
    '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 sandbox\n',
    '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
  };
}
