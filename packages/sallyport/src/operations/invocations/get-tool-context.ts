import { failure, isFailure } from '@sallyport/std/error/failure';
import {
  type ToolContext,
  ToolContextRequest,
  ToolContext as ToolContextSchema,
} from '../../../api/schemas/calls/tool-context.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import { effectiveManifest } from '../../domain/tool/effective-manifest.ts';
import { traitsOf } from '../../domain/tool/executor-kinds.ts';
import { defaultsFor } from '../../permission/compute-grant.ts';
import { type Asker, operation, ROLES_FOR } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { reachesAll } from './may-reach.ts';

type Parts = Pick<OperationParts, 'visible' | 'limits' | 'retries' | 'context'>;

/** What a tool has of the agent that calls it. */
export const getToolContext = operation({
  name: 'contexts.get',
  summary: 'References to the secrets of a tool, its limits, and the context of the session of an agent (EXT-04)',
  method: 'GET',
  path: '/v1/contexts/{tool_id}',
  fixedPath: '/api/v1/context/agent/{agent_id}/tool/{tool_id}',
  status: 200,
  access: 'token',
  input: ToolContextRequest,
  output: ToolContextSchema,
  run: (parts: Parts) => async (request, asker) => {
    const owner = ownerOf(request, asker);
    if (owner === undefined) {
      const needed = ROLES_FOR.viewer.join(', ');
      return failure(
        'E3213',
        `To ask about another agent or user takes one of the roles ${needed}. Ask about yourself.`,
      );
    }
    const found = parts.visible.read(asker, request.tool_id);
    if (isFailure(found)) return found;
    const sessionId = request.session_id ?? asker.principal.sessionId;
    const { signal } = asker.caller;
    const session = sessionId === undefined ? undefined : await parts.context.sessionContext(owner, sessionId, signal);
    const { manifest } = found.tool;
    return {
      credentials: referencesOf(manifest),
      config: configOf(parts, manifest),
      session_context: { ...session },
    };
  },
});

/** Whose context is asked for; undefined when the asker may not see it. */
function ownerOf({ agent_id, user_id }: ToolContextRequest, asker: Asker): CallOwner | undefined {
  const { tenantId, agentDid, userDid } = asker.principal;
  const isOwn = (agent_id ?? agentDid) === agentDid && (user_id ?? userDid) === userDid;
  if (isOwn) return { tenantId, agentDid, ...(userDid === undefined ? {} : { userDid }) };
  if (!reachesAll(asker, 'viewer')) return undefined;
  return { tenantId, agentDid: agent_id ?? agentDid, ...(user_id === undefined ? {} : { userDid: user_id }) };
}

const referencesOf = ({ permissions }: ToolManifest): ToolContext['credentials'] =>
  Object.fromEntries((permissions?.credentials ?? []).map((name) => [`${name}_ref`, `secret://${name}`]));

function configOf({ limits, retries }: Parts, manifest: ToolManifest): ToolContext['config'] {
  const { execution_config: config } = effectiveManifest(manifest, defaultsFor(manifest, limits.layer));
  const { rate_limit } = manifest.execution_config ?? {};
  const isOutside = traitsOf(manifest.executor.kind).service === 'base_url';
  const rate = (rate_limit ?? (isOutside ? limits.externalRate : undefined))?.per_minute;
  return {
    timeout: (config.default_timeout_seconds ?? 0) * 1000,
    retry_max_attempts: Math.min(config.retry_policy?.max_attempts ?? 1, retries.attemptsMax),
    ...(rate === undefined ? {} : { rate_limit_per_minute: rate }),
  };
}
