import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { valuesOf } from '../../../domain/settings/setting.ts';
import type { DoctorFinding } from '../../../doors/cli/cli-parts.ts';
import {
  CREDENTIAL_SETTINGS,
  type Credential,
  type CredentialEnding,
  endingsOf,
  readCredentials,
} from '../../../external/credentials.ts';
import type { Settings } from '../../settings.ts';

/**
 * What the operator says of credentials.
 * @throws ToolLayerError E3801 for a file with faults, and for a named one that is not there
 */
export async function credentialsOf(settings: Settings): Promise<readonly Credential[]> {
  const { file } = valuesOf(CREDENTIAL_SETTINGS, settings);
  if (file !== '' && !existsSync(file))
    throw new ToolLayerError('E3801', `secrets.credentials_file names ${file}, which is not there.`);
  return readCredentials(file || join(settings['data_folder'], 'credentials.toml'), settings['tenant.default']);
}

/** For `doctor`: the credentials that are near their end, ended, or due for rotation; nothing when none is described. */
export async function checkCredentials(settings: Settings, now: number): Promise<readonly DoctorFinding[]> {
  const name = 'credentials';
  try {
    const credentials = await credentialsOf(settings);
    const endings = endingsOf(credentials, now, valuesOf(CREDENTIAL_SETTINGS, settings).warnMs);
    if (credentials.length === 0) return [];
    if (endings.length > 0) return endings.map(findingOf);
    return [{ name, state: 'ok', message: `${credentials.length} described, none near its end` }];
  } catch (thrown) {
    return [{ name, state: 'failed', message: failureOf(thrown).message, hint: 'The layer does not start so.' }];
  }
}

const WORDS = { expires_soon: 'ends at', expired: 'ended at', rotation_due: 'was due for rotation at' } as const;

function findingOf({ credential, reason, at }: CredentialEnding): DoctorFinding {
  const { name, tenantId, type, rotationSchedule, serviceName } = credential;
  const service = serviceName === undefined ? '' : ` for ${serviceName}`;
  return {
    name: `credential ${name} of ${tenantId}`,
    state: 'warning',
    message: `${type}${service} ${WORDS[reason]} ${new Date(at).toISOString()} (rotation: ${rotationSchedule})`,
    hint: 'Replace its value, correct the file of credentials, and restart the layer.',
  };
}
