import { KiB } from '@sallyport/std/bytes';
import { literal } from '../field.ts';
import type { Judgement, Report } from '../report.ts';
import type { Shell } from '../shell.ts';
import { harmOfWrite, isWhole, placeOf } from './paths.ts';

/** Longest code that is looked through, in characters. */
const CODE_MAX = 64 * KiB;

const RUNS =
  /\b(?:system|popen\d?|exec\w*|spawn\w*|subprocess|check_output|check_call|call|run|shell_exec|passthru|proc_open|child_process|Process|Popen|execSync|spawnSync|os\.execute|io\.popen|getoutput|pty|fork|syscall|do shell script|Runtime)\b|`|%x|\bqx\b|\|\s*getline|\|\s*['"]/;
const SOCKETS =
  /\b(?:socket|fsockopen|TCPSocket|IO::Socket|create_connection|net\.(?:connect|Socket|createConnection)|createConnection|socketpair|Net::|inet\/tcp|socket_create|stream_socket_client)\b|\.Socket\b|require\s*\(\s*['"](?:node:)?(?:net|tls|dgram|socket)['"]|\/inet\/(?:tcp|udp)|\/dev\/tcp/;
const SHELL = /\/bin\/(?:ba|z|da|k)?sh|\bcmd\.exe\b|\bpowershell\b|['"](?:ba|z|da|k)?sh['"]|\bpty\.spawn\b|dup2/;
const DECODES =
  /b64decode|base64_decode|decode_base64|base64\.decode|a85decode|b32decode|unhexlify|fromhex|decode\(\s*['"](?:hex|base64|rot.?13)|['"](?:base64|hex)['"]|\batob\b|fromCharCode|\bpack\s*\(?\s*['"]H|decode64|unpack1?\(?\s*['"]m|gzinflate|str_rot13|zlib\.decompress|marshal\.loads|codecs\.decode|(?:\bchr\s*\(?\s*\d+\s*\)?\s*[.+]\s*){3}|(?:\\x[\da-f]{2}){4}|map\s*\(?\s*chr\b|String\.fromCodePoint/i;
const EVALUATES =
  /\b(?:exec|eval|compile|system|popen|spawn\w*|Function|vm\.run\w*|instance_eval|assert|load|loadstring|subprocess|execSync|__import__)\b|\brequire\s*\(\s*['"](?:node:)?child_process/;
const FETCHES =
  /\b(?:urlopen|urlretrieve|requests\.(?:get|post)|httpx\.|http\.(?:get|request)|https\.get|fetch\s*\(|LWP::|Net::HTTP|open-uri|URI\.open|file_get_contents\s*\(\s*['"]https?:|curl_exec|HTTP::Tiny|axios)/;
const FORK_BOMB =
  /\bfork\b[^;]{0,20}\bwhile\b[^;]{0,20}\bfork\b|while\s*(?:\(?\s*(?:1|true)\s*\)?|True)?\s*:?\s*\{?[^}]{0,40}\bfork\s*(?:\(\s*\))?|\bloop\s*\{[^}]{0,20}fork|\bfork\s+while\s+(?:1|true|fork)/i;
const REMOVES =
  /\b(?:rmtree|rm_rf|rm_r|remove_tree|remove_dir|rmSync|rmdirSync|rm|removedirs|deleteTree|FileUtils|unlink|unlinkSync|remove|delete_tree)\b/;
const WRITES =
  /open\s*\([^)]{0,200},\s*['"](?:w|a|r\+|>)|writeFile|appendFile|write_text|write_bytes|file_put_contents|File\.(?:write|open)|\bopen\b[^;]{0,100}['"]\s*>/;
const HARMLESS_STOP = /\b(?:os\.)?(?:kill)\s*\(\s*-1|\breboot\s*\(/;

const block = (rule: string, why: string): Judgement => ({ rule, why, verdict: 'blocked', severe: true });

/** Reports dangerous actions of code in any language, recognised by its calls and its texts. */
export function harmOfCode(code: string, shell: Shell, words: string, depth = 0): void {
  const { report } = shell;
  if (code.length > CODE_MAX) {
    report.exhaust('its code is too long', words);
    return;
  }
  if (SOCKETS.test(code) && SHELL.test(code))
    report.add(block('reverse-shell', 'its code gives a shell to a connection'), words);
  if (/\/inet\/(?:tcp|udp)/.test(code) && /\|&?\s*getline|system\s*\(/.test(code)) {
    report.add(block('reverse-shell', 'its code runs what a connection tells it'), words);
  }
  if (DECODES.test(code) && EVALUATES.test(code))
    report.add(block('decoded-script', 'its code runs what is hidden in another form'), words);
  if (FETCHES.test(code) && EVALUATES.test(code))
    report.add(block('remote-script', 'its code runs what it fetches'), words);
  if (FORK_BOMB.test(code)) report.add(block('fork-bomb', 'its code starts copies of itself without end'), words);
  if (HARMLESS_STOP.test(code)) report.add(block('stops-system', 'its code ends all programs'), words);
  const texts = textsIn(code);
  if (RUNS.test(code)) tryAsCommands(code, texts, shell);
  notePaths(code, texts, report, words);
  // `exec("…")`: code within code.
  if (depth < 2)
    for (const text of texts)
      if (text.length > 8 && /[(\s]/.test(text) && RUNS.test(text)) harmOfCode(text, shell, words, depth + 1);
}

function notePaths(code: string, texts: readonly string[], report: Report, words: string): void {
  const removes = REMOVES.test(code);
  const writes = WRITES.test(code);
  if (!removes && !writes) return;
  for (const text of texts) {
    if (!/^[/~.*]/.test(text)) continue;
    if (removes && isWhole(placeOf(text)))
      report.add(block('deletes-system', 'its code removes what must stay'), words);
    const harm = writes ? harmOfWrite(text) : undefined;
    if (harm !== undefined) report.add({ ...harm, verdict: 'blocked', severe: true }, words);
  }
}

/** Every text alone, and lists of texts as words of one command. */
function tryAsCommands(code: string, texts: readonly string[], shell: Shell): void {
  shell.conditional += 1;
  shell.report.suspect(() => {
    for (const text of texts) if (/\s|;|\|/.test(text) || text === 'reboot') shell.run.text(shell, text);
    for (const [list] of code.matchAll(/\[[^[\]]{2,400}\]|\((?:\s*(['"])[^'"]{0,100}\1\s*,){1,12}[^()]{0,100}\)/g)) {
      const words = textsIn(list);
      if (words.length < 2) continue;
      shell.run.command(shell, words.map(literal), ALONE);
      shell.run.text(shell, words.join(''));
    }
    for (const [, spawned = ''] of code.matchAll(/\b(?:spawn|exec|system)\s+([^\n;"'()]{4,2000})/g))
      shell.run.text(shell, spawned);
  });
  shell.conditional -= 1;
}

const ALONE = { input: undefined, assigned: [], redirects: [], piped: false, viaProgram: true } as const;

/** What begins a quoted text in Perl and Ruby, and what ends it. */
const COMMAND_QUOTE = /(?:%x|qx|%Q|\bqq?)\s*([({[/|!])/g;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };

/** All quoted texts of code; those joined by `+` or `.` are one, and characters by their number are texts. */
export function textsIn(code: string): string[] {
  const spelled = code.replace(/\bchr\s*\(\s*(\d{2,3})\s*\)/g, (_, number) =>
    JSON.stringify(String.fromCharCode(Number(number))),
  );
  const joined = spelled.replace(/'([^'"\\\n]{0,200})'/g, '"$1"').replace(/"\s*[+.]\s*"/g, '');
  const texts = quotedIn(joined).map((text) => text.replace(/\\n/g, '\n').replace(/\\(['"`\\])/g, '$1'));
  return [...texts, ...commandQuotedIn(joined)];
}

