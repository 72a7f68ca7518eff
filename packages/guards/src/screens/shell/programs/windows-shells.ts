import { type Field, lineOf, literal, restOf, type Stream, unknownStream } from '../field.ts';
import type { Context, Shell } from '../shell.ts';

/** Shells of Windows, whose language is read only as far as it resembles that of others. */
export const WINDOWS_SHELLS: ReadonlySet<string> = new Set(['cmd', 'powershell', 'pwsh', 'powershell_ise']);

const FETCHES =
  /\b(?:DownloadString|DownloadFile|DownloadData|Invoke-WebRequest|Invoke-RestMethod|iwr|irm|curl|wget|Start-BitsTransfer|Net\.WebClient)\b/i;
const EVALUATES =
  /\b(?:IEX|Invoke-Expression|Invoke-Command|Start-Process|&\s*\(|\[ScriptBlock\]|ExecuteCommand)\b|\|\s*iex\b/i;
const DECODES = /FromBase64String|\[char\]\s*\d|-enc\w*\s+[A-Za-z0-9+/=]{16,}|-join\b|\.Replace\(|-bxor/i;

/** Follows `cmd /c text` and `powershell -Command text`. */
export function runWindowsShell(shell: Shell, name: string, args: readonly Field[], { input }: Context): Stream {
  const words = `${name} ${lineOf(args)}`;
  const encoded = encodedOf(args);
  const block = (rule: string, why: string): void =>
    shell.report.add({ rule, why, verdict: 'blocked', severe: true }, words.slice(0, 200));
  shell.report.add(
    { rule: 'windows-shell', why: 'it runs a script in a language that is not fully read', verdict: 'ask' },
    words.slice(0, 200),
  );
  if (encoded !== undefined) block('decoded-script', 'it runs a script that is hidden in another form');
  const script = encoded ?? scriptOf(name, args) ?? restOf(input);
  const text = script?.text ?? '';
  if (script?.origin === 'network') block('remote-script', 'it runs what it fetched');
  if (FETCHES.test(text) && EVALUATES.test(text)) block('remote-script', 'it runs what it fetches');
  if (DECODES.test(text) && EVALUATES.test(text)) block('decoded-script', 'it runs what is hidden in another form');
  if (text === '') return unknownStream();
  shell.conditional += 1;
  // `&` joins commands in both languages, and `^` and backticks hide letters.
  shell.run.text(
    shell,
    name === 'cmd'
      ? text.replaceAll('^', '').replaceAll('\\', '/')
      : text.replace(/`(?=\w)/g, '').replaceAll('\\', '/'),
  );
  shell.conditional -= 1;
  return unknownStream();
}

function scriptOf(name: string, args: readonly Field[]): Field | undefined {
  const option = name === 'cmd' ? /^\/[ckr]$/i : /^[-/](?:c|command)$/i;
  const at = args.findIndex(({ text }) => option.test(text));
  const rest = at >= 0 ? args.slice(at + 1) : name === 'cmd' ? [] : args.filter(({ text }) => !text.startsWith('-'));
  if (rest.length === 0) return undefined;
  return { ...(rest[0] as Field), text: rest.map(({ text }) => text).join(' ') };
}

/** `-EncodedCommand`, in any of its short forms, is UTF-16 in base64. */
function encodedOf(args: readonly Field[]): Field | undefined {
  const at = args.findIndex(({ text }) => /^[-/]e(?:c|n\w*)?$/i.test(text));
  const value = args[at + 1];
  if (at < 0 || value === undefined) return undefined;
  return literal(Buffer.from(value.text, 'base64').toString('utf16le'));
}
