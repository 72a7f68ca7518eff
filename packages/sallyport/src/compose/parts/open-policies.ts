import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { PolicyFileBody } from '../../../api/schemas/policy.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import type { DoctorFinding } from '../../doors/cli/cli-parts.ts';
import { createPolicyRecord, type PolicyRecord } from '../../operations/policies/policy-record.ts';
import { combineEngines } from '../../permission/policies/combine-engines.ts';
import { DECISION_SETTINGS } from '../../permission/policies/policy-settings.ts';
import {
  createPolicyAdministration,
  type PolicyAdministration,
  type PolicyNews,
  type RunningEngine,
} from '../../permission/policy-administration.ts';
import { createPolicyDecisions, type PolicyDecisions } from '../../permission/policy-decisions.ts';
import type { PolicyEngine } from '../../permission/policy-engine.port.ts';
import { createAbacPolicyEngine } from '../../permission/policy-engines/abac/abac-policy-engine.ts';
import { ABAC_SETTINGS } from '../../permission/policy-engines/abac/settings.ts';
import { createCedarPolicyEngine } from '../../permission/policy-engines/cedar/cedar-policy-engine.ts';
import { createOpaPolicyEngine } from '../../permission/policy-engines/opa/opa-policy-engine.ts';
import { OPA_SETTINGS } from '../../permission/policy-engines/opa/settings.ts';
import { createRulesPolicyEngine } from '../../permission/policy-engines/rules/rules-policy-engine.ts';
import type { PolicyUpdates } from '../../permission/policy-updates.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';
import type { Ingredients } from './ingredients.ts';

/** The policies in force, and the part that reloads them. */
export interface OpenPolicies extends AsyncDisposable {
  readonly decisions: PolicyDecisions;
  readonly administration: PolicyAdministration;
  /** Audits changes of the policies from now on. */
  readonly recordIn: PolicyRecord['recordIn'];
}

const ENGINES = {
  cedar: (settings: Settings) => createCedarPolicyEngine({ folder: folderOf(settings) }),
  rules: (settings: Settings) => createRulesPolicyEngine({ folder: folderOf(settings) }),
  opa: async (settings: Settings) => createOpaPolicyEngine(valuesOf(OPA_SETTINGS, settings)),
  abac: async (settings: Settings) => createAbacPolicyEngine(valuesOf(ABAC_SETTINGS, settings)),
} as const satisfies Record<string, (settings: Settings) => Promise<PolicyEngine>>;

type EngineName = keyof typeof ENGINES;

/**
 * Loads the policies at once: the database starts meanwhile in other processes.
 * @param opening the channel on which instances notify one another of changes
 */
export async function openPolicies(
  { settings, clock, log }: Ingredients,
  opening: Promise<PolicyUpdates>,
): Promise<OpenPolicies> {
  // A fault of the policies is reported first; nobody awaits the channel then.
  opening.catch(() => undefined);
  const engines = await openEngines(settings);
  const ofMode = (wanted: RunningEngine['mode']) =>
    engines.filter(({ mode }) => mode === wanted).map(({ engine }) => engine);
  const engine = combineEngines({ enforced: ofMode('enforce'), shadow: ofMode('shadow') });
  for (const each of engines) warm(each.engine, log);
  const decisions = createPolicyDecisions({ engine, clock, ...valuesOf(DECISION_SETTINGS, settings) });
  const folder = folderOf(settings);
  const engineOver = (files: readonly PolicyFileBody[], own: boolean) =>
    engineOverFiles(files, own ? engines.map(({ engine: { name } }) => name) : ['cedar', 'rules']);
  const record = createPolicyRecord({ clock, log, tenantId: settings['tenant.default'] });
  const updates = await opening;
  const listening = updates.subscribe(() => decisions.clear());
  const parts = { engines, folder, engineOver, updates, news: newsTo(log, record.news), clock, log };
  const administration = createPolicyAdministration(parts, engine);
  const close = async (): Promise<void> => {
    listening[Symbol.dispose]();
    await administration[Symbol.asyncDispose]();
  };
  return { decisions, administration, recordIn: record.recordIn, [Symbol.asyncDispose]: close };
}

