import { globMatcher } from '../words/glob.ts';

/** A path as words between slashes, without a look at the disk. */
export interface Place {
  readonly from: 'root' | 'home' | 'folder';
  readonly segments: readonly string[];
}

/** Reads a path: `//`, `.` and `..` are resolved by name; `/home/x`, `/Users/x`, `/root` and `~` are a home. */
export function placeOf(text: string, folder?: string): Place {
  const whole = folder === undefined || /^[/~]/.test(text) ? text : `${folder}/${text}`;
  const segments: string[] = [];
  const absolute = whole.startsWith('/');
  for (const segment of whole.replaceAll('\\', '/').split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') segments.pop();
    else if (segment !== '..' || !absolute) segments.push(segment);
  }
  if (!absolute && segments[0]?.startsWith('~') === true) return { from: 'home', segments: segments.slice(1) };
  if (!absolute) return { from: 'folder', segments };
  if (segments[0] === 'root') return { from: 'home', segments: segments.slice(1) };
  const isHome = (segments[0] === 'home' || segments[0] === 'Users') && segments.length > 1;
  return isHome ? { from: 'home', segments: segments.slice(2) } : { from: 'root', segments };
}

const SYSTEM = ['etc', 'boot', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'usr', 'sys', 'proc', 'dev', 'System'];
const TOP = [
  ...SYSTEM,
  'home',
  'root',
  'var',
  'opt',
  'srv',
  'mnt',
  'media',
  'run',
  'tmp',
  'Users',
  'Applications',
  'Library',
];

/** Whether the path lies in a folder of the system. */
export function isSystem({ from, segments }: Place): boolean {
  return from === 'root' && segments[0] !== undefined && isOneOf(segments[0], SYSTEM);
}

/** Whether what lies there must not be removed or changed as a whole: root, homes, system folders, the folder one is in. */
export function isWhole(place: Place): boolean {
  const { from, segments } = place;
  const last = segments.at(-1) ?? '';
  const all = /^(?:\*|\.\*|\*\.\*|\.\[!\.\]\*|\{,?\.?\*,?\})$/.test(last);
  const rest = all ? segments.slice(0, -1) : segments;
  if (from === 'root')
    return rest.length === 0 || (rest.length === 1 && isOneOf(rest[0] ?? '', TOP)) || isSystem(place);
  return rest.every((segment) => segment === '..');
}

const STARTUP =
  /^\.(?:bashrc|bash_(?:profile|login|logout|aliases)|profile|z(?:shrc|profile|shenv|login|logout)|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession(?:rc)?|pam_environment)$/;
const STARTUP_FOLDERS =
  /(?:^|\/)(?:\.config\/(?:fish|autostart|systemd)|Library\/Launch(?:Agents|Daemons)|\.git\/hooks|\.ssh|cron|crontabs)(?:\/|$)/;
const HISTORY =
  /^\.(?:(?:bash|zsh|sh|python|node_repl|mysql|psql|sqlite|ksh|ash)_?(?:history)|zhistory|lesshst|history)$/;
const HARMLESS_DEVICES = new Set([
  'null',
  'zero',
  'full',
  'stdout',
  'stderr',
  'stdin',
  'tty',
  'ptmx',
  'random',
  'urandom',
]);

/** What a write to a path would do; undefined where it is an ordinary file. */
export function harmOfWrite(text: string, folder?: string): { rule: string; why: string } | undefined {
  const place = placeOf(text, folder);
  const { from, segments } = place;
  const name = segments.at(-1) ?? '';
  if (isSocket(text)) return { rule: 'raw-socket', why: 'it opens a connection as if it were a file' };
  if (from === 'root' && segments[0] === 'dev') return harmOfDevice(segments);
  if (HISTORY.test(name)) return { rule: 'erases-traces', why: 'it changes the history of commands' };
  const path = segments.join('/');
  if (STARTUP.test(name) || STARTUP_FOLDERS.test(path)) {
    return { rule: 'writes-startup', why: 'what is written there is run later, or lets someone in' };
  }
  if (isSystem(place)) return { rule: 'writes-system', why: 'it changes the system' };
  if (from === 'root' && segments[0] === 'var' && segments[1] === 'log') {
    return { rule: 'erases-traces', why: 'it changes logs' };
  }
  return undefined;
}

