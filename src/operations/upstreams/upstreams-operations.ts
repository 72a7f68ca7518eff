import type { UPSTREAMS } from '../catalogue/upstreams.ts';
import type { OperationsOf } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { addUpstream } from './add-upstream.ts';
import { acceptQuarantined, rejectQuarantined } from './decide-quarantine.ts';
import { getUpstream } from './get-upstream.ts';
import { listQuarantine } from './list-quarantine.ts';
import { listUpstreams } from './list-upstreams.ts';
import { removeUpstream } from './remove-upstream.ts';

/** What does each operation of the upstreams. */
export const upstreamsOperations = (parts: OperationParts): OperationsOf<typeof UPSTREAMS> => ({
  'upstreams.list': listUpstreams(parts),
  'upstreams.get': getUpstream(parts),
  'upstreams.add': addUpstream(parts),
  'upstreams.remove': removeUpstream(parts),
  'upstreams.quarantine': listQuarantine(parts),
  'upstreams.accept': acceptQuarantined(parts),
  'upstreams.reject': rejectQuarantined(parts),
});
