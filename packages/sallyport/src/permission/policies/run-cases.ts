import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { PolicyCase, PolicyTestResponse } from '../../../api/schemas/policy.ts';
import type { PolicyDecision, PolicyEngine } from '../policy-engine.port.ts';
import { policyQuestionOf } from './policy-question.ts';

/** A test case and its file. */
export interface FiledCase {
  readonly file: string;
  readonly wanted: PolicyCase;
}

type CaseResult = PolicyTestResponse['cases'][number];

/** Runs each case against an engine, in sequence. */
export async function runCases(engine: PolicyEngine, cases: readonly FiledCase[]): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const filed of cases) results.push(await runCase(engine, filed));
  return results;
}

async function runCase(engine: PolicyEngine, { file, wanted }: FiledCase): Promise<CaseResult> {
  const { name, expect, by = [] } = wanted;
  const about = { file, name, expected: expect };
  try {
    const decision = await engine.decide(policyQuestionOf(wanted));
    const decided = effectOf(decision);
    const missing = [by].flat().filter((policy) => !decision.policies.includes(policy));
    const passed = decided === expect && missing.length === 0;
    const explanation = passed ? {} : { message: sentence(wanted, decided, decision, missing) };
    return { ...about, passed, decided, by: [...decision.policies], ...explanation };
  } catch (thrown) {
    const { message, cause } = failureOf(thrown);
    const detail = cause instanceof Error ? `${message} ${cause.message}` : message;
    return { ...about, passed: false, decided: 'error', by: [], message: detail };
  }
}

const effectOf = ({ allowed, ask }: PolicyDecision): 'allow' | 'deny' | 'ask' =>
  allowed ? 'allow' : ask === true ? 'ask' : 'deny';

function sentence(
  { expect }: PolicyCase,
  decided: string,
  { policies }: PolicyDecision,
  missing: readonly string[],
): string {
  const by = policies.length === 0 ? 'no policy' : policies.join(', ');
  if (decided !== expect) return `expected ${expect}, but it is ${decided} by ${by}.`;
  return `it is ${decided} as expected, but by ${by} and not by ${missing.join(', ')}.`;
}
