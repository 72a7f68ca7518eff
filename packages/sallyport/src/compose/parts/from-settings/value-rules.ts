import { createSanitiser, patternsOf, type Redactor, type Sanitiser, scanOutputInTurns } from '@sallyport/guards';
import { valuesOf } from '../../../domain/settings/setting.ts';
import { VALUE_SETTINGS, type ValueRules } from '../../../pipeline/stages/values/value-rules.ts';
import { SANITISE_ACTIONS } from '../../settings/guards.ts';
import type { Settings } from '../../settings.ts';
import { redactorOf } from './redactor.ts';

/**
 * Rules for arguments and results besides their schemas, from the settings.
 * @throws ToolLayerError E3801 for an invalid pattern
 */
export function valueRulesOf(settings: Settings): ValueRules {
  const argumentSanitiser = sanitiserOf(settings, settings['sanitise.profile']);
  const resultSanitiser = sanitiserOf(settings, settings['sanitise.results_profile']);
  return {
    ...valuesOf(VALUE_SETTINGS, settings),
    judgeContent: settings['sanitise.content'] === 'judge',
    ...(argumentSanitiser === undefined ? {} : { argumentSanitiser }),
    ...(resultSanitiser === undefined ? {} : { resultSanitiser }),
    ...(settings['redact.results'].length === 0 ? {} : { resultRedactor: resultRedactorOf(settings) }),
    scanOutput: scanOutputInTurns,
  };
}

const resultRedactorOf = (settings: Settings): Redactor =>
  redactorOf({ 'redact.kinds': settings['redact.results'], 'redact.fields': settings['redact.fields'] });

function sanitiserOf(settings: Settings, profile: Settings['sanitise.profile']): Sanitiser | undefined {
  if (profile === 'off') return undefined;
  return createSanitiser({
    profile,
    actions: valuesOf(SANITISE_ACTIONS, settings),
    patterns: patternsOf(settings['sanitise.patterns']),
  });
}
