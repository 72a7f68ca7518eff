import { join } from 'node:path';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createFile } from '@sallyport/std/files/create-file';
import { sha256 } from '@sallyport/std/sha256';
import type { PolicyExplanation, PolicyRule } from '../../../../api/schemas/policy.ts';
import {
  makeAndReadPolicyFiles,
  type PolicyFile,
  type PolicySource,
  readPolicyFiles,
} from '../../policies/policy-files.ts';
import type { PolicyDecision, PolicyEngine, PolicyFault, PolicyQuestion } from '../../policy-engine.port.ts';
import { type Cedar, loadCedar } from './cedar-module.ts';
import { CEDAR_SCHEMA } from './cedar-schema.ts';
import { DEFAULT_POLICIES, DEFAULT_POLICY_FILE, DEFAULT_USED, defaultPolicies } from './default-policies.ts';
import { explainDecision } from './explain-decision.ts';
import { type LoadedPolicies, loadPolicies } from './loaded-policies.ts';
import { type ParsedPolicies, type ParsedPolicy, parsePolicies } from './policy-set.ts';

/**
 * Source of the policies: a folder of `*.cedar` files (a missing folder is created, an empty one gets a default
 * policy), or texts.
 */
export type CedarSettings = PolicySource;

/** Cedar in process (PRM-04). */
export interface CedarPolicyEngine extends PolicyEngine {
  /**
   * Loads the WebAssembly module and the policies now, so that the first decision does not wait for them (30 ms), and
   * determines the attributes in use, which makes decisions cheaper (0.5 ms per policy, spread out).
   * @throws E3214 with file and line when a policy is not valid
   */
  warm(): Promise<void>;
  policies(): readonly PolicyRule[];
  faults(): readonly PolicyFault[];
  explain(question: PolicyQuestion): Promise<PolicyExplanation>;
  reload(othersRead?: () => Promise<void>): Promise<boolean>;
}

/** The policies in force, and a second set that includes those in shadow mode. */
interface PolicySet {
  readonly cedar: Cedar;
  readonly parsed: ParsedPolicies;
  readonly enforced: LoadedPolicies;
  /** Absent when no policy is in shadow mode. */
  readonly shadow?: LoadedPolicies;
}

/** Characters of a version: enough to distinguish two sets, and short in every cache key and event. */
const VERSION_CHARACTERS = 16;
const NOTHING: ParsedPolicies = { policies: [], leftOut: [] };

/**
 * Opens policies. Custom policies are checked at once; the default ones, known to be valid, are loaded by `warm` or the
 * first decision, so that they cost nothing at the start.
 * @throws E3214 with file and line when a policy is not valid
 */
export async function createCedarPolicyEngine(source: CedarSettings): Promise<CedarPolicyEngine> {
  let files = await readFirst(source);
  let version = versionOf(files);
  let loaded: PolicySet | undefined;
  let loading: Promise<PolicySet> | undefined;
  let reloading: Promise<unknown> = Promise.resolve();
  const load = (): Promise<PolicySet> => {
    loading ??= loadSet(files).then(
      (set) => {
        loaded = set;
        return set;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  const reload = async (othersRead?: () => Promise<void>): Promise<boolean> => {
    const next = await readAgain(source);
    const nextVersion = versionOf(next);
    if (nextVersion === version) return false;
    // A load under way must not overwrite the policies loaded here.
    await loading;
    const set = await loadSet(next);
    try {
      await othersRead?.();
    } catch (heldBack) {
      unload(set);
      throw heldBack;
    }
    if (loaded !== undefined) unload(loaded);
    [files, version, loaded, loading] = [next, nextVersion, set, Promise.resolve(set)];
    return true;
  };
  if (!areDefault(files)) await load();
  const parsed = (): ParsedPolicies => loaded?.parsed ?? (areDefault(files) ? DEFAULT : NOTHING);
  return {
    name: 'cedar',
    version: () => version,
    decide: (question) =>
      loaded === undefined ? load().then((set) => decide(set, question), notLoaded) : decide(loaded, question),
    policies: () => parsed().policies.map(ruleOf),
    faults: () => parsed().leftOut,
    async explain(question) {
      const { cedar, enforced, parsed: known } = await load();
      const inForce = known.policies.filter(({ shadow }) => !shadow);
      return explainDecision(cedar, inForce, question, () => enforced.decide(question));
    },
    async warm() {
      const { enforced, shadow } = await load();
      await Promise.all([enforced.indexed, shadow?.indexed]);
    },
    reload(othersRead) {
      // In sequence, whatever the outcome of the previous reload.
      const turn = reloading.then(() => reload(othersRead));
      reloading = turn.catch(() => undefined);
      return turn;
    },
  };
}

const DEFAULT: ParsedPolicies = { policies: DEFAULT_POLICIES, leftOut: [] };

function notLoaded(cause: unknown): never {
  throw new ToolLayerError('E3206', 'The policies cannot be loaded, so the call is denied.', { cause });
}

const isCedar = (name: string): boolean => name.endsWith('.cedar');

/** A folder without policies gets the default one, once: a later loss of the policies must not allow everything. */
async function readFirst(source: PolicySource): Promise<readonly PolicyFile[]> {
  const files = await makeAndReadPolicyFiles(source, isCedar);
  if (files.length > 0 || 'files' in source) return files;
  await createFile(join(source.folder, DEFAULT_POLICY_FILE), defaultPolicies(), 0o644);
  return readPolicyFiles(source, isCedar);
}

async function readAgain(source: PolicySource): Promise<readonly PolicyFile[]> {
  const files = await readPolicyFiles(source, isCedar);
  if (files.length > 0) return files;
  throw new ToolLayerError('E3214', 'There is no *.cedar file left. To deny every call, keep an empty one.');
}

const versionOf = (files: readonly PolicyFile[]): string =>
  sha256(JSON.stringify([CEDAR_SCHEMA, files.map(({ name, text }) => [name, text])])).slice(0, VERSION_CHARACTERS);

const areDefault = (files: readonly PolicyFile[]): boolean =>
  files.length === 1 && files[0]?.text === defaultPolicies();

async function loadSet(files: readonly PolicyFile[]): Promise<PolicySet> {
  const cedar = await loadCedar();
  // The default policies are known to parse and to fit the schema; checking again would take half of the time (80 ms).
  const parsed = areDefault(files) ? DEFAULT : parsePolicies(cedar, files);
  const inForce = parsed.policies.filter(({ shadow }) => !shadow);
  const enforced = loadPolicies(cedar, inForce, areDefault(files) ? DEFAULT_USED : undefined);
  if (inForce.length === parsed.policies.length) return { cedar, parsed, enforced };
  return { cedar, parsed, enforced, shadow: loadPolicies(cedar, parsed.policies) };
}

function unload({ enforced, shadow }: PolicySet): void {
  enforced.unload();
  shadow?.unload();
}

function decide({ enforced, shadow }: PolicySet, question: PolicyQuestion): PolicyDecision {
  const decision = enforced.decide(question);
  if (shadow === undefined) return decision;
  try {
    const imagined = shadow.decide(question);
    return imagined.allowed === decision.allowed ? decision : { ...decision, shadow: imagined };
  } catch (thrown) {
    return { ...decision, shadow: { allowed: false, policies: [], error: failureOf(thrown).message } };
  }
}

const ruleOf = ({ name, effect, shadow, file, line, text }: ParsedPolicy): PolicyRule => ({
  name,
  effect,
  mode: shadow ? 'shadow' : 'enforce',
  file,
  line,
  text,
});