function commandQuotedIn(code: string): string[] {
  const texts: string[] = [];
  // By sign: a text may hold one of another sign, for `q / 2` is no quotation in most languages.
  const ends = new Map<string, number>();
  for (const { 0: found, 1: opening = '', index } of code.matchAll(COMMAND_QUOTE)) {
    const closing = CLOSING[opening] ?? opening;
    if (index < (ends.get(closing) ?? 0)) continue;
    const start = index + found.length;
    const end = code.indexOf(closing, start);
    if (end >= 0) texts.push(code.slice(start, end));
    ends.set(closing, end >= 0 ? end : code.length);
  }
  return texts;
}

/** What stands between two quotes of a kind; a quote after an odd number of backslashes closes nothing. Linear. */
function quotedIn(code: string): string[] {
  const texts: string[] = [];
  const closing = new Map(["'", '"', '`'].map((quote) => [quote, closersOf(code, quote)]));
  for (let at = 0; at < code.length; at += 1) {
    const closers = closing.get(code[at] as string);
    if (closers === undefined) continue;
    while ((closers.at(-1) ?? code.length) <= at) closers.pop();
    const end = closers.at(-1);
    if (end === undefined || end === at + 1) continue;
    texts.push(code.slice(at + 1, end));
    at = end;
  }
  return texts;
}

/** The places of quotes that may close a text, the first one last. */
function closersOf(code: string, quote: string): number[] {
  const places: number[] = [];
  for (let at = code.lastIndexOf(quote); at >= 0; at = at === 0 ? -1 : code.lastIndexOf(quote, at - 1)) {
    let before = at;
    while (code[before - 1] === '\\') before -= 1;
    if ((at - before) % 2 === 0) places.push(at);
  }
  return places;
}
