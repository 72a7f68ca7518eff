import type { OperationsOf } from '../catalogue/run.ts';
import type { UPSTREAMS } from '../catalogue/upstreams.ts';
import type { OperationParts } from '../parts.ts';
import { addUpstream } from './add-upstream.ts';
import { acceptQuarantined, rejectQuarantined } from './decide-quarantine.ts';
import { exportUpstreams } from './export-upstreams.ts';
import { getUpstream } from './get-upstream.ts';
import { listQuarantine } from './list-quarantine.ts';
import { listUpstreams } from './list-upstreams.ts';
import { removeUpstream } from './remove-upstream.ts';
import { restartUpstream, switchUpstream, upstreamLogs } from './switch-upstream.ts';

/** What does each operation of the upstreams. */
export const upstreamsOperations = (parts: OperationParts): OperationsOf<typeof UPSTREAMS> => ({
  'upstreams.list': listUpstreams(parts),
  'upstreams.get': getUpstream(parts),
  'upstreams.add': addUpstream(parts),
  'upstreams.remove': removeUpstream(parts),
  'upstreams.disable': switchUpstream(parts, true),
  'upstreams.enable': switchUpstream(parts, false),
  'upstreams.restart': restartUpstream(parts),
  'upstreams.logs': upstreamLogs(parts),
  'upstreams.export': exportUpstreams(parts),
  'upstreams.quarantine': listQuarantine(parts),
  'upstreams.accept': acceptQuarantined(parts),
  'upstreams.reject': rejectQuarantined(parts),
});
