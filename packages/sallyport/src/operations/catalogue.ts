import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Static } from 'typebox';
import { nearestNames } from '../model-facing/nearest-names.ts';
import { answerApproval, approveCall, denyCall } from './approvals/decide-call.ts';
import { delegateApprovals, endDelegation, listDelegations } from './approvals/delegations.ts';
import { listApprovalRules, revokeApprovalRule } from './approvals/rules.ts';
import { getApproval, listApprovals } from './approvals/show-approvals.ts';
import { anchorAudit, verifyAuditAnchors } from './audit/anchor-audit.ts';
import { queryAudit } from './audit/query-audit.ts';
import { verifyAudit } from './audit/verify-audit.ts';
import { getHealth } from './health/get-health.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './identity/api-keys.ts';
import { explainToken } from './identity/explain-token.ts';
import { inspectToken } from './identity/inspect-token.ts';
import { listKeys, publishKeys, rotateKeys } from './identity/keys.ts';
import { mintToken } from './identity/mint-token.ts';
import { liftRevocation, listRevocations, revokeToken } from './identity/revoke-token.ts';
import { importComposio } from './imports/import-composio.ts';
import { importLangChain } from './imports/import-langchain.ts';
import { importOpenApi } from './imports/import-openapi.ts';
import { importSkill } from './imports/import-skill.ts';
import { importUpstreams } from './imports/import-upstreams.ts';
import { cancelInvocation } from './invocations/cancel-invocation.ts';
import {
  diffCheckpoints,
  getCheckpoint,
  listCheckpoints,
  removeCheckpoint,
  restoreCheckpoint,
} from './invocations/checkpoints.ts';
import { dryRun } from './invocations/dry-run.ts';
import { extendInvocation } from './invocations/extend-invocation.ts';
import { getInvocation } from './invocations/get-invocation.ts';
import { getToolContext } from './invocations/get-tool-context.ts';
import { invokeTool } from './invocations/invoke-tool.ts';
import { listInvocations } from './invocations/list-invocations.ts';
import { listOutputFilters } from './invocations/list-output-filters.ts';
import { readOverflow } from './invocations/read-overflow.ts';
import { listThreads, removeThread, saveThread, writeThread } from './invocations/threads.ts';
import { verifyInvocation } from './invocations/verify-invocation.ts';
import { watchInvocation } from './invocations/watch-invocation.ts';
import { getOutcome, listOutcomes } from './outcomes/list-outcomes.ts';
import { reconcileOutcome } from './outcomes/reconcile-outcome.ts';
import { settleOutcome } from './outcomes/settle-outcome.ts';
import { explainPolicy } from './policies/explain-policy.ts';
import { listPolicies } from './policies/list-policies.ts';
import { reloadPolicies } from './policies/reload-policies.ts';
import { testPolicies } from './policies/test-policies.ts';
import { compensateMany, compensateOne } from './side-effects/compensate-side-effects.ts';
import { getSideEffect, listSideEffects } from './side-effects/list-side-effects.ts';
import { checkManifest } from './tools/check-manifest.ts';
import { diffTool } from './tools/diff-tool.ts';
import { getTool } from './tools/get-tool.ts';
import { listManifests } from './tools/list-manifests.ts';
import { listTools } from './tools/list-tools.ts';
import { deprecateTool, removeTool, restoreTool, sunsetTool } from './tools/move-tool.ts';
import { registerTool } from './tools/register-tool.ts';
import { searchTools } from './tools/search-tools.ts';
import { toolCompliance } from './tools/tool-compliance.ts';
import { toolHistory } from './tools/tool-history.ts';
import { addUpstream } from './upstreams/add-upstream.ts';
import { getCircuit, listCircuits, setCircuit } from './upstreams/circuits.ts';
import { acceptQuarantined, rejectQuarantined } from './upstreams/decide-quarantine.ts';
import { exportUpstreams } from './upstreams/export-upstreams.ts';
import { getUpstream } from './upstreams/get-upstream.ts';
import { listQuarantine } from './upstreams/list-quarantine.ts';
import { listUpstreams } from './upstreams/list-upstreams.ts';
import { finishUpstreamLogin, loginUpstream, logoutUpstream } from './upstreams/login-upstream.ts';
import { listOffers } from './upstreams/offers/list-offers.ts';
import { removeUpstream } from './upstreams/remove-upstream.ts';
import { disableUpstream, enableUpstream, restartUpstream, upstreamLogs } from './upstreams/switch-upstream.ts';
import { listActivations, removeActivation, setActivation } from './visibility/activations.ts';
import { listAvailability, setAvailability } from './visibility/availability.ts';
import { listVisible } from './visibility/list-visible.ts';
import { getView, listViews, putView, removeView } from './visibility/views.ts';

