import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { RequestService } from '../../../domain/circuit/service-request.ts';
import type { PipelineParts } from '../../parts.ts';
import { takeServiceRate } from './take-rate.ts';

/**
 * Requests that count as the attempts of calls do: through the circuit of their service, and against its rate limit. One
 * that may not be made does not reach the service.
 */
export function requestService({
  circuits,
  ...rates
}: Pick<PipelineParts, 'circuits' | 'rateLimiter' | 'limits'>): RequestService {
  return (request, work) => {
    const attempt = async () => {
      const spent = await takeServiceRate(rates, request.tenantId, request.service);
      if (spent !== undefined) throw ToolLayerError.of(spent);
      return work();
    };
    return circuits === undefined ? attempt() : circuits.request(request, attempt);
  };
}
