import { THREATS } from '@sallyport/guards';
import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import { Role, TrustLevel } from '../../../../api/schemas/capability-token.ts';
import { InvocationPhase } from '../../../../api/schemas/invocation.ts';
import { DocumentAccessMode, ExecutorKind, SideEffectPolicy } from '../../../../api/schemas/tool-manifest.ts';
import type { PolicyQuestion } from '../../policy-engine.port.ts';

/** One condition of a rule. */
export interface RuleCondition {
  /** Wording for people. */
  readonly text: string;
  holds(question: PolicyQuestion): boolean;
}

/** Makes a condition from a rule's words, any of which may match; returns a text when the words are invalid. */
type Maker = (words: readonly string[]) => RuleCondition | string;

/** The values of a question for a key; several where a call can have more than one. */
type Values = (question: PolicyQuestion) => readonly string[];

const conditionText = (key: string, words: readonly string[]): string => `${key} = ${words.join(' or ')}`;

/** `*` stands for any run of characters. */
const pattern =
  (key: string, values: Values): Maker =>
  (words) => {
    const matchers = words.map(wildcardMatcher);
    return {
      text: conditionText(key, words),
      holds: (question) => values(question).some((value) => matchers.some((matches) => matches(value))),
    };
  };

const oneOf =
  (key: string, known: readonly string[], values: Values): Maker =>
  (words) => {
    const odd = words.find((word) => !known.includes(word));
    if (odd !== undefined) return `${key} is never "${odd}"; it is one of ${known.join(', ')}`;
    return {
      text: conditionText(key, words),
      holds: (question) => values(question).some((value) => words.includes(value)),
    };
  };

/** The keys that rules can use. A missing key matches every call. */
export const CONDITIONS: Readonly<Record<string, Maker>> = {
  tool: pattern('tool', ({ toolId }) => [toolId]),
  source: pattern('source', ({ source }) => [source]),
  category: pattern('category', ({ category }) => [category]),
  tag: pattern('tag', ({ tags }) => tags),
  agent: pattern('agent', ({ principal }) => [principal.agentDid]),
  user: pattern('user', ({ principal }) => (principal.userDid === undefined ? [] : [principal.userDid])),
  tenant: pattern('tenant', ({ principal }) => [principal.tenantId]),
  role: oneOf('role', Role.enum, ({ principal }) => principal.roles),
  executor: oneOf('executor', ExecutorKind.enum, ({ executor }) => [executor]),
  side_effect: oneOf('side_effect', SideEffectPolicy.enum, ({ sideEffect }) => [sideEffect]),
  phase: oneOf('phase', InvocationPhase.enum, ({ phase }) => (phase === undefined ? [] : [phase])),
  argument_finding: oneOf('argument_finding', THREATS, ({ argumentFindings }) => argumentFindings),
  trust: oneOf('trust', TrustLevel.enum, ({ trust }) => [trust]),
  document: pattern('document', ({ document }) => (document === undefined ? [] : [document.id])),
  document_mode: oneOf('document_mode', DocumentAccessMode.enum, ({ document }) =>
    document === undefined ? [] : [document.mode],
  ),
};
