import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { FilesystemPermission } from '../../../api/schemas/tool-manifest.ts';
import type { HttpTransport, StdioTransport } from '../../../api/schemas/upstream.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import { isBaseSystem } from '../stdio/program.ts';
import { isInterpreter } from '../stdio/sandbox-spec.ts';

/** One converted entry of a desktop file. */
export type ReadEntry =
  | {
      readonly transport: StdioTransport | HttpTransport;
      readonly disabled: boolean;
      readonly notes: readonly string[];
    }
  | { readonly reason: string };

const STDIO_KEYS = new Set([
  'path',
  'source',
  'settings',
  'command',
  'args',
  'env',
  'cwd',
  'type',
  'transport',
  'disabled',
  'enabled',
]);
const HTTP_KEYS = new Set(['url', 'serverUrl', 'httpUrl', 'headers', 'type', 'transport', 'disabled', 'enabled']);
const OVER_HTTP = new Set(['http', 'sse', 'streamable-http', 'streamablehttp', 'streamable_http']);
/** Matches `${VAR}`, `${env:VAR}`, `${input:name}` and `${VAR:-default}`. */
const VARIABLE = /\$\{(?:(?:env|input):)?([A-Za-z_][A-Za-z0-9_.-]*)(?::-[^}]*)?\}/g;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Converts one entry; `reason` says why it cannot be converted. */
export function readEntry(entry: unknown): ReadEntry {
  if (!isObject(entry)) return { reason: 'The entry is no object.' };
  const type = String(entry['type'] ?? entry['transport'] ?? '').toLowerCase();
  if (type === 'ws' || type === 'websocket') return { reason: 'It uses WebSocket, which is no MCP transport.' };
  const disabled = entry['disabled'] === true || entry['enabled'] === false;
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'];
  const plain = withPlainCommand(entry);
  const read =
    typeof plain['command'] === 'string' && !OVER_HTTP.has(type) ? readStdio(plain) : readHttp(entry, url, type);
  return 'reason' in read ? read : { ...read, disabled };
}

/** Zed puts path, args and env into `command`; on Windows `cmd /c` starts scripts. */
function withPlainCommand(entry: Record<string, unknown>): Record<string, unknown> {
  const { command, args } = entry;
  if (isObject(command)) return { ...entry, ...command, command: command['path'], path: undefined };
  const isCmd = typeof command === 'string' && /^cmd(?:\.exe)?$/i.test(command) && Array.isArray(args);
  if (!isCmd || !/^\/c$/i.test(String(args[0]))) return entry;
  return { ...entry, command: args[1], args: args.slice(2) };
}

type ReadTransport =
  | { readonly transport: StdioTransport | HttpTransport; readonly notes: readonly string[] }
  | { readonly reason: string };

function readStdio(entry: Record<string, unknown>): ReadTransport {
  const { command, args = [], cwd, env } = entry;
  if (typeof command !== 'string' || command.trim() === '') return { reason: 'Its command is empty.' };
  if (!Array.isArray(args)) return { reason: 'Its args are no list.' };
  const badArg = args.findIndex((arg) => !isScalar(arg));
  if (badArg !== -1) return { reason: `Its args[${badArg}] is no text.` };
  if (cwd !== undefined && (typeof cwd !== 'string' || !isAbsolute(cwd))) {
    return { reason: 'Its cwd is no absolute path. Write it out from the root.' };
  }
  const filled = textValues(env, 'env');
  if ('reason' in filled) return filled;
  const texts = args.map(String);
  const { mounts, notes } = mountsOf(command.trim(), texts);
  return {
    transport: {
      type: 'stdio',
      command: command.trim(),
      ...(texts.length === 0 ? {} : { args: texts }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(Object.keys(filled.values).length === 0 ? {} : { env: filled.values }),
      ...(mounts.length === 0 ? {} : { mounts }),
    },
    notes: [...notes, ...unfilled([command, ...texts, cwd ?? '']), ...filled.notes, ...ignoredKeys(entry, STDIO_KEYS)],
  };
}

function readHttp(entry: Record<string, unknown>, url: unknown, type: string): ReadTransport {
  if (typeof url !== 'string') return { reason: 'It has neither a command nor a url.' };
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || PORTS[parsed.protocol] === undefined) {
    return { reason: 'Its url is no http or https address.' };
  }
  const filled = textValues(entry['headers'], 'headers');
  if ('reason' in filled) return filled;
  return {
    transport: {
      type: type === 'sse' ? 'sse' : 'http',
      url,
      ...(Object.keys(filled.values).length === 0 ? {} : { headers: filled.values }),
    },
    notes: [...unfilled([url]), ...filled.notes, ...ignoredKeys(entry, HTTP_KEYS)],
  };
}