/**
 * Checks for `doctor` whether the policies can be put in force. Nothing is created: the policies of a first start are
 * tried in a temporary folder.
 */
export async function checkPolicies(settings: Settings): Promise<DoctorFinding> {
  const name = 'policies';
  await using opened = new AsyncDisposableStack();
  try {
    const folder = existsSync(folderOf(settings)) ? folderOf(settings) : await mkdtemp(join(tmpdir(), 'sallyport-'));
    if (folder !== folderOf(settings)) opened.defer(() => rm(folder, { recursive: true, force: true }));
    const engines = await openEngines({ ...settings, 'permission.policies_folder': folder });
    const [fault] = engines.flatMap(({ engine }) => engine.faults?.() ?? []);
    if (fault !== undefined) return { name, state: 'warning', message: fault.message };
    const names = engines.map(({ engine, mode }) => `${engine.name}${mode === 'shadow' ? ' in shadow mode' : ''}`);
    return { name, state: 'ok', message: names.join(', ') };
  } catch (thrown) {
    const hint = 'A running layer keeps the policies before; it does not start with these. Try sallyport policy test.';
    return { name, state: 'failed', message: failureOf(thrown).message, hint };
  }
}

const folderOf = (settings: Settings): string =>
  settings['permission.policies_folder'] === ''
    ? join(settings['data_folder'], 'policies')
    : settings['permission.policies_folder'];

async function openEngines(settings: Settings): Promise<readonly RunningEngine[]> {
  const enforced = namesIn(settings, 'permission.engines');
  const shadow = namesIn(settings, 'permission.shadow_engines');
  if (enforced.length === 0) throw new ToolLayerError('E3801', 'permission.engines names no engine: name one.');
  const both = shadow.find((name) => enforced.includes(name));
  if (both !== undefined)
    throw new ToolLayerError(
      'E3801',
      `${both} stands in permission.engines and permission.shadow_engines: choose one.`,
    );
  const open = async (name: EngineName, mode: RunningEngine['mode']): Promise<RunningEngine> => ({
    engine: await ENGINES[name](settings),
    mode,
  });
  return Promise.all([...enforced.map((name) => open(name, 'enforce')), ...shadow.map((name) => open(name, 'shadow'))]);
}

function namesIn(settings: Settings, key: 'permission.engines' | 'permission.shadow_engines'): EngineName[] {
  return settings[key]
    .filter((name) => name !== '')
    .map((name, at, all) => {
      const known = (Object.keys(ENGINES) as EngineName[]).find((each) => each === name);
      if (known !== undefined && all.indexOf(name) === at) return known;
      const names = Object.keys(ENGINES).join(', ');
      throw new ToolLayerError('E3801', `${key}: ${name} is no engine, or named twice. The engines are ${names}.`);
    });
}

/** The file-based engines that have files; without any there is nothing to test. */
async function engineOverFiles(files: readonly PolicyFileBody[], names: readonly string[]): Promise<PolicyEngine> {
  const has = (ending: string): boolean => files.some(({ name }) => name.endsWith(ending));
  const enforced = [
    ...(names.includes('cedar') && has('.cedar') ? [await createCedarPolicyEngine({ files })] : []),
    ...(names.includes('rules') && has('rules.toml') ? [await createRulesPolicyEngine({ files })] : []),
  ];
  if (enforced.length > 0) return combineEngines({ enforced });
  throw new ToolLayerError('E3214', 'There are no policies to test: name *.cedar or *.rules.toml files.');
}

function warm(engine: PolicyEngine & { warm?: () => Promise<void> }, log: Log): void {
  engine.warm?.().catch((cause: unknown) => log.error('policies-not-warm', { reason: String(cause) }));
}

const newsTo = (log: Log, record: PolicyNews): PolicyNews => ({
  inForce(reading) {
    const { engine, version, policies } = reading;
    log.info('policies-in-force', { engine, version, policies });
    return record.inForce(reading);
  },
  notTaken(reading, fault) {
    const { message, file, line } = fault;
    log.error('policies-not-in-force', {
      engine: reading.engine,
      reason: message,
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
    });
    return record.notTaken(reading, fault);
  },
});
