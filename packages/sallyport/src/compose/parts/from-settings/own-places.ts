import { resolve } from 'node:path';
import type { Settings } from '../../settings.ts';

/**
 * Absolute paths of the layer's own files, existing or not: hidden from every sandbox and file tool, whatever was
 * granted.
 * @param settings with an absolute data folder
 * @param settingsFile the file that was read, if any
 * @param socketFolders folders of the sockets of the embedded database and the operator's door
 */
export function ownPlaces(
  settings: Settings,
  settingsFile: string | undefined,
  socketFolders: readonly string[],
): readonly string[] {
  const named = [
    settings['approvals.file'],
    settings['calls.output_filters_file'],
    settings['hooks.file'],
    settings['object_store.folder'],
    settings['oauth.exchange_file'],
    settings['oauth.introspection_secret_file'],
    settings['permission.policies_folder'],
    settings['sandbox.kubernetes_kubeconfig'],
    settings['sandbox.microvm_folder'],
    settings['secrets.credentials_file'],
    settings['secrets.key_file'],
    settings['shell.policy_file'],
    settings['shell.snapshot_folder'],
    settings['audit.anchor_file'],
    settings['tokens.public_key_file'],
    settingsFile ?? '',
    ...socketFolders,
  ];
  return [settings['data_folder'], ...named].filter((path) => path !== '').map((path) => resolve(path));
}
