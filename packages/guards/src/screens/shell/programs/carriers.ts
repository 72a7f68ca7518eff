import { type Field, literal, restOf } from '../field.ts';
import type { Context, Shell } from '../shell.ts';

/** Follows commands that lie in the options or the program of another command; it reports nothing of its own. */
type Carrier = (shell: Shell, args: readonly Field[], context: Context) => void;

/** Programs that carry commands elsewhere than at the end of their arguments. */
export const CARRIERS: ReadonlyMap<string, Carrier> = new Map(
  Object.entries<Carrier>({
    find: (shell, args, context) => executed(shell, args, context, /^-(?:exec|execdir|ok|okdir)$/),
    fd: (shell, args, context) => executed(shell, args, context, /^(?:-[xX]|--exec(?:-batch)?)$/),
    fdfind: (shell, args, context) => executed(shell, args, context, /^(?:-[xX]|--exec(?:-batch)?)$/),
    git: (shell, args, context) => {
      for (const field of args) {
        if (field.text.startsWith('ext::')) remoteHelper(shell, field, context);
      }
      codes(
        shell,
        args,
        /^(?:alias\.[^=]+=!|core\.(?:pager|editor|sshcommand|fsmonitor)=|[^=]+\.(?:textconv|command|helper|clean|smudge)=!?)/i,
      );
      codeOptions(shell, args, ['--exec', '-x', '--upload-pack', '--receive-pack', '--extcmd']);
      following(shell, args, ['foreach', 'run', '--tree-filter', '--index-filter', '--env-filter', '--msg-filter']);
    },
    tar: (shell, args) => {
      codes(
        shell,
        args,
        /^(?:--checkpoint-action=exec=|--to-command=|--use-compress-program=|--rsh-command=|--info-script=|--new-volume-script=)/,
      );
      codeOptions(shell, args, [
        '--checkpoint-action',
        '--to-command',
        '-I',
        '--use-compress-program',
        '-F',
        '--rsh-command',
      ]);
    },
    rsync: (shell, args) => {
      codeOptions(shell, args, ['-e', '--rsh', '--rsync-path']);
      codes(shell, args, /^(?:--rsh=|--rsync-path=)/);
    },
    ssh: (shell, args) => codes(shell, args, /^(?:-o)?(?:Proxy|Local|Remote|KnownHosts|Permit)\w*Command[= ]/i),
    scp: (shell, args) => codes(shell, args, /^(?:-o)?(?:Proxy|Local)\w*Command[= ]/i),
    sftp: (shell, args) => codes(shell, args, /^(?:-o)?(?:Proxy|Local)\w*Command[= ]/i),
    zip: (shell, args) => codeOptions(shell, args, ['-TT', '--unzip-command']),
    split: (shell, args) => codes(shell, args, /^--filter=/),
    sort: (shell, args) => codes(shell, args, /^--compress-program=/),
    rg: (shell, args) => {
      codes(shell, args, /^--(?:pre|hostname-bin)=/);
      codeOptions(shell, args, ['--pre', '--hostname-bin']);
    },
    man: (shell, args) => codeOptions(shell, args, ['-P', '--pager', '-H']),
    vim: bangs,
    vi: bangs,
    nvim: bangs,
    ex: bangs,
    view: bangs,
    less: bangs,
    more: bangs,
    ed: bangs,
    emacs: bangs,
    gdb: bangs,
    ftp: bangs,
    sqlite3: (shell, args) => codes(shell, args, /^\s*\.(?:shell|system)\s+/),
    mysql: (shell, args) => codes(shell, args, /^(?:-e)?\s*(?:system|\\!)\s+/),
    psql: (shell, args) => codes(shell, args, /^(?:-c)?\s*\\!\s+/),
    sed: sedProgram,
    gsed: sedProgram,
    npx: (shell, args) => codeOptions(shell, args, ['-c', '--call']),
    npm: (shell, args) => codeOptions(shell, args, ['-c', '--call']),
    vagrant: (shell, args) => codeOptions(shell, args, ['-c', '--command']),
    'nix-shell': (shell, args) => codeOptions(shell, args, ['--run', '--command']),
    'git-bisect': (shell, args) => following(shell, args, ['run']),
    concurrently: (shell, args) => each(shell, args),
    ansible: (shell, args) => codeOptions(shell, args, ['-a', '--args']),
    xterm: (shell, args, context) => executed(shell, args, context, /^-e$/),
    'gnome-terminal': (shell, args, context) => executed(shell, args, context, /^--$/),
    konsole: (shell, args, context) => executed(shell, args, context, /^-e$/),
    tmux: (shell, args) =>
      each(
        shell,
        args.filter(({ text }) => text.includes(' ')),
      ),
    screen: (shell, args, context) => executed(shell, args, context, /^-[dDmS]+$/),
    make: (shell, _args, { input }) => recipes(shell, input),
    gmake: (shell, _args, { input }) => recipes(shell, input),
    at: (shell, _args, { input }) => fed(shell, input),
    batch: (shell, _args, { input }) => fed(shell, input),
    crontab: (shell, _args, { input }) => fed(shell, input),
  }),
);

