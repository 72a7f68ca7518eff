import type { Static } from 'typebox';
import { APPROVALS } from './catalogue/approvals.ts';
import { CIRCUITS } from './catalogue/circuits.ts';
import { IDENTITY } from './catalogue/identity.ts';
import { IMPORTS } from './catalogue/imports.ts';
import { INVOCATIONS } from './catalogue/invocations.ts';
import { OPERATOR } from './catalogue/operator.ts';
import { OUTCOMES } from './catalogue/outcomes.ts';
import { POLICY } from './catalogue/policy.ts';
import { SIDE_EFFECTS } from './catalogue/side-effects.ts';
import { TOOL_LIFECYCLE } from './catalogue/tool-lifecycle.ts';
import { TOOLS } from './catalogue/tools.ts';
import { UPSTREAMS } from './catalogue/upstreams.ts';
import { VISIBILITY } from './catalogue/visibility.ts';

export type { OperationEntry } from './operation.ts';

/** THE table of operations, by name. */
export const OPERATIONS = {
  ...INVOCATIONS,
  ...OUTCOMES,
  ...APPROVALS,
  ...SIDE_EFFECTS,
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
