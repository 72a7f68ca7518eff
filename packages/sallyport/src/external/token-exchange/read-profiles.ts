import { readSmallText } from '@sallyport/std/files/read-small-text';
import { isLoopback } from '@sallyport/std/web/loopback';
import { Type } from 'typebox';
import { type FileFault, fileFault, parseTomlAs } from '../../domain/settings/toml-file.ts';
import { type ExchangeProfile, ExchangeTable } from './profile.ts';

/**
 * Reads a file of exchanges: one table each, named like the secret that tools ask for.
 * @throws ToolLayerError E3801 naming the file and every fault in it
 */
export async function readProfiles(path: string): Promise<readonly ExchangeProfile[]> {
  const fault = fileFault('file of token exchanges', path);
  const text = await readSmallText(path, fault);
  if (text === undefined) throw fault('does not exist');
  const tables = parseTomlAs(text, Type.Record(Type.String(), ExchangeTable), fault);
  return Object.entries(tables).map(([name, table]) => profileOf(name, table, fault));
}

function profileOf(name: string, table: ExchangeTable, faulty: FileFault): ExchangeProfile {
  const { endpoint, client_id, client_secret, audience, resource, scope, subject_token_type } = table;
  const fault = endpointFault(endpoint);
  if (fault !== undefined) throw faulty(`has faults: /${name}/endpoint ${fault}`);
  if (client_secret !== undefined && client_id === undefined)
    throw faulty(`has faults: /${name} has a client_secret but no client_id`);
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
