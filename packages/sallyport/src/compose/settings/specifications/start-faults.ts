import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { valuesOf } from '../../../domain/settings/setting.ts';
import type { MigrationNote } from '../../../doors/cli/cli-parts.ts';
import { RETRY_SETTINGS, retryRulesOf } from '../../../pipeline/stages/attempts/retry-rules.ts';
import { circuitTermsFrom } from '../../parts/from-settings/circuit-terms.ts';
import { algorithmsOf } from '../../parts/from-settings/token-trust.ts';
import { valueRulesOf } from '../../parts/from-settings/value-rules.ts';
import { exitCodesOf } from '../../parts/open-shell.ts';
import { SETTINGS, type Settings } from '../../settings.ts';

/** What a start checks of settings beside their types, each with the setting that a fault is most likely about. */
const CHECKS: readonly (readonly [about: keyof Settings, check: (settings: Settings) => unknown])[] = [
  ['sanitise.patterns', valueRulesOf],
  ['circuits.failure_rate_threshold', circuitTermsFrom],
  ['shell.auto_rollback_exit_codes', exitCodesOf],
  ['retry.retryable_status_codes', (settings) => retryRulesOf(valuesOf(RETRY_SETTINGS, settings))],
  ['tokens.algorithms', (settings) => algorithmsOf(settings, 'tokens.algorithms')],
];

/**
 * Why a layer would refuse to start with these settings.
 * @param origins where each setting comes from, named in the fault
 */
export function startFaults(settings: Partial<Settings>, origins: ReadonlyMap<string, string>): readonly string[] {
  const all = { ...Object.fromEntries(SETTINGS.map((row) => [row.key, row.default])), ...settings } as Settings;
  return CHECKS.flatMap(([about, check]) => {
    try {
      check(all);
      return [];
    } catch (thrown) {
      const { message } = failureOf(thrown);
      const [, named = origins.get(about)] = [...origins].find(([setting]) => message.includes(setting)) ?? [];
      return [`${named ?? about}: ${message.replace(/\.$/, '')}`];
    }
  });
}

/** What the operator has to add, where no key of the specifications says it. */
export function neededToo(settings: Partial<Settings>): readonly MigrationNote[] {
  const needed = ['model.url', 'model.name', ...(settings['gate.policies']?.length ? [] : ['gate.policies'])];
  const gate = `the layer does not start before you set ${needed.join(' and ')} too`;
  const issuers = 'name the issuer (iss) of its tokens in tokens.issuers too; they are refused otherwise';
  return [
    ...(settings['gate.enabled'] === true ? [{ key: 'gate.enabled', why: gate }] : []),
    ...(settings['tokens.public_key_file'] ? [{ key: 'tokens.public_key_file', why: issuers }] : []),
  ];
}
