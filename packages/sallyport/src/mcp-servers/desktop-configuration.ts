import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../api/schemas/upstream.ts';
import { isObject } from '../domain/shape/is-object.ts';
import { readEntry } from './desktop/server-entry.ts';
import { parseTolerantJson } from './desktop/tolerant-json.ts';

/** Largest file that is read, in characters, and its most servers. */
const TEXT_CHARS_MAX = 1 * MiB;
const SERVERS_MAX = 256;
const NAME_CHARS_MAX = 40;
const REFUSED_NAME_CHARS_MAX = 100;

/** A desktop client's file, converted to our definitions. */
export interface DesktopConfiguration {
  readonly upstreams: readonly UpstreamDefinition[];
  /** Entries that cannot be converted, by their name in the file. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
  /** Remarks for people: renamed servers, read-only folders, variables. */
  readonly notes: readonly string[];
}

/**
 * Reads the `mcpServers` JSON of desktop clients (Claude Desktop, Cursor, Windsurf; `servers` of VS Code,
 * `context_servers` of Zed), with comments, trailing commas and a byte order mark (REG-14). A faulty entry does not
 * affect the others. Absolute paths among the arguments that exist become read-only mounts.
 * @param source name of the file, for messages; "The configuration" when absent
 * @throws E3801 for text that is no such file, with line and column where it is broken; E3810 when it is too large
 */
export function readDesktopConfiguration(text: string, source = 'The configuration'): DesktopConfiguration {
  if (text.length > TEXT_CHARS_MAX) throw tooLarge(`${source} is larger than ${TEXT_CHARS_MAX / MiB} MiB.`);
  const entries = Object.entries(serversOf(parseTolerantJson(text, source), source));
  if (entries.length > SERVERS_MAX) throw tooLarge(`${source} names more than ${SERVERS_MAX} servers.`);

  const upstreams: UpstreamDefinition[] = [];
  const refused: { name: string; reason: string }[] = [];
  const notes: string[] = [];
  const taken = new Set<string>();
  for (const [givenName, entry] of entries) {
    const read = readEntry(entry);
    if ('reason' in read) {
      refused.push({ name: givenName.slice(0, REFUSED_NAME_CHARS_MAX), reason: read.reason });
      continue;
    }
    const name = freeName(givenName, taken);
    if (name !== givenName)
      notes.push(`${name}: it is called '${givenName.slice(0, REFUSED_NAME_CHARS_MAX)}' in the file.`);
    notes.push(...read.notes.map((note) => `${name}: ${note}`));
    upstreams.push({ name, transport: read.transport, ...(read.disabled ? { disabled: true } : {}) });
  }
  return { upstreams, refused, notes };
}

/** The object whose members are the servers, at any of the places that clients use. */
function serversOf(file: unknown, source: string): Record<string, unknown> {
  if (!isObject(file)) throw notSuchFile(source, 'it holds no object');
  const inSettings = isObject(file['mcp']) ? file['mcp'] : {};
  const places = [
    file['mcpServers'],
    file['servers'],
    file['context_servers'],
    inSettings['mcpServers'],
    inSettings['servers'],
  ];
  for (const servers of places) {
    if (isObject(servers)) return servers;
    if (servers !== undefined) throw notSuchFile(source, 'its servers are no object');
  }
  // People often paste the inner object alone.
  const members = Object.values(file);
  if (members.length > 0 && members.every((member) => isObject(member) && ('command' in member || 'url' in member))) {
    return file;
  }
  throw notSuchFile(source, 'it has no member mcpServers (or servers)');
}

/** A valid name for our definition that no other server of the file has. */
function freeName(given: string, taken: Set<string>): string {
  const plain = given
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, NAME_CHARS_MAX);
  const base = plain.replace(/-+$/, '') || 'server';
  let name = /^[A-Za-z0-9-]{1,40}$/.test(given) && given === plain ? given : base;
  for (let number = 2; taken.has(name); number += 1) {
    const suffix = `-${number}`;
    name = `${base.slice(0, NAME_CHARS_MAX - suffix.length)}${suffix}`;
  }
  taken.add(name);
  return name;
}

function notSuchFile(source: string, why: string): ToolLayerError {
  return new ToolLayerError(
    'E3801',
    `${source} is not the file of a desktop client: ${why}. Expected {"mcpServers": {"NAME": {"command": …}}}.`,
  );
}

function tooLarge(message: string): ToolLayerError {
  return new ToolLayerError('E3810', message);
}