function executed(shell: Shell, args: readonly Field[], context: Context, option: RegExp): void {
  for (let at = 0; at < args.length; at += 1) {
    if (!option.test(args[at]?.text ?? '')) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ text }) => text === ';' || text === '+');
    const command = end < 0 ? rest : rest.slice(0, end);
    const filled = command.map((field) => (field.text.includes('{}') ? { ...field, certain: false } : field));
    if (filled.length > 0)
      shell.run.command(shell, filled, { ...context, input: undefined, assigned: [], viaProgram: true });
    at += command.length;
  }
}

/** Texts after a mark in an argument, such as `--filter=command`. */
function codes(shell: Shell, args: readonly Field[], mark: RegExp): void {
  for (const field of args) {
    const found = mark.exec(field.text);
    if (found !== null) run(shell, { ...field, text: field.text.slice(found[0].length) });
  }
}

/** Texts that follow an option. */
function codeOptions(shell: Shell, args: readonly Field[], names: readonly string[]): void {
  for (const [index, { text }] of args.entries()) {
    const next = args[index + 1];
    if (names.includes(text) && next !== undefined) run(shell, { ...next, text: next.text.replace(/^exec=/, '') });
    const joined = names.find((name) => name.startsWith('--') && text.startsWith(`${name}=`));
    if (joined !== undefined) run(shell, { ...(args[index] as Field), text: text.slice(joined.length + 1) });
  }
}

/** All words that follow one of the words, as a text for a shell. */
function following(shell: Shell, args: readonly Field[], words: readonly string[]): void {
  const at = args.findIndex(({ text }) => words.includes(text));
  const rest = args.slice(at + 1).filter(({ text }) => !/^--?[a-z]/.test(text));
  if (at < 0 || rest.length === 0) return;
  run(shell, { ...(rest[0] as Field), text: rest.map(({ text }) => text).join(' ') });
}

function each(shell: Shell, args: readonly Field[]): void {
  for (const field of args) if (!field.text.startsWith('-')) run(shell, field);
}

/** `ext::program with% spaces` of git. */
function remoteHelper(shell: Shell, field: Field, context: Context): void {
  const words = field.text
    .slice('ext::'.length)
    .split(/(?<!%) /)
    .map((text) => ({ ...field, text: text.replaceAll('% ', ' ') }));
  shell.run.command(shell, words, { ...context, assigned: [], viaProgram: true });
}

/** `!command` and `:!command` of editors and pagers. */
function bangs(shell: Shell, args: readonly Field[], { input }: Context): void {
  const lines = restOf(input)?.text?.split('\n') ?? [];
  for (const field of [...args, ...lines.filter((line) => line.includes('!')).map(literal)]) {
    const found = /^(?:\+|-c|--cmd=?)?[:\s]*(?:silent\s*)?(?:%|r\s*|shell\s+)?!\s*(.+)$/s.exec(field.text);
    const system = /system\s*\(\s*(['"])(.*?)\1/s.exec(field.text);
    const code = found?.[1] ?? system?.[2];
    if (code !== undefined) run(shell, { ...field, text: code });
  }
}

/** `e` of GNU sed runs a command: alone, or what `s` made of a line. */
const SED_RUNS: readonly RegExp[] = [
  /(?:^|[;{}\n\d$/])[ \t]*e[ \t]+([^\n;]+)/g,
  /(?:^|[;{}\n])[ \t]*[\d,$]{0,20}s(?<quote>.)(?:\\.|(?!\k<quote>)[^\\\n]){0,1000}\k<quote>((?:\\.|(?!\k<quote>)[^\\\n]){0,1000})\k<quote>[gpiIm\d]{0,12}e/g,
];

function sedProgram(shell: Shell, args: readonly Field[]): void {
  for (const field of args)
    for (const found of SED_RUNS.flatMap((pattern) => [...field.text.matchAll(pattern)])) {
      const code = found.at(-1) ?? '';
      if (code.length > 1 && /\s/.test(code)) run(shell, { ...field, text: code });
    }
}

function fed(shell: Shell, input: Context['input']): void {
  const text = restOf(input)?.text;
  // A line of a crontab begins with five times or a word for them.
  if (text !== undefined) run(shell, literal(text.replace(/^(?:@\w+|(?:[\d*/,-]+\s+){5})\s*/gm, '')));
}

/** Commands of a makefile that comes in. */
function recipes(shell: Shell, input: Context['input']): void {
  const text = restOf(input)?.text;
  if (text !== undefined) run(shell, literal(text.replace(/^[^:\t\n]*:(?:[^;\n]*;)?|^\t[@-]*/gm, '')));
}

function run(shell: Shell, { text, origin }: Field): void {
  if (text.trim() === '') return;
  shell.conditional += 1;
  if (origin === 'network' || origin === 'decoder') {
    const why = 'it runs a text that is fetched or hidden';
    shell.report.add({ rule: 'decoded-script', why, verdict: 'blocked', severe: true }, text.slice(0, 200));
  }
  shell.run.text(shell, text);
  shell.conditional -= 1;
}
