import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { stringify as tomlOf } from 'smol-toml';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import { usageError } from '../../input/usage-error.ts';
import { type GrantOptions, requestOf, withGrantOptions } from '../token/grant-options.ts';
import { CLIENTS, type ClientForm } from './clients.ts';
import { type ConfigFile, readConfigFile, removeFile, replaceFile } from './config-file.ts';
import { entryIn, withEntry, withoutEntry } from './edit-config.ts';

/** Default lifetime of a client's token, in days; the longest possible is a year. */
const TOKEN_DAYS = 30;
const DAY_SECONDS = 24 * 3600;
const TOKEN_SECONDS_MAX = 365 * DAY_SECONDS;

interface ConnectOptions extends Omit<GrantOptions, 'expires'> {
  readonly http?: true | string;
  readonly name: string;
  readonly file?: string;
  readonly write?: boolean;
  readonly undo?: boolean;
  readonly expires: number | 'never';
}

/** The client, file and entry that one run of `connect` works on. */
interface Target {
  readonly client: string;
  readonly form: ClientForm;
  readonly name: string;
  readonly file: ConfigFile;
}

/** A token or API key for one client, with a sentence for people about its lifetime and rights. */
interface Credential {
  readonly secret: string;
  readonly about: string;
}

/**
 * `connect CLIENT`: prints the entry for this layer in the client's own format, writes it into the client's file, or
 * removes it again.
 */
export function addConnectCommand(program: Command, kit: CommandKit): void {
  const connect = withGrantOptions(
    program
      .command('connect')
      .description("print this layer in an MCP client's own form, or write it into the client's file")
      .addArgument(new Argument('<client>', 'the MCP client').choices(Object.keys(CLIENTS))),
  )
    .option(
      '--http [url]',
      'connect over HTTP instead of starting a program; at this address, else at that of the running layer',
    )
    .option('--name <name>', 'name of the server at the client', 'sallyport')
    .option('--file <path>', "file of the client's settings, instead of the one that it documents")
    .option('--write', 'write it into that file; what else is in it stays')
    .option('--undo', 'take it out of that file again, and revoke its token')
    .option(
      '--expires <duration>',
      'how long its token is good, 30d when absent; more than 365d, or never, makes an API key',
      (text) => (text === 'never' ? text : lasting(text)),
      TOKEN_DAYS * DAY_SECONDS,
    );
  kit.adding<ConnectOptions>(
    connect,
    async (work, [client], options) => {
      const target = await targetOf(String(client), options, work);
      return options.undo === true ? undo(work, target) : put(work, target, options);
    },
    ({ undo: isUndo }) => (isUndo === true ? 'borrow' : 'refuse'),
  );
}

function lasting(text: string): number {
  const value = Math.round(seconds(text));
  if (value < 1) throw new InvalidArgumentError('Write a duration above zero, such as 30d, or never.');
  return value;
}

async function targetOf(client: string, options: ConnectOptions, { parts }: CommandWork): Promise<Target> {
  const form = CLIENTS[client];
  if (form === undefined) throw usageError(`There is no client ${client}.`);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(options.name))
    throw usageError('A name consists of letters, digits, - and _, 64 at most.');
  if (options.write === true && options.undo === true) throw usageError('Choose one of --write and --undo.');
  const { env, cwd } = parts.io;
  const places = { platform: process.platform, home: env['HOME'] ?? homedir(), env };
  const named = options.file === undefined ? form.file(places) : resolve(cwd, options.file);
  return { client, form, name: options.name, file: await readConfigFile(named) };
}

async function put(work: CommandWork, target: Target, options: ConnectOptions): Promise<number> {
  const { print } = work;
  const { client, form, name, file } = target;
  const place = { ...form, name };
  const before = file.text ?? '';
  const earlier = options.write === true ? entryIn(before, place) : undefined;
  if (earlier !== undefined && credentialOf(earlier) === undefined)
    throw usageError(`${file.path} has another server named ${name}. Choose another name with --name.`);
  const address = options.http === undefined ? undefined : httpAddress(work, target, options.http);
  const { secret, about } = await credentialFor(work, client, options);
  const entry =
    address === undefined
      ? form.stdio(stdioOf(work, secret))
      : form.http?.({ url: address, headers: { Authorization: `Bearer ${secret}` } });
  if (entry === undefined) throw usageError(`${form.title} takes no addresses in its file: leave --http out.`);
  if (options.write !== true) {
    const whole = { [form.table]: { [name]: entry } };
    if (print.json) print.value({ client, file: file.path, config: whole });
    else print.text(form.format === 'json' ? JSON.stringify(whole, null, 2) : tomlOf(whole));
    print.note(`For ${file.path} of ${form.title}; --write puts it there. ${about}`);
    return EXIT.ok;
  }
  if (file.text !== undefined && earlier === undefined) await replaceFile(file.backup, file.text);
  const { isReadByOthers } = await replaceFile(file.path, withEntry(before, place, entry));
  if (earlier !== undefined) await revoke(work, credentialOf(earlier));
  if (print.json) print.value({ client, file: file.path, written: true });
  else print.line(`${form.title} has ${name} in ${file.path}; start it anew. ${about}`);
  if (isReadByOthers) print.note(`Other users may read ${file.path}, and the token in it: chmod 600 closes it.`);
  return EXIT.ok;
}

