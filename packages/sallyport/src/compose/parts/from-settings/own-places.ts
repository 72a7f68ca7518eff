import { resolve } from 'node:path';
import type { Settings } from '../../settings.ts';

/**
 * Absolute paths of what is the layer's own, there already or not: no sandbox and no file tool sees them, whatever was granted.
 * @param settings with an absolute data folder
 * @param settingsFile the file that was read, if one was
 * @param socketFolders where the embedded database and the operator's door are reached
 */
export function ownPlaces(
  settings: Settings,
  settingsFile: string | undefined,
  socketFolders: readonly string[],
): readonly string[] {
  const named = [
    settings['approvals.file'],
    settings['hooks.file'],
    settings['oauth.exchange_file'],
    settings['permission.policies_folder'],
    settings['sandbox.kubernetes_kubeconfig'],
    settings['sandbox.microvm_folder'],
    settings['shell.policy_file'],
    settings['shell.snapshot_folder'],
    settings['audit.anchor_file'],
    settings['tokens.public_key_file'],
    settingsFile ?? '',
    ...socketFolders,
  ];
  return [settings['data_folder'], ...named].filter((path) => path !== '').map((path) => resolve(path));
}
