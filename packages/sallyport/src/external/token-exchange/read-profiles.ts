import { readFile } from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isLoopback } from '@sallyport/std/web/loopback';
import { parse } from 'smol-toml';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ExchangeProfile, ExchangeTable } from './profile.ts';

/** Characters of a file. */
const TEXT_MAX = 256 * KiB;

/**
 * Reads a file of exchanges: one table each, named like the secret that tools ask for.
 * @throws ToolLayerError E3801 naming the file and every fault in it
 */
export async function readProfiles(path: string): Promise<readonly ExchangeProfile[]> {
  let values: unknown;
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > TEXT_MAX) throw new Error(`it has more than ${TEXT_MAX} characters`);
    values = parse(text);
  } catch (cause) {
    throw faulty(path, `cannot be read: ${String(cause).split('\n')[0] ?? ''}`, cause);
  }
  const schema = Compile(Type.Record(Type.String(), ExchangeTable));
  const faults = schema.Errors(values).map(({ instancePath, message }) => `${instancePath} ${message}`);
  if (faults.length > 0) throw faulty(path, `has faults: ${faults.slice(0, 5).join('; ')}`);
  return Object.entries(values as Readonly<Record<string, ExchangeTable>>).map(([name, table]) =>
    profileOf(name, table, path),
  );
}

function profileOf(name: string, table: ExchangeTable, path: string): ExchangeProfile {
  const { endpoint, client_id, client_secret, audience, resource, scope, subject_token_type } = table;
  const fault = endpointFault(endpoint);
  if (fault !== undefined) throw faulty(path, `has faults: /${name}/endpoint ${fault}`);
  if (client_secret !== undefined && client_id === undefined)
    throw faulty(path, `has faults: /${name} has a client_secret but no client_id`);
  return {
    name,
    endpoint,
    ...(client_id === undefined ? {} : { clientId: client_id }),
    ...(client_secret === undefined ? {} : { clientSecret: client_secret }),
    ...(audience === undefined ? {} : { audience }),
    ...(resource === undefined ? {} : { resource }),
    ...(scope === undefined ? {} : { scope }),
    ...(subject_token_type === undefined ? {} : { subjectTokenType: subject_token_type }),
  };
}

/** Tokens are sent there, so the connection must be private. */
function endpointFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no URL';
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '') return 'must not hold a password or a fragment';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined;
  return 'must begin with https://; http:// only on this machine';
}

const faulty = (path: string, what: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3801', `The file of token exchanges ${path} ${what}.`, { cause });
