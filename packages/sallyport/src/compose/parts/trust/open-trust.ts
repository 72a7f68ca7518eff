import { join } from 'node:path';
import type { Redactor } from '@sallyport/guards';
import { type Clock, systemClock } from '@sallyport/std/clock';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { LanguageModel } from '../../../domain/language-model/language-model.port.ts';
import { valuesOf } from '../../../domain/settings/setting.ts';
import type { DoctorFinding } from '../../../doors/cli/cli-parts.ts';
import { createOpenAiLanguageModel } from '../../../external/language-models/openai/openai-language-model.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import type { Hook } from '../../../hooks/hook.ts';
import { createHooks } from '../../../hooks/run-hooks.ts';
import { readWebhooks } from '../../../hooks/webhooks/read-webhooks.ts';
import { createWebhookHook } from '../../../hooks/webhooks/webhook-hook.ts';
import { type AdversarialGate, createAdversarialGate, readGatePolicies } from '../../../permission/adversarial-gate.ts';
import { GATE_SETTINGS, QUOTA_SETTINGS, TRUST_SETTINGS } from '../../../permission/gates/gate-settings.ts';
import { createQuota } from '../../../permission/quota.ts';
import type { QuotaStore } from '../../../permission/quota-store.port.ts';
import { createTrustRules } from '../../../permission/trust.ts';
import type { PipelineParts } from '../../../pipeline/parts.ts';
import type { Settings } from '../../settings.ts';
import { redactorOf } from '../from-settings/redactor.ts';

/** Dependencies of trust, quota, gate and hooks. */
export interface TrustIngredients {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly secrets: SecretStore;
  readonly quotaStore: QuotaStore;
  /** Removes personal data and secrets from what a language model is shown. */
  readonly redactor: Redactor;
  /** Hooks of the embedding program; asked before the hooks of the file. */
  readonly hooks?: readonly Hook[];
}

/**
 * Opens the parts that judge calls besides the policies. Parts that are not configured are absent, and cost a call
 * nothing.
 * @throws ToolLayerError E3801 for settings and files that cannot be met
 */
export async function openTrust(
  from: TrustIngredients,
): Promise<Pick<PipelineParts, 'trust' | 'quota' | 'gate' | 'hooks'>> {
  const { settings, clock, quotaStore } = from;
  const gate = await openGate(from);
  const webhooks = await openWebhooks(from);
  const hooks = [...(from.hooks ?? []), ...webhooks];
  return {
    trust: createTrustRules(valuesOf(TRUST_SETTINGS, settings)),
    quota: createQuota({ store: quotaStore, ...valuesOf(QUOTA_SETTINGS, settings), clock }),
    ...(gate === undefined ? {} : { gate }),
    ...(hooks.length === 0 ? {} : { hooks: createHooks(hooks, clock) }),
  };
}

/** For `doctor`: the gate as a start would open it; nothing when it is not enabled. No model is asked. */
export async function checkGate(settings: Settings): Promise<readonly DoctorFinding[]> {
  const name = 'gate';
  try {
    const secrets: SecretStore = { read: async () => new Map() };
    const gate = await openGate({ settings, secrets, redactor: redactorOf(settings), clock: systemClock });
    if (gate === undefined) return [];
    const { model, policies, failOpen } = gate.state;
    const message = `${model} judges calls by ${policies} policies; gate.fail_open is ${failOpen}`;
    if (!failOpen) return [{ name, state: 'ok', message }];
    return [{ name, state: 'limit', message: `${message}: a call that it gives no usable answer about runs` }];
  } catch (thrown) {
    return [{ name, state: 'failed', message: failureOf(thrown).message, hint: 'The layer does not start so.' }];
  }
}

async function openGate(from: Omit<TrustIngredients, 'quotaStore'>): Promise<AdversarialGate | undefined> {
  const { settings, clock, redactor } = from;
  if (!settings['gate.enabled']) return undefined;
  const model = languageModel(from);
  if (model === undefined)
    throw new ToolLayerError('E3801', 'gate.enabled needs a language model: set model.url and model.name.');
  const file = join(settings['data_folder'], 'policies', 'adversarial.toml');
  const { always, phases } = (await readGatePolicies(file)) ?? { always: [], phases: {} };
  const policies = { always: [...settings['gate.policies'], ...always], phases };
  if (policies.always.length === 0 && Object.values(phases).every((list) => list.length === 0))
    throw new ToolLayerError('E3801', `gate.enabled needs policies: set gate.policies, or write ${file}.`);
  return createAdversarialGate({
    model,
    policies,
    ...valuesOf(GATE_SETTINGS, settings),
    redact: (value) => redactor.value(value).value,
    clock,
  });
}

function languageModel({
  settings,
  secrets,
}: Pick<TrustIngredients, 'settings' | 'secrets'>): LanguageModel | undefined {
  const url = settings['model.url'];
  const model = settings['model.name'];
  if (url === '' || model === '') return undefined;
  const secret = settings['model.secret'];
  const temperature = settings['model.temperature'] === '' ? undefined : Number(settings['model.temperature']);
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2))
    throw new ToolLayerError('E3801', 'model.temperature lies between 0 and 2, or is empty.');
  return createOpenAiLanguageModel({
    url,
    model,
    ...(temperature === undefined ? {} : { temperature }),
    ...(secret === '' ? {} : { apiKey: () => readSecret(settings, secrets, secret) }),
  });
}

async function openWebhooks({ settings, clock, secrets }: TrustIngredients): Promise<readonly Hook[]> {
  const named = settings['hooks.file'];
  const path = named === '' ? join(settings['data_folder'], 'hooks.toml') : named;
  const webhooks = await readWebhooks(path);
  if (named !== '' && webhooks.length === 0)
    throw new ToolLayerError('E3801', `hooks.file names ${path}, which is not there or holds no [[webhook]].`);
  return webhooks.map((each) =>
    createWebhookHook(each, { secret: (name) => readSecret(settings, secrets, name), clock }),
  );
}

async function readSecret(settings: Settings, secrets: SecretStore, name: string): Promise<string> {
  const value = (await secrets.read(settings['tenant.default'], [name])).get(name);
  if (value === undefined) throw new ToolLayerError('E3302', `The secret ${name} is missing.`);
  return value;
}
