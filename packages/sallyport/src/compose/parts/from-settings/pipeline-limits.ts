import { valuesOf } from '../../../domain/settings/setting.ts';
import { CALL_SETTINGS, type PipelineParts } from '../../../pipeline/parts.ts';
import type { Settings } from '../../settings.ts';
import { layerLimitsOf } from './agent-bounds.ts';
import { apiRatesOf } from './api-rates.ts';

/** Limits of the pipeline, from the settings. */
export function limitsOf(settings: Settings): PipelineParts['limits'] {
  return {
    ...valuesOf(CALL_SETTINGS, settings),
    layer: layerLimitsOf(settings),
    apiRates: apiRatesOf(settings['rate.apis']),
  };
}
