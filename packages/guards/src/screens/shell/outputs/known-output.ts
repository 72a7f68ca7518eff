import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';
import {
  EMPTY_STREAM,
  type Field,
  knownStream,
  type Origin,
  type Stream,
  unknownStream,
  worseOrigin,
} from '../field.ts';
import { readOptions } from '../options.ts';
import type { Shell } from '../shell.ts';
import { decodeBase32, decodeBase64, decodeHex, decodeRot13, inflate } from './decoders.ts';
import { echoText, formatText } from './print-text.ts';
import { reverseLines, selectLines, substitute, translate } from './text-tools.ts';

/** A program's output: a text, undefined when unknown, or a stream unchanged. */
type Writer = (args: readonly Field[], input: string | undefined, shell: Shell) => string | undefined;

/** Programs that only convert a text: a script may run what they hide. */
const DECODERS: ReadonlyMap<string, Writer> = new Map(
  Object.entries<Writer>({
    base64: (args, input, shell) =>
      decoded(args, input, shell, decodeBase64, (text) => Buffer.from(text).toString('base64')),
    base32: (args, input, shell) => decoded(args, input, shell, decodeBase32),
    openssl: (args, input, shell) =>
      args.some(({ text }) => /^-?base64$|^-a$/.test(text)) ? decoded(args, input, shell, decodeBase64) : undefined,
    xxd: (args, input, shell) => (hasLetter(args, 'r') ? through(fileOr(args, input, shell), decodeHex) : undefined),
    rev: (args, input, shell) =>
      through(fileOr(args, input, shell), (text) => text.split('\n').map(backwards).join('\n')),
    tr: (args, input) => through(input, (text) => translate(text, args)),
    rot13: (_args, input) => through(input, decodeRot13),
    gunzip: (_args, input) => through(input, inflate),
    zcat: (_args, input) => through(input, inflate),
    gzip: (args, input) => (hasLetter(args, 'd') ? through(input, inflate) : undefined),
    bunzip2: () => undefined,
    bzip2: () => undefined,
    xz: () => undefined,
    unxz: () => undefined,
    zstd: () => undefined,
    uudecode: () => undefined,
    gpg: () => undefined,
    iconv: (_args, input) => input,
  }),
);

const TEXTS: ReadonlyMap<string, Writer> = new Map(
  Object.entries<Writer>({
    echo: (args) => echoText(args.map(({ text }) => text)),
    printf: (args) => formatText(args.map(({ text }) => text)),
    cat: fileOr,
    tee: (_args, input) => input,
    tac: (args, input, shell) => through(fileOr(args, input, shell), reverseLines),
    sed: (args, input) => through(input, (text) => substitute(text, args)),
    head: (args, input, shell) => selectLines(args, fileOr([], input, shell), 'head'),
    tail: (args, input, shell) => selectLines(args, fileOr([], input, shell), 'tail'),
    cut: (args, input) => selectLines(args, input, 'cut'),
    basename: (args) => line(args[0] && (args[0].text.split('/').findLast((part) => part !== '') ?? '')),
    dirname: (args) => line(args[0]?.text.replace(/\/[^/]*$/, '')),
    command: (args) => line(args.at(-1)?.text),
    type: (args) => line(args.at(-1)?.text),
    which: (args) => line(args.at(-1)?.text),
    true: () => '',
    false: () => '',
    ':': () => '',
    test: () => '',
    '[': () => '',
    cd: () => '',
    sleep: () => '',
    export: () => '',
    set: () => '',
    shift: () => '',
    rm: () => '',
    mkdir: () => '',
    chmod: () => '',
    trap: () => '',
  }),
);

/** Decoders with equally many ordinary uses: their output is judged, not their use. */
const ORDINARY = new Set(['tr', 'iconv', 'gunzip', 'zcat', 'gzip', 'bzip2', 'bunzip2', 'xz', 'unxz', 'zstd', 'gpg']);

