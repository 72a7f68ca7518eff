/** Exceptions that make a read-only program write or run something. */
export interface ReadOnly {
  /** Short options that write or run something, as letters. */
  readonly letters?: string;
  /** Long options that do; matched by their beginning, as programs take them shortened. */
  readonly longs?: readonly string[];
  /** Most operands: a further one would be written. */
  readonly operandsMax?: number;
  /** Only these subcommands are read-only. */
  readonly subcommands?: readonly string[];
}

const ANY: ReadOnly = {};
const NAMES_ALONE =
  'cat head wc ls pwd echo printf true false test [ expr seq basename dirname realpath readlink stat du df whoami id groups uname uptime arch nproc which type grep egrep fgrep zgrep cut tr rev nl paste join comm fold fmt expand unexpand cmp diff cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum od hexdump strings tac sleep factor numfmt tsort ps pgrep free lscpu lsblk lsusb lspci tty : exit return break continue wait cd pushd popd dirs shift export declare typeset local readonly unset set read mapfile readarray let getopts umask times jobs getconf locale logname users who w vmstat iostat nm size objdump readelf cal zcat bzcat xzcat vdir dir look column colrm diff3 pathchk shasum md5 mdfind sw_vers pr tail';

/** Read-only programs, for all arguments or except for some options. */
export const READ_ONLY: ReadonlyMap<string, ReadOnly> = new Map<string, ReadOnly>([
  ...NAMES_ALONE.split(' ').map((name): [string, ReadOnly] => [name, ANY]),
  ['sort', { letters: 'oT', longs: ['--output', '--compress-program', '--temporary-directory'] }],
  ['uniq', { operandsMax: 1 }],
  ['base64', { letters: 'o', longs: ['--output'] }],
  ['base32', { letters: 'o', longs: ['--output'] }],
  ['xxd', { letters: 'r', longs: ['--revert'], operandsMax: 1 }],
  ['file', { letters: 'C', longs: ['--compile'] }],
  ['tree', { letters: 'oR', longs: ['--output'] }],
  ['rg', { letters: 'z', longs: ['--pre', '--hostname-bin', '--search-zip'] }],
  ['ag', { letters: 'z', longs: ['--pager', '--search-zip'] }],
  ['date', { letters: 's', longs: ['--set'] }],
  ['hostname', { operandsMax: 0, letters: 'Fb', longs: ['--file', '--boot'] }],
  ['jq', { longs: ['--run-tests'] }],
  ['yq', { letters: 'is', longs: ['--inplace', '--split-exp'] }],
  ['fd', { letters: 'xX', longs: ['--exec', '--exec-batch'] }],
  ['fdfind', { letters: 'xX', longs: ['--exec', '--exec-batch'] }],
  ['tokei', ANY],
  ['hash', { letters: 'p' }],
  [
    'cloc',
    {
      longs: [
        '--extract-with',
        '--out',
        '--report-file',
        '--sql',
        '--diff-list-file',
        '--write-lang-def',
        '--config',
        '--fullpath',
        '--read-lang-def',
      ],
    },
  ],
  ['docker', { subcommands: ['ps', 'images', 'version', 'info'] }],
  ['npm', { subcommands: ['ls', 'list', 'root', 'prefix'] }],
  ['systemctl', { subcommands: ['status', 'is-active', 'is-enabled', 'list-units', 'show'] }],
]);

/** Programs that do nothing else when asked for their version. */
export const PRINTS_VERSION: ReadonlySet<string> = new Set(
  'node python python3 python2 ruby perl php java javac go rustc cargo npm npx yarn pnpm bun deno git gcc g++ clang cc make cmake docker kubectl terraform tsc bash zsh sh dash fish curl wget jq rg fd tar gzip openssl ssh psql mysql sqlite3 pip pip3 uv poetry dotnet swift rustup ruff eslint prettier vitest jest pytest mvn gradle'.split(
    ' ',
  ),
);
