import type { Clock } from '@sallyport/std/clock';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type {
  PolicyEngineState,
  PolicyExplanation,
  PolicyFileBody,
  PolicyMode,
  PolicyQuestionBody,
  PolicyReloadResponse,
  PolicyTestResponse,
} from '../../api/schemas/policy.ts';
import type { Log } from '../telemetry/log.ts';
import { makeAndReadPolicyFiles } from './policies/policy-files.ts';
import { policyQuestionOf } from './policies/policy-question.ts';
import { type FiledCase, runCases } from './policies/run-cases.ts';
import { watchPolicies } from './policies/watch-policies.ts';
import type { PolicyEngine, PolicyFault } from './policy-engine.port.ts';
import type { PolicyUpdates } from './policy-updates.port.ts';

export type { FiledCase } from './policies/run-cases.ts';

/** One engine, which either decides or only records what it would have decided. */
export interface RunningEngine {
  readonly engine: PolicyEngine;
  readonly mode: PolicyMode;
}

/** Dependencies of the policy administration. */
export interface PolicyAdministrationParts {
  /** In the order in which they are asked. */
  readonly engines: readonly RunningEngine[];
  /** Where the policy files lie. */
  readonly folder: string;
  /**
   * Makes an engine over files that are not in force; `own`: the files of the layer's folder.
   * @throws E3214 with file and line
   */
  readonly engineOver: (files: readonly PolicyFileBody[], own: boolean) => Promise<PolicyEngine>;
  readonly updates: PolicyUpdates;
  readonly news: PolicyNews;
  readonly log: Log;
  readonly clock: Clock;
}

/** The person who had the policies read again. */
export interface PolicyReader {
  readonly agentDid: string;
  readonly door: string;
}

/** Result of reading the policies. */
export interface PolicyReading {
  readonly engine: string;
  /** Version of the policies now in force. */
  readonly version: string;
  /** Version before; the same when the new policies were rejected. */
  readonly versionBefore: string;
  /** Number of policies in force. */
  readonly policies: number;
  /** Absent when the layer read them by itself: at its start, or because the files changed. */
  readonly by?: PolicyReader;
}

/** Receives the result of each reading; returned promises are awaited and must not reject. */
export interface PolicyNews {
  /** New policies are now in force. */
  inForce(reading: PolicyReading): Promise<void> | void;
  /** Policies, or a part of them in shadow mode, were rejected. */
  notTaken(reading: PolicyReading, fault: PolicyFault): Promise<void> | void;
}

/** Lists, reloads, tests and explains policies, and keeps the policies in force equal to the files. */
export interface PolicyAdministration extends AsyncDisposable {
  /** State of each engine. `text` adds the text of each policy. */
  list(text: boolean): readonly PolicyEngineState[];
  /**
   * Reads the files again and notifies every instance that earlier decisions are out of date.
   * @param by who asked for it, for the news
   * @throws E3214 with file and line when an engine rejected its policies; its previous ones stay in force
   */
  reload(by?: PolicyReader): Promise<PolicyReloadResponse>;
  /** The test files of the policy folder: `*.test.toml` and `*.test.json`. */
  testFiles(): Promise<readonly PolicyFileBody[]>;
  /**
   * Runs each case against policies that are not put in force. Only engines over files are asked, no servers.
   * @param files policies; default: those of the folder as they are now
   * @throws E3214 with file and line
   */
  test(files: readonly PolicyFileBody[] | undefined, cases: readonly FiledCase[]): Promise<PolicyTestResponse['cases']>;
  /** Each engine's answer to a hypothetical call, with its reasons. */
  explain(question: PolicyQuestionBody): Promise<readonly PolicyExplanation[]>;
  /** Version of the policies in force, as recorded decisions name it. */
  version(): string;
}

/** True for test files of the policy folder. */
const isTest = (name: string): boolean => /\.test\.(?:toml|json)$/.test(name);
/** True for policy files. */
const isPolicy = (name: string): boolean =>
  name.endsWith('.cedar') || name === 'rules.toml' || name.endsWith('.rules.toml');

interface StandingFault extends PolicyFault {
  /** ISO 8601. */
  readonly since: string;
}

/**
 * Starts the policy administration: a change of the files takes effect within a second; a faulty set is rejected,
 * reported once per fault, and listed by `list` until it is fixed.
 * @param decided the combined engine, as decisions name it
 */
export function createPolicyAdministration(
  parts: PolicyAdministrationParts,
  decided: PolicyEngine,
): PolicyAdministration {
  const { engines, folder, engineOver, updates, log, clock } = parts;
  const faults = new Map<PolicyEngine, StandingFault>();
  let publishing = 0;
  const publish = async (reason: string): Promise<void> => {
    publishing += 1;
    await updates.publish({ reason }).finally(() => {
      publishing -= 1;
    });
  };
  let refreshing: Promise<unknown> = Promise.resolve();
  // In sequence, so that an earlier reading cannot take effect after a later one.
  const refresh = (by?: PolicyReader): Promise<boolean> => {
    const turn = refreshing.then(() => refreshAll(parts, faults, clock, by));
    refreshing = turn.catch(() => undefined);
    return turn;
  };
  for (const { engine } of engines)
    for (const fault of engine.faults?.() ?? []) void parts.news.notTaken(readingOf(engine, engine.version()), fault);
  const refreshUnasked = async (): Promise<void> => {
    try {
      if (await refresh()) await publish('policy files changed');
    } catch (thrown) {
      log.error('policies-not-reloaded', { reason: failureOf(thrown).message });
    }
  };
  // An instance that shares the folder may be notified late, or never, of changes in it. What this instance publishes
  // itself follows a reading.
  const listening = updates.subscribe(({ missed }) => {
    if (missed !== true && publishing === 0) void refreshUnasked();
  });
  const watching = watchPolicies({ folder, changed: refreshUnasked });
  return {
    list: (text) => engines.map((running) => stateOf(running, faults.get(running.engine), text)),
    async reload(by) {
      const changed = await refresh(by);
      await publish('policies were reloaded');
      const [fault] = faults.values();
      if (fault !== undefined) throw notTaken(fault);
      return { changed, engines: engines.map(summaryOf) };
    },
    testFiles: () => makeAndReadPolicyFiles({ folder }, isTest),
    async test(files, cases) {
      const judged = files ?? (await makeAndReadPolicyFiles({ folder }, isPolicy));
      return [...(await runCases(await engineOver(judged, files === undefined), cases))];
    },
    explain: (question) => Promise.all(engines.map((running) => explain(running, question))),
    version: () => decided.version(),
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      await watching[Symbol.asyncDispose]();
      await refreshing;
    },
  };
}

