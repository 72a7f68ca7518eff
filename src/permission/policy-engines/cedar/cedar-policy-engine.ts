import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { sha256 } from '../../../std/sha256.ts';
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from '../../policy-engine.port.ts';
import { cedarRequest } from './cedar-request.ts';
import { CEDAR_SCHEMA } from './cedar-schema.ts';
import { DEFAULT_POLICIES, defaultPolicies } from './default-policies.ts';
import { type PolicyFile, readPolicyFiles } from './policy-files.ts';
import { type Cedar, parsePolicies } from './policy-set.ts';

/** Where the policies are. */
export interface CedarSettings {
  /** Folder of `*.cedar` files; made, with a default policy, when it is absent or holds none. */
  readonly folder: string;
}

/** Cedar in process (PRM-04). */
export interface CedarPolicyEngine extends PolicyEngine {
  /**
   * Loads the WebAssembly module and the policies now, so that the first decision does not wait for them (30 ms).
   * @throws E3900 with file and line when a policy is not valid
   */
  warm(): Promise<void>;
  /**
   * Reads the folder again. The new policies hold from the next decision on.
   * @throws E3900 with file and line when one is not valid; the old policies stay in force
   */
  reload(): Promise<void>;
}

/** A set of policies that the module holds under a name. */
interface LoadedSet {
  readonly setId: string;
  readonly cedar: Cedar;
}

/** The module's caches are global by name; this keeps the engines of one process apart. */
let engines = 0;

/**
 * Opens the policies of a folder. Policies of one's own are checked at once; the default ones, which are known to be
 * good, wait for `warm` or the first decision, so that they cost nothing at the start.
 * @throws E3900 with file and line when a policy is not valid
 */
export async function createCedarPolicyEngine({ folder }: CedarSettings): Promise<CedarPolicyEngine> {
  engines += 1;
  const name = `cedar-${engines}`;
  let files = await readPolicyFiles(folder);
  let version = versionOf(files);
  let loaded: LoadedSet | undefined;
  let loading: Promise<LoadedSet> | undefined;
  let reloading: Promise<void> = Promise.resolve();
  const load = (): Promise<LoadedSet> => {
    loading ??= loadSet(name, files, version).then(
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
  const reload = async (): Promise<void> => {
    const next = await readPolicyFiles(folder);
    const nextVersion = versionOf(next);
    if (nextVersion === version) return;
    // A load under way must not overwrite what is loaded here.
    await loading;
    const set = await loadSet(name, next, nextVersion);
    if (loaded !== undefined) forget(loaded);
    [files, version, loaded, loading] = [next, nextVersion, set, Promise.resolve(set)];
  };
  if (!areDefault(files)) await load();
  return {
    name: 'cedar',
    version: () => version,
    decide: (question) =>
      loaded === undefined ? load().then((set) => decide(set, question), notLoaded) : decide(loaded, question),
    async warm() {
      await load();
    },
    reload() {
      // One after the other, whatever became of the one before.
      const turn = reloading.then(reload, reload);
      reloading = turn.catch(() => undefined);
      return turn;
    },
  };
}

function notLoaded(cause: unknown): never {
  throw new ToolLayerError('E3206', 'The policies cannot be loaded, so the call is denied.', { cause });
}

const versionOf = (files: readonly PolicyFile[]): string =>
  sha256(JSON.stringify([CEDAR_SCHEMA, files.map(({ name, text }) => [name, text])]));

const areDefault = (files: readonly PolicyFile[]): boolean =>
  files.length === 1 && files[0]?.text === defaultPolicies();

async function loadSet(name: string, files: readonly PolicyFile[], version: string): Promise<LoadedSet> {
  const cedar = await import('@cedar-policy/cedar-wasm/nodejs');
  const set: LoadedSet = { setId: `${name}@${version}`, cedar };
  // The default policies are known to parse and to fit the schema; finding that out again is half of the time (80 ms).
  const staticPolicies = areDefault(files) ? DEFAULT_POLICIES : parsePolicies(cedar, files);
  const answer = cedar.preparsePolicySet(set.setId, { staticPolicies });
  if (answer.type === 'failure')
    throw new ToolLayerError(
      'E3900',
      `The policies cannot be loaded: ${answer.errors[0]?.message ?? 'no reason given'}.`,
    );
  return set;
}

/** The module cannot drop an entry; an empty one holds no memory worth naming. */
function forget({ cedar, setId }: LoadedSet): void {
  cedar.preparsePolicySet(setId, { staticPolicies: {} });
}

/**
 * Without the schema, which costs a third of a decision: the policies were checked against it when they were loaded, and
 * the request is built to fit it.
 */
function decide({ cedar, setId }: LoadedSet, question: PolicyQuestion): PolicyDecision {
  const answer = cedar.statefulIsAuthorized({
    ...cedarRequest(question),
    preparsedPolicySetId: setId,
    validateRequest: false,
  });
  return decisionOf(answer);
}

function decisionOf(answer: AuthorizationAnswer): PolicyDecision {
  if (answer.type === 'failure')
    throw new ToolLayerError('E3206', 'The policy engine gave no answer, so the call is denied.', {
      cause: new Error(answer.errors.map(({ message }) => message).join('; ')),
    });
  const { decision, diagnostics } = answer.response;
  // Cedar leaves out a policy that fails while it is judged. A forbid must not vanish that way.
  const [failed] = diagnostics.errors;
  if (failed !== undefined)
    throw new ToolLayerError('E3206', `The policy "${failed.policyId}" failed, so the call is denied.`, {
      cause: new Error(failed.error.message),
    });
  return { allowed: decision === 'allow', policies: diagnostics.reason };
}
