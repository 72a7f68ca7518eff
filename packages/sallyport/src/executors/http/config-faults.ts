import { isIP } from 'node:net';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { HttpOperation, type HttpParameter } from '../../registry/http-operation.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import { isHeaderValue } from './request/credentials.ts';

const CONFIG = '/executor/config';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Header fields that this executor sets itself, or that belong to the connection (RFC 9110 §7.6.1). */
const NOT_FREE: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const matchesContract = wireCheck(HttpOperation, 'E3008', CONFIG);

/**
 * Faults of the operation in `executor.config`: it must be complete, and use nothing that the manifest does not
 * declare.
 */
export function configFaults(manifest: ToolManifest): readonly Fault[] {
  const shape = matchesContract(manifest.executor.config ?? {});
  if (shape.length > 0) return shape;
  const operation = manifest.executor.config as unknown as HttpOperation;
  return [
    ...methodFaults(operation),
    ...addressFaults(operation, manifest),
    ...pathFaults(operation),
    ...headerFaults(operation),
    ...authFaults(operation, manifest),
  ];
}

/** TRACE returns credentials in its answer (RFC 9110 §9.3.8). */
function methodFaults({ method, not_callable }: HttpOperation): Fault[] {
  if (method !== 'TRACE' || not_callable !== undefined) return [];
  return [fault(`${CONFIG}/method`, 'method', 'is never sent; such an operation is kept with not_callable only')];
}

function addressFaults({ base_url }: HttpOperation, { permissions }: ToolManifest): Fault[] {
  const at = `${CONFIG}/base_url`;
  const url = URL.canParse(base_url) ? new URL(base_url) : undefined;
  if (url === undefined || /[\s\\{}?#]/.test(base_url) || url.username !== '' || url.password !== '') {
    return [fault(at, 'format', 'must be an address without credentials, query, fragment and variables')];
  }
  return unnamedFaults(at, url, permissions);
}

function unnamedFaults(at: string, url: URL, permissions: ToolManifest['permissions']): Fault[] {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const host = bare(url.hostname);
  if (permissions?.network?.some((one) => one.port === port && bare(one.host.toLowerCase()) === host)) return [];
  const hint = `Add {"host": "${host}", "port": ${port}} to permissions.network.`;
  return [{ ...fault(at, 'permissions', 'leads to an address that permissions.network does not name'), hint }];
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

/**
 * A token server receives the client's secret, so plain HTTP is limited to this machine and to addresses that the
 * manifest names.
 */
function tokenUrlFaults(at: string, text: string, permissions: ToolManifest['permissions']): Fault[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || /[\s\\{}#]/.test(text) || url.username !== '' || url.password !== '') {
    return [fault(at, 'format', 'must be an address without credentials, fragment and variables')];
  }
  const host = bare(url.hostname);
  if (url.protocol !== 'https:' && host !== 'localhost' && isIP(host) === 0) {
    return [fault(at, 'format', 'must be https: the secret of the client is sent there')];
  }
  return unnamedFaults(at, url, permissions);
}

function pathFaults({ path, parameters = [] }: HttpOperation): Fault[] {
  const at = `${CONFIG}/path`;
  const isDotted = path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  if (isDotted || /[\s\\?#]/.test(path)) {
    return [fault(at, 'format', 'must hold no white space, backslash, query, fragment, and no . or .. segment')];
  }
  const named = new Set([...path.matchAll(/\{([^{}/]+)\}/g)].map(([, name]) => name));
  const declared = new Set(parameters.filter((one) => one.in === 'path').map(({ name }) => name));
  return [
    ...[...named.difference(declared)].map((name) => ({
      ...fault(at, 'path', `names {${name}}, which no parameter fills`),
      hint: `Add ${JSON.stringify(parameterOf(name ?? ''))} to executor.config.parameters.`,
    })),
    ...[...declared.difference(named)].map((name) => fault(at, 'path', `has no place for the path parameter ${name}`)),
  ];
}

const parameterOf = (name: string): HttpParameter => ({
  property: name,
  name,
  in: 'path',
  style: 'simple',
  explode: false,
});

function headerFaults({ headers = {}, parameters = [], accept = '' }: HttpOperation): Fault[] {
  const given = parameters.flatMap(({ in: place, name }, index) =>
    place === 'header' ? nameFaults(`${CONFIG}/parameters/${index}/name`, name) : [],
  );
  const fixed = Object.entries(headers).flatMap(([name, value]) => [
    ...nameFaults(`${CONFIG}/headers`, name),
    ...(isHeaderValue(value) ? [] : [fault(`${CONFIG}/headers`, 'format', 'must hold no control characters')]),
  ]);
  const accepted = isHeaderValue(accept)
    ? []
    : [fault(`${CONFIG}/accept`, 'format', 'must hold no control characters')];
  return [...given, ...fixed, ...accepted];
}

function nameFaults(at: string, name: string): Fault[] {
  if (!TOKEN.test(name)) return [fault(at, 'format', 'must be the name of a header field')];
  return NOT_FREE.has(name.toLowerCase()) ? [fault(at, 'header', `${name} is written by the executor itself`)] : [];
}

function authFaults({ auth = [] }: HttpOperation, { permissions }: ToolManifest): Fault[] {
  return auth.flatMap((credential, index) => {
    const at = `${CONFIG}/auth/${index}`;
    const faults: Fault[] = [];
    if (permissions?.credentials?.includes(credential.secret) !== true) {
      const hint = `Add "${credential.secret}" to permissions.credentials.`;
      faults.push({
        ...fault(`${at}/secret`, 'permissions', 'is a secret that permissions.credentials does not name'),
        hint,
      });
    }
    if (credential.type === 'oauth2_client_credentials') {
      faults.push(...tokenUrlFaults(`${at}/token_url`, credential.token_url, permissions));
    }
    if (credential.type === 'api_key' && credential.in !== 'query' && !TOKEN.test(credential.name)) {
      faults.push(fault(`${at}/name`, 'format', 'must be the name of a header field or cookie'));
    }
    return faults;
  });
}

const fault = (path: string, keyword: string, message: string): Fault => ({ path, code: 'E3008', keyword, message });
