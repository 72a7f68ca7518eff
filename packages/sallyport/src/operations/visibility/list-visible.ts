import { failure } from '@sallyport/std/error/failure';
import type { Role } from '../../../api/schemas/capability-token.ts';
import { VisibilityListRequest, VisibilityListResponse } from '../../../api/schemas/visibility.ts';
import type { Asking } from '../../pipeline/visible-tools.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Roles that may ask about other agents. */
const MAY_ASK_OF_OTHERS: readonly Role[] = ['viewer', 'operator', 'admin'];

/** VIS-01: the tools of one tier, ordered by name, in pages. */
export const listVisible = operation({
  name: 'visibility.list',
  summary: 'List the tools of one tier, or the tools that an agent lacks, with the reason (VIS-01)',
  method: 'GET',
  path: '/v1/visibility',
  status: 200,
  access: 'token',
  input: VisibilityListRequest,
  output: VisibilityListResponse,
  run:
    ({ visible }: Pick<OperationParts, 'visible'>) =>
    async ({ list, agent_did, page = 1, page_size = 200 }, asker) => {
      const { agentDid, roles } = asker.principal;
      const isOther = agent_did !== undefined && agent_did !== agentDid;
      if (isOther && !roles.some((role) => MAY_ASK_OF_OTHERS.includes(role))) {
        const needed = MAY_ASK_OF_OTHERS.join(', ');
        return failure('E3213', `To ask about another agent takes one of the roles ${needed}. Leave agent_did out.`);
      }
      const asking = isOther ? asAgent(asker, agent_did) : await visible.gated(asker);
      const { tools, total } = visible.tier(asking, list, { page, pageSize: page_size });
      return { tools: [...tools], total_count: total, page, page_size };
    },
});

/** Another agent of the tenant; its token is unknown, so no token narrows the list. */
const asAgent = ({ principal: { tenantId } }: Asker, agentDid: string): Asking => ({
  principal: { tenantId, agentDid, roles: ['agent'] },
});