/** Programs that fetch from elsewhere. */
const NETWORK = new Set([
  ...[
    'curl',
    'wget',
    'fetch',
    'aria2c',
    'http',
    'https',
    'xh',
    'curlie',
    'lynx',
    'w3m',
    'links',
    'elinks',
    'ftp',
    'tftp',
  ],
  ...[
    'nc',
    'ncat',
    'netcat',
    'socat',
    'telnet',
    'dig',
    'nslookup',
    'host',
    'scp',
    'sftp',
    'ssh',
    'axel',
    'lwp-request',
    'GET',
  ],
  ...['gsutil', 'gh', 'iwr', 'Invoke-WebRequest', 'lwp-download', 'websocat', 'wscat'],
]);

/** Programs whose output is a selection or an order of their input, so that its origin stays. */
export function outputOf(name: string, args: readonly Field[], input: Stream | undefined, shell: Shell): Stream {
  const secret = input?.secret ?? false;
  const decoder = DECODERS.get(name);
  const writer = decoder ?? TEXTS.get(name);
  if (NETWORK.has(name) || (name === 'openssl' && args[0]?.text === 's_client'))
    return unknownStream('network', secret);
  const origin = originOf(args, input, shell);
  const hides = decoder !== undefined && !ORDINARY.has(name);
  if (writer === undefined) return unknownStream(worseOrigin(origin, 'unknown'), secret);
  const text = args.every(({ blank }) => !blank) ? writer(args, input?.text, shell) : undefined;
  if (text === undefined || text.length > SHELL_SCREEN_BOUNDS.textCharactersMax || !shell.report.spend(text.length)) {
    return unknownStream(worseOrigin(origin, hides ? 'decoder' : 'unknown'), secret);
  }
  if (text === '' && origin === 'text') return EMPTY_STREAM;
  const certain = args.every((arg) => arg.certain) && (input === undefined || input.certain);
  return { ...knownStream(text, certain, hides ? worseOrigin(origin, 'decoder') : origin), secret };
}

function originOf(args: readonly Field[], input: Stream | undefined, shell: Shell): Origin {
  let origin: Origin = input?.origin ?? 'text';
  for (const arg of args) {
    origin = worseOrigin(origin, arg.origin);
    const file = shell.files.get(arg.text);
    if (file !== undefined) origin = worseOrigin(origin, file.origin);
  }
  return origin;
}

/** Text of the files that the script wrote itself, or of the input. */
function fileOr(args: readonly Field[], input: string | undefined, shell: Shell): string | undefined {
  const names = args.filter(({ text }) => !text.startsWith('-') || text === '-');
  if (names.length === 0) return input;
  let whole = '';
  for (const { text } of names) {
    const content = text === '-' || text === '/dev/stdin' ? input : shell.files.get(text)?.text;
    if (content === undefined) return undefined;
    whole += content;
  }
  return whole;
}

function decoded(
  args: readonly Field[],
  input: string | undefined,
  shell: Shell,
  decode: (text: string) => string | undefined,
  encode?: (text: string) => string,
): string | undefined {
  const isDecoding =
    readOptions(args).has('-d', '-D', '--decode', '--decrypt') || args.some(({ text }) => text === '-d');
  const names = args.filter(({ text }) => !/^(?:enc|base64|-a|-A)$/.test(text));
  const text = fileOr(names, input, shell);
  if (!isDecoding) return encode === undefined || text === undefined ? undefined : `${encode(text)}\n`;
  return through(text, decode);
}

function through(text: string | undefined, change: (text: string) => string | undefined): string | undefined {
  return text === undefined ? undefined : change(text);
}

function hasLetter(args: readonly Field[], letter: string): boolean {
  return args.some(({ text }) => /^-\w/.test(text) && text.includes(letter));
}

const backwards = (text: string): string => [...text].reverse().join('');
const line = (text: string | undefined): string | undefined => (text === undefined ? undefined : `${text}\n`);
