import { days, text } from '../domain/settings/rows.ts';
import type { Credential } from './credentials/credential.ts';

export type { Credential } from './credentials/credential.ts';
export { readCredentials } from './credentials/read-credentials.ts';

/** Settings of what is known about credentials. */
export const CREDENTIAL_SETTINGS = {
  file: text('secrets.credentials_file', {
    default: '',
    sentence:
      'TOML file that says of credentials, whose values are elsewhere, which type they have, when they end and how often they are rotated; credentials.toml in the data folder when empty.',
  }),
  warnMs: days('secrets.warn_days', {
    minimum: 0,
    default: 7,
    sentence: 'How long before its end a credential is named by sallyport doctor, in an event and in the log.',
  }),
};

/** Why a credential needs attention, and the time (epoch ms) at which it ends or was due. */
export interface CredentialEnding {
  readonly credential: Credential;
  readonly reason: 'expires_soon' | 'expired' | 'rotation_due';
  readonly at: number;
}

const DAY_MS = 86_400_000;
const PERIOD_MS = { daily: DAY_MS, weekly: 7 * DAY_MS, on_demand: Number.POSITIVE_INFINITY } as const;

/**
 * The credentials that need attention now, for each at most one end and one rotation.
 * @param warnMs how long before its end a credential counts as near it
 */
export function endingsOf(credentials: readonly Credential[], now: number, warnMs: number): CredentialEnding[] {
  return credentials.flatMap((credential) => [...endOf(credential, now, warnMs), ...rotationOf(credential, now)]);
}

function endOf(credential: Credential, now: number, warnMs: number): CredentialEnding[] {
  const { expiresAt: at } = credential;
  if (at === undefined || at - now > warnMs) return [];
  return [{ credential, reason: at <= now ? 'expired' : 'expires_soon', at }];
}

function rotationOf(credential: Credential, now: number): CredentialEnding[] {
  const at = (credential.rotatedAt ?? now) + PERIOD_MS[credential.rotationSchedule];
  return at <= now ? [{ credential, reason: 'rotation_due', at }] : [];
}
