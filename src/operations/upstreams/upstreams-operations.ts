import type { UPSTREAMS } from '../catalogue/upstreams.ts';
import type { OperationsOf } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { addUpstream } from './add-upstream.ts';
import { listUpstreams } from './list-upstreams.ts';
import { removeUpstream } from './remove-upstream.ts';

/** What does each operation of the upstreams. */
export const upstreamsOperations = (parts: OperationParts): OperationsOf<typeof UPSTREAMS> => ({
  'upstreams.list': listUpstreams(parts),
  'upstreams.add': addUpstream(parts),
  'upstreams.remove': removeUpstream(parts),
});