/**
 * Mounts for the absolute paths among the arguments: the server is meant to work on them. Its script is visible with
 * its package anyway.
 */
function mountsOf(command: string, args: readonly string[]): { mounts: FilesystemPermission[]; notes: string[] } {
  const script = isInterpreter(command) ? args.findIndex((arg) => !arg.startsWith('-')) : -1;
  const paths = args
    .filter((_arg, at) => at !== script)
    .map((arg) => (arg.startsWith('-') ? arg.slice(arg.indexOf('=') + 1) : arg))
    .filter(isAbsolute);
  const notes: string[] = [];
  const mounts: FilesystemPermission[] = [];
  for (const path of new Set(paths)) {
    if (path === '/') notes.push('The whole disk (/) is not made visible; say --mount NAME=PATH for what it needs.');
    else if (!existsSync(path)) notes.push(`${path} does not exist here, so it is not visible to the server.`);
    else if (!isBaseSystem(path)) mounts.push({ path, mode: 'ro' });
  }
  return { mounts, notes };
}

function textValues(
  members: unknown,
  where: string,
): { values: Record<string, string>; notes: string[] } | { reason: string } {
  if (members === undefined || members === null) return { values: {}, notes: [] };
  if (!isObject(members)) return { reason: `Its ${where} is no object.` };
  const values: Record<string, string> = {};
  const names = new Set<string>();
  for (const [key, value] of Object.entries(members)) {
    if (!isScalar(value)) return { reason: `Its ${where}.${key} is no text.` };
    const text = isPlaceholder(key, String(value)) ? `{{${key}}}` : String(value);
    if (text !== String(value)) names.add(key);
    values[key] = text.replace(VARIABLE, (_, name: string) => {
      names.add(name);
      return `{{${name}}}`;
    });
  }
  const notes = [...names].map(
    (name) => `The variable ${name} in its ${where} is taken from the layer's secret ${name}.`,
  );
  return { values, notes };
}

const SENSITIVE_NAME = /key|token|secret|passw|auth|credential/i;
/**
 * `<your-token>`, `YOUR_API_KEY`, `xxxx`, `changeme`, `...`: placeholders that documents use for the reader's own
 * value.
 */
const PLACEHOLDER =
  /^(?:<[^<>]*>|\[[^[\]]*\]|[x*.]{3,}|your[-_ ].*|.*[-_ ]here|change[-_ ]?me|replace[-_ ]?me|insert[-_ ].*)$/i;

/** True for placeholders, which the user of the file must replace. */
const isPlaceholder = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) && (PLACEHOLDER.test(value.trim()) || (value.trim() === '' && SENSITIVE_NAME.test(name)));
/** Names that the secret store accepts. */
const SECRET_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/;

/** Variables in places where secrets are not allowed. */
function unfilled(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) => text.match(VARIABLE) ?? []);
  return [...new Set(found)].map((variable) => `${variable} is not replaced here; write its value in its place.`);
}

function ignoredKeys(entry: Record<string, unknown>, known: ReadonlySet<string>): string[] {
  const ignored = Object.keys(entry).filter((key) => !known.has(key));
  return ignored.length === 0 ? [] : [`Not taken over: ${ignored.map((key) => key.slice(0, 40)).join(', ')}.`];
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
