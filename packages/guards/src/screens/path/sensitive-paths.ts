/**
 * Files that hold secrets, or that let their writer run code later (seeds 002, "Per-Path File Read Sandbox", and the
 * credential files of well-known programs).
 */
export const SENSITIVE_PATHS: readonly string[] = [
  '**/.env',
  '**/.env.*',
  '**/.envrc',
  '**/secrets/**',
  '**/.git/config',
  '**/.git/hooks/**',
  '**/.git-credentials',
  '**/.ssh/**',
  '**/id_rsa',
  '**/id_dsa',
  '**/id_ecdsa',
  '**/id_ed25519',
  '**/.aws/**',
  '**/.azure/**',
  '**/.config/gcloud/**',
  '**/.config/gh/hosts.yml',
  '**/.gnupg/**',
  '**/.kube/**',
  '**/.docker/config.json',
  '**/.netrc',
  '**/_netrc',
  '**/.npmrc',
  '**/.pypirc',
  '**/.pgpass',
  '**/.my.cnf',
  '**/.htpasswd',
  '**/.vault-token',
  '**/.terraform.d/credentials.tfrc.json',
  '**/.cargo/credentials*',
  '**/.*_history',
  '**/*.pem',
  '**/*.key',
  '**/*.p12',
  '**/*.pfx',
  '**/*.jks',
  '**/*.keystore',
  '**/*.kdbx',
  '/etc/shadow*',
  '/etc/gshadow*',
  '/etc/sudoers',
  '/etc/sudoers.d/**',
  '/run/secrets/**',
  '/var/run/secrets/**',
  '/var/run/docker.sock',
  '/run/docker.sock',
];

/** Patterns of sample files for an `.env`, without secrets of their own. */
export const HARMLESS_PATHS: readonly string[] = [
  '**/.env.example',
  '**/.env.sample',
  '**/.env.template',
  '**/.env.dist',
];

/**
 * Folders whose files are special: devices, kernel switches, state of other processes. Allowed only below a root inside
 * them.
 */
export const SPECIAL_FOLDERS: readonly string[] = ['/proc', '/sys', '/dev'];

/** A second path to every file, open descriptor or memory of a process; never allowed. */
export const PROCESS_DOORS: readonly string[] = [
  ...['root', 'cwd', 'fd', 'map_files', 'task'].map((door) => `/proc/*/${door}/**`),
  '/proc/*/environ',
  '/proc/*/mem',
  '/dev/fd/**',
  '/dev/tcp/**',
  '/dev/udp/**',
];
