import type { PipelineParts } from '../../../pipeline/parts.ts';
import type { Settings } from '../../settings.ts';
import { layerLimitsOf } from './agent-bounds.ts';
import { apiRatesOf } from './api-rates.ts';

/** Bounds of the pipeline, from the settings. */
export function limitsOf(settings: Settings): PipelineParts['limits'] {
  return {
    callsMax: settings['calls.max'],
    callsPerAgentMax: settings['calls.per_agent_max'],
    callsWaitingPerAgentMax: settings['calls.per_agent_waiting_max'],
    argumentDepthMax: settings['calls.argument_depth_max'],
    argumentBytesMax: settings['calls.argument_bytes_max'],
    layer: layerLimitsOf(settings),
    timeoutMsMax: settings['calls.timeout_seconds_max'] * 1000,
    laterTimeoutMsMax: settings['workers.timeout_seconds_max'] * 1000,
    externalRate: { per_minute: settings['rate.external_per_minute'], burst: settings['rate.external_burst'] },
    apiRate: { per_minute: settings['rate.api_per_minute'], burst: settings['rate.api_burst'] },
    apiRates: apiRatesOf(settings['rate.apis']),
    idempotencyTtlMs: settings['idempotency.ttl_seconds'] * 1000,
  };
}