/** The engine read new policies without a fault; another one over the same files did not, so none changes. */
const HELD_BACK = new Error('another engine rejected its policies');

/**
 * True when any engine's policies changed. The files are one set: engines change at the same moment, so that no call is
 * judged by new policies of one and old ones of another, and none changes while an enforced engine rejects its part. A
 * rule that moves into a faulty file would be in force nowhere.
 */
async function refreshAll(
  { engines, news }: PolicyAdministrationParts,
  faults: Map<PolicyEngine, StandingFault>,
  clock: Clock,
  by: PolicyReader | undefined,
): Promise<boolean> {
  let changed = false;
  for (const { engine, before, reloaded } of reloadTogether(engines)) {
    try {
      if ((await reloaded) === true) {
        changed = true;
        await news.inForce(readingOf(engine, before, by));
        for (const fault of engine.faults?.() ?? []) await news.notTaken(readingOf(engine, before, by), fault);
      }
      faults.delete(engine);
    } catch (thrown) {
      if (thrown === HELD_BACK) {
        faults.delete(engine);
        continue;
      }
      const { message, details } = failureOf(thrown);
      if (faults.get(engine)?.message === message) continue;
      const fault: PolicyFault = { message, ...details };
      faults.set(engine, { ...fault, since: new Date(clock.now()).toISOString() });
      await news.notTaken(readingOf(engine, before, by), fault);
    }
  }
  return changed;
}

/** Reloads all engines; each waits with its change until all have read their policies. */
function reloadTogether(engines: readonly RunningEngine[]) {
  const { promise: allRead, resolve, reject } = Promise.withResolvers<void>();
  allRead.catch(() => undefined);
  const unread = new Set(engines.map(({ engine }) => engine));
  const noteRead = (engine: PolicyEngine): void => {
    unread.delete(engine);
    if (unread.size === 0) resolve();
  };
  return engines.map(({ engine, mode }) => {
    const before = engine.version();
    const reload = async (): Promise<boolean | undefined> =>
      engine.reload?.(() => {
        noteRead(engine);
        return allRead;
      });
    const reloaded = reload();
    reloaded.then(
      () => noteRead(engine),
      () => (mode === 'enforce' ? reject(HELD_BACK) : noteRead(engine)),
    );
    return { engine, before, reloaded };
  });
}

const readingOf = (engine: PolicyEngine, versionBefore: string, by?: PolicyReader): PolicyReading => ({
  engine: engine.name,
  version: engine.version(),
  versionBefore,
  policies: engine.policies?.().length ?? 0,
  ...(by === undefined ? {} : { by }),
});

function notTaken({ message, file, line }: PolicyFault): ToolLayerError {
  const details = { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
  return new ToolLayerError('E3214', `${message} The policies before it stay in force.`, { details });
}

function stateOf(
  { engine, mode }: RunningEngine,
  fault: StandingFault | undefined,
  withText: boolean,
): PolicyEngineState {
  return {
    engine: engine.name,
    mode,
    version: engine.version(),
    ...(fault === undefined ? {} : { fault }),
    left_out: [...(engine.faults?.() ?? [])],
    policies: (engine.policies?.() ?? []).map(({ text, ...rule }) => ({
      ...rule,
      ...(withText && text !== undefined ? { text } : {}),
      ...(mode === 'shadow' ? { mode } : {}),
    })),
  };
}

const summaryOf = ({ engine, mode }: RunningEngine): PolicyReloadResponse['engines'][number] => ({
  engine: engine.name,
  mode,
  version: engine.version(),
  policies: engine.policies?.().length ?? 0,
});

async function explain({ engine, mode }: RunningEngine, body: PolicyQuestionBody): Promise<PolicyExplanation> {
  const question = policyQuestionOf(body);
  if (engine.explain !== undefined) return { ...(await engine.explain(question)), mode };
  const elsewhere = { engine: engine.name, mode, decided: [], nearest: [] };
  const changes = [`The policies of ${engine.name} are kept by its server. Look there.`];
  try {
    const { allowed, ask, policies, reasons } = await engine.decide(question);
    const decided = policies.map((name) => ({
      name,
      effect: allowed ? ('allow' as const) : ('deny' as const),
      mode,
      held: [],
      unmet: [],
    }));
    const explanation = reasons === undefined ? {} : { reasons: [...reasons] };
    return { ...elsewhere, allowed, ...(ask === undefined ? {} : { ask }), decided, changes, ...explanation };
  } catch (thrown) {
    return { ...elsewhere, allowed: false, error: failureOf(thrown).message, changes };
  }
}
