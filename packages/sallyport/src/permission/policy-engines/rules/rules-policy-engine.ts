import { sha256 } from '@sallyport/std/sha256';
import type { ExplainedPolicy, PolicyExplanation, PolicyRule } from '../../../../api/schemas/policy.ts';
import {
  makeAndReadPolicyFiles,
  type PolicyFile,
  type PolicySource,
  readPolicyFiles,
} from '../../policies/policy-files.ts';
import type { PolicyDecision, PolicyEngine, PolicyFault, PolicyQuestion } from '../../policy-engine.port.ts';
import { parseRules, type RuleSet, type StaticRule } from './parse-rules.ts';

/** Source of the rules: a folder with `rules.toml` and `*.rules.toml` files, or texts. */
export type RulesSettings = PolicySource;

/** Static rules (PRM-04). */
export interface RulesPolicyEngine extends PolicyEngine {
  policies(): readonly PolicyRule[];
  faults(): readonly PolicyFault[];
  explain(question: PolicyQuestion): Promise<PolicyExplanation>;
  reload(othersRead?: () => Promise<void>): Promise<boolean>;
}

/** True for files of static rules in the policy folder. */
const isRules = (name: string): boolean => name === 'rules.toml' || name.endsWith('.rules.toml');
/** Characters of a version: enough to distinguish two sets, and short in every cache key and event. */
const VERSION_CHARACTERS = 16;
/** Most rules named in an explanation, of those that would allow the call. */
const NEAREST_MAX = 5;

/**
 * Rules in TOML: those of `[[tools.policy]]` first, then those of `[[tools.authorization.rules]]`; the first match
 * decides (002, "Tool Call Quota and OAP Authorization"). Without a match the call is denied.
 * @throws E3214 with file and place when a rule is not valid
 */
export async function createRulesPolicyEngine(source: RulesSettings): Promise<RulesPolicyEngine> {
  const files = await makeAndReadPolicyFiles(source, isRules);
  let set = parseRules(files);
  let version = versionOf(files);
  return {
    name: 'rules',
    version: () => version,
    decide: (question) => decisionOf(firstOf(set, question)),
    policies: () => set.rules.map(({ rule }) => rule),
    faults: () => set.notes,
    explain: async (question) => explain(set, question),
    async reload(othersRead) {
      const next = await readPolicyFiles(source, isRules);
      const nextVersion = versionOf(next);
      if (nextVersion === version) return false;
      const nextSet = parseRules(next);
      await othersRead?.();
      set = nextSet;
      version = nextVersion;
      return true;
    },
  };
}

const versionOf = (files: readonly PolicyFile[]): string =>
  sha256(JSON.stringify(files.map(({ name, text }) => [name, text]))).slice(0, VERSION_CHARACTERS);

const firstOf = ({ rules }: RuleSet, question: PolicyQuestion): StaticRule | undefined =>
  rules.find(({ conditions }) => conditions.every(({ holds }) => holds(question)));

function decisionOf(first: StaticRule | undefined): PolicyDecision {
  if (first === undefined) return { allowed: false, policies: [] };
  const { effect, name } = first.rule;
  return { allowed: effect === 'allow', ...(effect === 'ask' ? { ask: true } : {}), policies: [name] };
}

function explain(set: RuleSet, question: PolicyQuestion): PolicyExplanation {
  const first = firstOf(set, question);
  const { allowed, ask } = decisionOf(first);
  const before = first === undefined ? set.rules : set.rules.slice(0, set.rules.indexOf(first));
  const nearest = allowed
    ? []
    : before
        .filter(({ rule }) => rule.effect === 'allow')
        .map((rule) => beside(rule, question))
        .toSorted((a, b) => a.unmet.length - b.unmet.length)
        .slice(0, NEAREST_MAX);
  const decided = first === undefined ? [] : [beside(first, question)];
  return {
    engine: 'rules',
    mode: 'enforce',
    allowed,
    ...(ask === undefined ? {} : { ask }),
    decided,
    nearest,
    changes: changesFor(first?.rule.name, allowed, nearest),
  };
}

function changesFor(name: string | undefined, allowed: boolean, nearest: readonly ExplainedPolicy[]): string[] {
  if (allowed) return [`The first rule that matches is ${name}. A rule that denies must stand before it.`];
  const own =
    name === undefined
      ? 'No rule matches. Add one that allows this call.'
      : `The first rule that matches is ${name}. It must no longer match, or a rule that allows must stand before it.`;
  return [own, ...nearest.map((rule) => `${rule.name} would allow it if this held: ${rule.unmet.join('; ')}.`)];
}

function beside({ rule, conditions }: StaticRule, question: PolicyQuestion): ExplainedPolicy {
  const texts = (wanted: boolean): string[] =>
    conditions.filter(({ holds }) => holds(question) === wanted).map(({ text }) => text);
  return { ...rule, held: texts(true), unmet: texts(false) };
}
