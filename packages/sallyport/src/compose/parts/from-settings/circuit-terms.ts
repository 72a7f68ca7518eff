import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CircuitBreakerConfig } from '../../../../api/schemas/tool-manifest.ts';
import { circuitConfigFaults } from '../../../domain/circuit/circuit-config.ts';
import { CIRCUIT_SETTINGS, type CircuitTerms } from '../../../domain/circuit/circuit-terms.ts';
import { rowsOf, valuesOf } from '../../../domain/settings/setting.ts';
import type { Settings } from '../../settings.ts';

/**
 * Terms of circuits whose tools set none, from the settings.
 * @throws ToolLayerError E3403 naming the key and its allowed values
 */
export function circuitTermsFrom(settings: Settings): CircuitTerms {
  const [fault] = circuitConfigFaults(configOf(settings));
  if (fault !== undefined)
    throw new ToolLayerError('E3403', `The setting circuits.${fault.key} ${fault.message}.`, {
      details: { setting: `circuits.${fault.key}` },
    });
  return valuesOf(CIRCUIT_SETTINGS, settings);
}

/** The settings as a manifest would have them: a key is that of the manifest after `circuits.`. */
const configOf = (settings: Settings): CircuitBreakerConfig =>
  Object.fromEntries(rowsOf(CIRCUIT_SETTINGS).map(({ key }) => [key.slice('circuits.'.length), settings[key]]));