export type { OperationEntry } from './operation.ts';

/** Every operation, in the order of docs/operations.md. A new one is a line here. */
const ALL = [
  invokeTool,
  dryRun,
  listInvocations,
  getInvocation,
  cancelInvocation,
  watchInvocation,
  extendInvocation,
  verifyInvocation,
  readOverflow,
  listOutputFilters,
  listOutcomes,
  getOutcome,
  settleOutcome,
  reconcileOutcome,
  listApprovals,
  getApproval,
  approveCall,
  denyCall,
  answerApproval,
  listApprovalRules,
  revokeApprovalRule,
  delegateApprovals,
  listDelegations,
  endDelegation,
  listCheckpoints,
  getCheckpoint,
  diffCheckpoints,
  restoreCheckpoint,
  removeCheckpoint,
  getToolContext,
  listThreads,
  saveThread,
  writeThread,
  removeThread,
  listSideEffects,
  getSideEffect,
  compensateOne,
  compensateMany,
  listTools,
  searchTools,
  getTool,
  listManifests,
  registerTool,
  removeTool,
  deprecateTool,
  sunsetTool,
  restoreTool,
  toolHistory,
  diffTool,
  toolCompliance,
  checkManifest,
  importOpenApi,
  importLangChain,
  importSkill,
  importComposio,
  importUpstreams,
  listUpstreams,
  getUpstream,
  addUpstream,
  removeUpstream,
  disableUpstream,
  enableUpstream,
  restartUpstream,
  upstreamLogs,
  loginUpstream,
  finishUpstreamLogin,
  logoutUpstream,
  exportUpstreams,
  listOffers,
  listQuarantine,
  acceptQuarantined,
  rejectQuarantined,
  listCircuits,
  getCircuit,
  setCircuit,
  listVisible,
  listAvailability,
  setAvailability,
  listActivations,
  setActivation,
  removeActivation,
  listViews,
  getView,
  putView,
  removeView,
  mintToken,
  inspectToken,
  explainToken,
  revokeToken,
  listRevocations,
  liftRevocation,
  listKeys,
  rotateKeys,
  publishKeys,
  createApiKey,
  listApiKeys,
  revokeApiKey,
  listPolicies,
  reloadPolicies,
  testPolicies,
  explainPolicy,
  queryAudit,
  verifyAudit,
  anchorAudit,
  verifyAuditAnchors,
  getHealth,
] as const;

type Listed = (typeof ALL)[number];
type Table = { readonly [Each in Listed as Each['name']]: Each };

/** THE table of operations, by name. */
export const OPERATIONS = Object.fromEntries(ALL.map((each) => [each.name, each])) as Table;

/** The closed set of operations. */
export type OperationName = keyof typeof OPERATIONS;
/** Input of an operation, as the wire has it. */
export type OperationInput<N extends OperationName> = Static<(typeof OPERATIONS)[N]['input']>;
/** Output of an operation, as the wire has it. */
export type OperationOutput<N extends OperationName> = Static<(typeof OPERATIONS)[N]['output']>;

/**
 * The row of an operation.
 * @throws ToolLayerError E3801 for a name that a program without types made up
 */
export function operationNamed<N extends OperationName>(name: N): Table[N] {
  if (Object.hasOwn(OPERATIONS, name)) return OPERATIONS[name];
  const near = nearestNames(String(name), Object.keys(OPERATIONS));
  const hint = near.length === 0 ? 'See the table of operations.' : `Did you mean ${near.join(', ')}?`;
  throw new ToolLayerError('E3801', `There is no operation ${JSON.stringify(String(name))}. ${hint}`);
}
