import type { Static } from 'typebox';
import { answerApproval, approveCall, denyCall } from './approvals/decide-call.ts';
import { delegateApprovals, endDelegation, listDelegations } from './approvals/delegations.ts';
import { listApprovalRules, revokeApprovalRule } from './approvals/rules.ts';
import { listApprovals, showApproval } from './approvals/show-approvals.ts';
import { CIRCUITS } from './catalogue/circuits.ts';
import { IDENTITY } from './catalogue/identity.ts';
import { IMPORTS } from './catalogue/imports.ts';
import { OPERATOR } from './catalogue/operator.ts';
import { POLICY } from './catalogue/policy.ts';
import { TOOL_LIFECYCLE } from './catalogue/tool-lifecycle.ts';
import { TOOLS } from './catalogue/tools.ts';
import { UPSTREAMS } from './catalogue/upstreams.ts';
import { VISIBILITY } from './catalogue/visibility.ts';
import { cancelTool } from './invocations/cancel-tool.ts';
import { dryRun } from './invocations/dry-run.ts';
import { extendTool } from './invocations/extend-tool.ts';
import { invokeTool } from './invocations/invoke-tool.ts';
import { listCalls } from './invocations/list-calls.ts';
import { toolStatus } from './invocations/tool-status.ts';
import { watchTool } from './invocations/watch-tool.ts';
import { getOutcome, listOutcomes } from './outcomes/list-outcomes.ts';
import { reconcileOutcome } from './outcomes/reconcile-outcome.ts';
import { settleOutcome } from './outcomes/settle-outcome.ts';
import { verifyCall } from './outcomes/verify-call.ts';
import { compensateMany, compensateOne } from './side-effects/compensate-side-effects.ts';
import { getSideEffect, listSideEffects } from './side-effects/list-side-effects.ts';

export type { OperationEntry } from './operation.ts';

/** Every operation, in the order of docs/operations.md. A new one is a line here. */
const ALL = [
  invokeTool,
  dryRun,
  listCalls,
  toolStatus,
  cancelTool,
  watchTool,
  extendTool,
  listOutcomes,
  getOutcome,
  settleOutcome,
  reconcileOutcome,
  verifyCall,
  listApprovals,
  showApproval,
  approveCall,
  denyCall,
  answerApproval,
  listApprovalRules,
  revokeApprovalRule,
  delegateApprovals,
  listDelegations,
  endDelegation,
  listSideEffects,
  getSideEffect,
  compensateOne,
  compensateMany,
] as const;

type Listed = (typeof ALL)[number];
type Table = { readonly [Each in Listed as Each['name']]: Each };

/** THE table of operations, by name. */
export const OPERATIONS = {
  ...(Object.fromEntries(ALL.map((each) => [each.name, each])) as Table),
  ...TOOLS,
  ...TOOL_LIFECYCLE,
  ...IMPORTS,
  ...UPSTREAMS,
  ...CIRCUITS,
  ...VISIBILITY,
  ...IDENTITY,
  ...POLICY,
  ...OPERATOR,
} as const;

/** The closed set of operations. */
export type OperationName = keyof typeof OPERATIONS;
/** What an operation takes, as the wire has it. */
export type OperationInput<N extends OperationName> = Static<(typeof OPERATIONS)[N]['input']>;
/** What an operation answers with, as the wire has it. */
export type OperationOutput<N extends OperationName> = Static<(typeof OPERATIONS)[N]['output']>;
