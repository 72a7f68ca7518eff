import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { circuitConfigFaults, circuitTermsOf } from '../../../domain/circuit/circuit-config.ts';
import type { CircuitTerms } from '../../../domain/circuit/circuit-terms.ts';
import type { Settings } from '../../settings.ts';

/**
 * Terms of circuits whose tools set none, from the settings.
 * @throws ToolLayerError E3403 naming the key and its allowed values
 */
export function circuitTermsFrom(settings: Settings): CircuitTerms {
  const config = {
    failure_rate_threshold: settings['circuits.failure_rate_threshold'],
    slow_call_rate_threshold: settings['circuits.slow_call_rate_threshold'],
    slow_call_duration_threshold_ms: settings['circuits.slow_call_duration_threshold_ms'],
    sliding_window_type: settings['circuits.sliding_window_type'],
    sliding_window_size: settings['circuits.sliding_window_size'],
    minimum_number_of_calls: settings['circuits.minimum_number_of_calls'],
    wait_duration_in_open_state_seconds: settings['circuits.wait_duration_in_open_state_seconds'],
    permitted_number_of_calls_in_half_open_state: settings['circuits.permitted_number_of_calls_in_half_open_state'],
    half_open_strategy: settings['circuits.half_open_strategy'],
  };
  const [fault] = circuitConfigFaults(config);
  if (fault !== undefined)
    throw new ToolLayerError('E3403', `The setting circuits.${fault.key} ${fault.message}.`, {
      details: { setting: `circuits.${fault.key}` },
    });
  return circuitTermsOf(config);
}
