import { isIP } from 'node:net';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import { ComposioConfig } from './composio-config.ts';

const CONFIG = '/executor/config';

const matchesContract = wireCheck(ComposioConfig, 'E3008', CONFIG);

/**
 * Faults of `executor.config`: it must be complete, name the account, send the key over TLS, and use nothing that the
 * manifest does not declare.
 */
export function configFaults(manifest: ToolManifest): readonly Fault[] {
  const shape = matchesContract(manifest.executor.config ?? {});
  if (shape.length > 0) return shape;
  const config = manifest.executor.config as unknown as ComposioConfig;
  return [...addressFaults(config, manifest), ...secretFaults(config, manifest), ...accountFaults(config)];
}

function addressFaults({ base_url }: ComposioConfig, { permissions }: ToolManifest): Fault[] {
  const at = `${CONFIG}/base_url`;
  const url = URL.canParse(base_url) ? new URL(base_url) : undefined;
  if (url === undefined || /[\s\\{}?#]/.test(base_url) || url.username !== '' || url.password !== '') {
    return [fault(at, 'format', 'must be an address without credentials, query and fragment')];
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' && host !== 'localhost' && isIP(host) === 0) {
    return [fault(at, 'format', 'must be https: the API key is sent there')];
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (permissions?.network?.some((one) => one.port === port && one.host.toLowerCase() === host)) return [];
  const hint = `Add {"host": "${host}", "port": ${port}} to permissions.network.`;
  return [{ ...fault(at, 'permissions', 'leads to an address that permissions.network does not name'), hint }];
}

function secretFaults({ secret }: ComposioConfig, { permissions }: ToolManifest): Fault[] {
  if (permissions?.credentials?.includes(secret) === true) return [];
  const hint = `Add "${secret}" to permissions.credentials.`;
  return [
    { ...fault(`${CONFIG}/secret`, 'permissions', 'is a secret that permissions.credentials does not name'), hint },
  ];
}

function accountFaults({ connected_account_id, user_id, user_from, no_auth }: ComposioConfig): Fault[] {
  if (user_id !== undefined && user_from !== undefined) {
    return [fault(`${CONFIG}/user_from`, 'account', 'cannot stand beside user_id: there is one user')];
  }
  const isNamed = connected_account_id !== undefined || user_id !== undefined || user_from !== undefined;
  if (isNamed || no_auth === true) return [];
  return [fault(CONFIG, 'account', 'must say whose account is used: connected_account_id, user_id or user_from')];
}

const fault = (path: string, keyword: string, message: string): Fault => ({ path, code: 'E3008', keyword, message });
