import { setImmediate as turn } from 'node:timers/promises';
import type { AuthorizationAnswer, PolicyJson } from '@cedar-policy/cedar-wasm/web';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { ALL_ATTRIBUTES, type AttributesUsed, attributesUsed } from './attributes-used.ts';
import { type Cedar, readPolicy } from './cedar-module.ts';
import { cedarRequest } from './cedar-request.ts';
import { type EligiblePolicies, eligiblePolicies } from './eligible-policies.ts';
import { inOurNames, joined, type ParsedPolicy, placeOf } from './policy-set.ts';

/** Policies loaded into the module, ready to decide. */
export interface LoadedPolicies {
  /** @throws E3206 when a policy fails in evaluation: Cedar would ignore it, and a forbid must not vanish that way */
  decide(question: PolicyQuestion): CedarDecision;
  /** Resolves when the attributes in use are known, which makes decisions cheaper; the answers are the same. */
  readonly indexed: Promise<void>;
  /** Frees the module's memory. */
  unload(): void;
}

/** Cedar's own answer. */
export interface CedarDecision {
  readonly allowed: boolean;
  /** Names of the deciding policies. */
  readonly policies: readonly string[];
}

/** A set that the module holds under an id. */
interface HeldSet {
  readonly id: string;
  /** Names by index in the set. */
  readonly names: readonly string[];
  readonly used: AttributesUsed;
}

/** Facts about the policies, from their trees. */
interface Index {
  readonly trees: readonly PolicyJson[];
  readonly eligible: EligiblePolicies;
}

/** Smaller sets are indexed at once and evaluated whole. */
const WHOLE_MAX = 16;
/** Trees read per turn: other work waits 2 ms. */
const TREES_AT_ONCE = 4;
/** Most parts of the set held separately, for questions that only they matter to. */
const PARTS_MAX = 64;
/** Most policies in such a part: it is loaded while a call waits, 0.05 ms per policy. */
const PART_POLICIES_MAX = 100;
/** Most parts remembered as asked for once; the second time they are loaded. */
const PARTS_SEEN_MAX = 1024;

/** The module's caches are global by name; this keeps the sets of one process apart. */
let sets = 0;

/**
 * Loads policies into the module. Evaluating a policy takes some microseconds even when it is irrelevant, so of a large
 * set only the policies with a matching head are asked.
 * @param known the attributes in use, when known already
 * @throws E3214 when the module rejects the policies
 */
export function loadPolicies(cedar: Cedar, policies: readonly ParsedPolicy[], known?: AttributesUsed): LoadedPolicies {
  const small = policies.length <= WHOLE_MAX;
  const trees: PolicyJson[] = [];
  const readTrees = (from: readonly ParsedPolicy[]): void =>
    void trees.push(...from.map(({ text }) => readPolicy(cedar, text)));
  if (small && known === undefined) readTrees(policies);
  let whole = hold(cedar, policies, known ?? (small ? attributesUsed(trees) : ALL_ATTRIBUTES));
  let parts: ((question: PolicyQuestion) => HeldSet | undefined) | undefined;
  const closing = new AbortController();
  const index = async (): Promise<void> => {
    for (let at = 0; at < policies.length; at += TREES_AT_ONCE) {
      await turn();
      if (closing.signal.aborted) return;
      readTrees(policies.slice(at, at + TREES_AT_ONCE));
    }
    whole = { ...whole, used: attributesUsed(trees) };
    parts = heldParts(cedar, policies, { trees, eligible: eligiblePolicies(trees) }, closing.signal);
  };
  return {
    // Without the index the answers are the same.
    indexed: small ? Promise.resolve() : index().catch(() => undefined),
    decide(question) {
      const set = parts?.(question) ?? whole;
      const { id, used, names } = set;
      const answer = cedar.statefulIsAuthorized({
        ...cedarRequest(question, used),
        preparsedPolicySetId: id,
        // The policies were checked against the schema, and the request is built to fit it; skipping this saves a third
        // of the time.
        validateRequest: false,
      });
      return decisionOf(answer, names);
    },
    unload() {
      closing.abort();
      parts = undefined;
      forget(cedar, whole);
    },
  };
}

/** Finds the part of the set for a question; undefined stands for the whole set. */
function heldParts(
  cedar: Cedar,
  policies: readonly ParsedPolicy[],
  { trees, eligible }: Index,
  closed: AbortSignal,
): (question: PolicyQuestion) => HeldSet | undefined {
  const seen = new LRUCache<string, true>({ max: PARTS_SEEN_MAX });
  const parts = new LRUCache<string, HeldSet>({ max: PARTS_MAX, dispose: (part) => forget(cedar, part) });
  closed.addEventListener('abort', () => parts.clear(), { once: true });
  return (question) => {
    const places = eligible(question);
    if (places.length * 2 > policies.length || places.length > PART_POLICIES_MAX) return undefined;
    const key = places.join(',');
    const known = parts.get(key);
    if (known !== undefined) return known;
    if (!seen.has(key)) {
      seen.set(key, true);
      return undefined;
    }
    const chosen = <T>(from: readonly T[]): T[] => places.map((place) => from[place] as T);
    const part = hold(cedar, chosen(policies), attributesUsed(chosen(trees)));
    parts.set(key, part);
    return part;
  };
}

function hold(cedar: Cedar, policies: readonly ParsedPolicy[], used: AttributesUsed): HeldSet {
  sets += 1;
  const id = `sallyport-${sets}`;
  const answer = cedar.preparsePolicySet(id, { staticPolicies: joined(policies) });
  if (answer.type === 'failure')
    throw new ToolLayerError(
      'E3214',
      `The policies cannot be loaded: ${inOurNames(
        answer.errors[0]?.message ?? 'no reason given',
        (place) => policies[place]?.name,
      )}.`,
    );
  return { id, names: policies.map(({ name }) => name), used };
}

/** The module cannot drop an entry; an empty one takes negligible memory. */
function forget(cedar: Cedar, { id }: HeldSet): void {
  cedar.preparsePolicySet(id, { staticPolicies: {} });
}

function decisionOf(answer: AuthorizationAnswer, names: readonly string[]): CedarDecision {
  if (answer.type === 'failure')
    throw new ToolLayerError('E3206', 'The policy engine gave no answer, so the call is denied.', {
      cause: new Error(answer.errors.map(({ message }) => message).join('; ')),
    });
  const { decision, diagnostics } = answer.response;
  const nameOf = (policyId: string): string => names[placeOf(policyId)] ?? policyId;
  const [failed] = diagnostics.errors;
  if (failed !== undefined)
    throw new ToolLayerError('E3206', `The policy "${nameOf(failed.policyId)}" failed, so the call is denied.`, {
      cause: new Error(inOurNames(failed.error.message, (place) => names[place])),
    });
  return { allowed: decision === 'allow', policies: diagnostics.reason.map(nameOf).sort() };
}