/** Whether nothing is kept of what is written there. */
export function isNowhere(text: string): boolean {
  const { from, segments } = placeOf(text);
  if (from !== 'root' || segments[0] !== 'dev') return false;
  return HARMLESS_DEVICES.has(segments[1] ?? '') || segments[1] === 'fd';
}

/** `/dev/tcp/host/port` of bash. */
export function isSocket(text: string): boolean {
  return /^\/+dev\/+(?:tcp|udp)\/+/.test(text);
}

function harmOfDevice([, device = '']: readonly string[]): { rule: string; why: string } | undefined {
  if (
    HARMLESS_DEVICES.has(device) ||
    /^(?:fd|shm|pts|mqueue|ttyS?\d*|ttyUSB\d*|ttyACM\d*|cu\..*|lp\d*|snd|dsp)$/.test(device)
  ) {
    return undefined;
  }
  return { rule: 'writes-device', why: 'it overwrites a device' };
}

const SECRET =
  /(?:^|\/)(?:\.ssh\/?$|\.aws\/?$|\.ssh\/(?:id_[^/.]*|identity|[^/]*_(?:rsa|dsa|ed25519|ecdsa))|\.aws\/(?:credentials|config)|\.gnupg(?:\/.*)?|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|\.docker\/config\.json|\.kube\/config|\.config\/(?:gcloud|gh)\/.*|\.azure\/.*|\.vault-token|\.password-store\/.*|\.htpasswd|\.my\.cnf|wallet\.dat|\.env(?:\.(?!example|sample|template|dist)[^/]*)?|[^/]*\.(?:pem|kdbx|p12|pfx|keytab)|Login Data|cookies\.sqlite|(?:service[-_]?account|credentials)[^/]*\.json)$/;
const SECRET_ROOT =
  /^(?:etc\/(?:shadow|gshadow|sudoers|master\.passwd)(?:[-.~].*)?|etc\/ssl\/private\/.*|etc\/(?:krb5\.keytab|ssh\/ssh_host_.*key)|proc\/(?:\d+|self|\*)\/(?:environ|mem)|proc\/kcore|(?:var\/)?run\/secrets\/.*|dev\/(?:mem|kmem|sd.*|nvme.*|vd.*|hd.*))$/;
const SECRET_NAMES = ['etc/shadow', 'etc/gshadow', 'etc/sudoers', '.ssh/id_rsa', '.ssh/id_ed25519', '.aws/credentials'];

/** A word of each of them, or a pattern: most paths need no closer look. */
const MAY_BE_SECRET =
  /[*?[]|\.(?:ssh|aws|gnupg|netrc|pgpass|git-c|npmrc|pypirc|docker|kube|config|azure|vault|password|htp|my\.cnf|env|pem|kdbx|p12|pfx|keytab|json)|wallet|Login|cookies|shadow|sudoers|master|private|krb5|environ|mem|kcore|ssh_host|secrets|dev\/|kmem/;

/** Whether a path holds credentials or keys. */
export function isSecret(text: string, folder?: string): boolean {
  if (!MAY_BE_SECRET.test(text)) return false;
  const { from, segments } = placeOf(text, folder);
  const path = segments.join('/');
  if (SECRET.test(path) || (from === 'root' && SECRET_ROOT.test(path))) return true;
  if (!/[*?[]/.test(path) || from === 'folder') return false;
  return SECRET_NAMES.some((name) => globMatcher(path)(name));
}

function isOneOf(segment: string, names: readonly string[]): boolean {
  if (!/[*?[]/.test(segment)) return names.includes(segment);
  const matches = globMatcher(segment);
  return names.some(matches);
}
