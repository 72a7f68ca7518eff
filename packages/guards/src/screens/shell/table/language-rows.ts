import type { ProgramRow } from './program-row.ts';

const SHELL: ProgramRow = {
  language: 'shell',
  readsInput: true,
  code: '--command --init-command',
  gives: '--command',
  asks: '--rcfile --init-file',
  takes: 'oO',
  flags: 'abefhikmnprtuvxBCEHIPTlsVq --norc --noprofile --login --posix --verbose --restricted --noediting --emulate',
  plus: true,
  operands: ['script'],
};

const PYTHON: ProgramRow = {
  language: 'code',
  code: 'c',
  commands: 'm',
  gives: 'cm',
  ends: 'cm',
  takes: 'WX --check-hash-based-pycs',
  flags: 'bBdEhiIOPqsSuvVx',
  operands: ['script'],
};

const NODE: ProgramRow = {
  language: 'code',
  code: 'ep --eval --print --run',
  gives: 'ep --eval --print --run',
  asks: 'r --require --import --loader --experimental-loader --env-file --env-file-if-exists --openssl-config --experimental-config-file --snapshot-blob --build-snapshot --build-snapshot-config --experimental-sea-config --test-reporter --test-global-setup --tsconfig --preload --config',
  takes: 'C --conditions --input-type --stack-size --max-old-space-size --title --test-name-pattern',
  flags:
    'civh --check --watch --test --no-warnings --enable-source-maps --trace-warnings --experimental-strip-types --throw-deprecation --permission --inspect',
  operands: ['script'],
};

const PERL: ProgramRow = {
  language: 'code',
  code: 'eEMmdF',
  gives: 'eE',
  asks: 'Ix',
  flags: 'aclnpsStTuUvVwWXfhgi0123456789',
  operands: ['script'],
};

const RUBY: ProgramRow = {
  language: 'code',
  code: 'e',
  gives: 'e',
  asks: 'rICx --require',
  takes: 'EFT --encoding --external-encoding --internal-encoding',
  flags: 'acdhlnpsSvwWyi0 --verbose --version --yjit --jit',
  operands: ['script'],
};

const PHP: ProgramRow = {
  language: 'code',
  code: 'rBRE d',
  gives: 'rBREfF',
  asks: 'czfF',
  takes: 'St',
  flags: 'ahilmnqsvw',
  operands: ['script'],
};

const AWK: ProgramRow = {
  language: 'code',
  code: 'e --source',
  gives: 'ef --source --file --exec',
  asks: 'filEDopd --file --include --load --exec',
  takes: 'Fv --field-separator --assign',
  flags: 'bcCgIhLMnNOPrsStV --posix --traditional --re-interval --csv --sandbox',
  operands: ['code', 'plain'],
};

const SED: ProgramRow = {
  language: 'editing',
  code: 'e --expression',
  gives: 'ef --expression --file',
  asks: 'f --file',
  takes: 'l --line-length',
  flags:
    'nErsuzi --quiet --silent --regexp-extended --in-place --null-data --posix --debug --sandbox --separate --unbuffered',
  operands: ['code', 'plain'],
};

/** Languages that are run with `-e code` or the name of a file. */
const ANY: ProgramRow = {
  language: 'code',
  wholeWords: true,
  code: '-e -c -E -eval --eval --e --execute --print',
  gives: '-e -c -E -eval --eval --e --execute --print',
  asks: '-r -l -I -L -f -s -pa -run --load --require --include',
  flags: '-q -v -V -i -n --slave --vanilla --quiet --no-restore --no-save --no-echo -noshell',
  operands: ['script'],
};

/** Programs that run code in a language of their own; the version at the end of a name is left out. */
export const LANGUAGE_ROWS: Readonly<Record<string, ProgramRow>> = {
  ...named(
    'sh bash dash zsh ksh ksh93 mksh pdksh lksh ash rbash rzsh rksh yash osh posh fish csh tcsh hush git-bash busybox.sh',
    SHELL,
  ),
  ...named('python pypy ipython jython micropython bpython', PYTHON),
  ...named('node nodejs iojs tsx ts-node qjs d8', NODE),
  deno: {
    ...NODE,
    operands: ['script'],
    subcommands: { eval: { operands: ['code'] }, run: { ...NODE, operands: ['script'] }, fmt: {}, lint: {}, check: {} },
  },
  bun: {
    ...NODE,
    subcommands: { run: { ...NODE, operands: ['script'] }, x: { operands: ['program'] }, add: { operands: ['open'] } },
  },
  ...named('perl raku', PERL),
  ...named('ruby jruby irb', RUBY),
  ...named('php', PHP),
  ...named('awk gawk mawk nawk', AWK),
  ...named('sed gsed', SED),
  ...named(
    'lua luajit tclsh wish expect julia elixir erl ghc runghc R Rscript osascript groovy scala kotlin guile racket sbcl clisp gawk-ext octave jshell jrunscript',
    ANY,
  ),
};

/** The same row under several names. */
export function named(names: string, row: ProgramRow): Record<string, ProgramRow> {
  return Object.fromEntries(names.split(' ').map((name) => [name, row]));
}