async function undo(work: CommandWork, { client, form, name, file }: Target): Promise<number> {
  const { print } = work;
  const place = { ...form, name };
  const entry = file.text === undefined ? undefined : entryIn(file.text, place);
  const secret = entry === undefined ? undefined : credentialOf(entry);
  if (file.text === undefined || secret === undefined) {
    throw usageError(`${file.path} has no server ${name} that sallyport connect put there.`);
  }
  const { text: backup } = await readConfigFile(file.backup);
  // True when nothing but our entry changed since the backup: the file can then be restored to the byte.
  const isOnlyOurs = entry !== undefined && withEntry(backup ?? '', place, entry as object) === file.text;
  if (isOnlyOurs && backup === undefined) await removeFile(file.path);
  else await replaceFile(file.path, isOnlyOurs && backup !== undefined ? backup : withoutEntry(file.text, place));
  await removeFile(file.backup);
  const isRevoked = await revoke(work, secret);
  if (print.json) print.value({ client, file: file.path, removed: true, revoked: isRevoked });
  else print.line(`${form.title} has ${name} no longer in ${file.path}.`);
  if (!isRevoked)
    print.note('Its token was not revoked: the layer of this data folder did not sign it, or it has ended.');
  return EXIT.ok;
}

/**
 * Entry with which the client starts this same program, wherever it is installed, with the layer's data folder and
 * settings.
 */
function stdioOf({ parts, dataFolder }: CommandWork, secret: string) {
  const [command = '', ...args] = parts.program;
  const { SALLYPORT_CONFIG: config } = parts.io.env;
  const env = {
    SALLYPORT_TOKEN: secret,
    ...(config === undefined ? {} : { SALLYPORT_CONFIG: resolve(parts.io.cwd, config) }),
  };
  return { command, args: [...args, 'mcp', '--data-folder', dataFolder], env };
}

function httpAddress({ url }: CommandWork, { form }: Target, given: true | string): string {
  if (form.http === undefined) throw usageError(`${form.title} takes no addresses in its file: leave --http out.`);
  if (given === true) {
    if (url === undefined)
      throw usageError('No layer serves this data folder. Start one (sallyport serve), or write --http ADDRESS.');
    return `${url}/mcp`;
  }
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) throw usageError('An address is http(s)://…');
  return given;
}

/**
 * A credential for the client. Without limits of its own it can reach everything that the tools' manifests and the
 * agents' settings allow.
 */
async function credentialFor(work: CommandWork, client: string, options: ConnectOptions): Promise<Credential> {
  const { layer, caller, parts } = work;
  const { expires, ...grants } = options;
  const wide = options.host === undefined && options.port === undefined ? { hosts: ['*'], ports: [0] } : {};
  const request = { agent_did: `did:sallyport:${client}`, ...wide, ...requestOf(grants, parts.io.cwd) };
  const what = `${request.tool_id ?? 'every tool'} that ${request.agent_did} may see`;
  if (expires !== 'never' && expires <= TOKEN_SECONDS_MAX) {
    const minted = await layer.ask('tokens.mint', { ...request, expires_in_seconds: expires }, caller);
    const until = new Date(minted.claims.exp * 1000).toISOString();
    return { secret: minted.capability_token, about: `Its token is good until ${until}, for ${what}.` };
  }
  const lives = expires === 'never' ? {} : { expires_in_seconds: expires };
  const made = await layer.ask('api-keys.create', { ...request, ...lives, name: `connect ${client}` }, caller);
  const until = made.key.expires_at === undefined ? 'until it is revoked' : `until ${made.key.expires_at}`;
  const about = `Its API key ${made.key.key_id} is good ${until} (sallyport api-keys revoke), for ${what}.`;
  return { secret: made.api_key, about };
}

/** The token of an entry that this command wrote; undefined for entries written by others. */
function credentialOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { env, headers, http_headers } = entry as Record<string, Record<string, unknown> | undefined>;
  const header = (headers ?? http_headers)?.['Authorization'];
  const bearer = typeof header === 'string' ? /^Bearer (\S+)$/.exec(header)?.[1] : undefined;
  const token = env?.['SALLYPORT_TOKEN'] ?? bearer;
  return typeof token === 'string' ? token : undefined;
}

async function revoke({ layer, caller, print }: CommandWork, token: string | undefined): Promise<boolean> {
  if (token === undefined) return false;
  try {
    await layer.ask('tokens.revoke', { token, reason: 'taken out by sallyport connect' }, caller);
    return true;
  } catch (thrown) {
    print.note(failureOf(thrown).message);
    return false;
  }
}
