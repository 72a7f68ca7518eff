import { systemClock } from '@sallyport/std/clock';
import { defaultsOf } from '../../domain/settings/setting.ts';
import { type AdversarialGate, type AdversarialGateOptions, createAdversarialGate } from '../adversarial-gate.ts';
import { DECISION_SETTINGS } from '../policies/policy-settings.ts';
import { createPolicyDecisions, type PolicyDecisions, type PolicyDecisionsOptions } from '../policy-decisions.ts';
import type { PolicyEngine } from '../policy-engine.port.ts';
import { createQuota, type Quota, type QuotaOptions } from '../quota.ts';
import { createTrustRules, type TrustRules, type TrustSettings } from '../trust.ts';
import { GATE_SETTINGS, QUOTA_SETTINGS, TRUST_SETTINGS } from './gate-settings.ts';

// Parts of a layer where nothing is set but what is given.

/** The decisions of an engine, cached. */
export const decisionsOf = (engine: PolicyEngine, changes: Partial<PolicyDecisionsOptions> = {}): PolicyDecisions =>
  createPolicyDecisions({ ...defaultsOf(DECISION_SETTINGS), engine, clock: systemClock, ...changes });

/** Rules of trust. */
export const trustWith = (changes: Partial<TrustSettings> = {}): TrustRules =>
  createTrustRules({ ...defaultsOf(TRUST_SETTINGS), ...changes });

/** A quota of sessions. */
export const quotaWith = (changes: Pick<QuotaOptions, 'store'> & Partial<QuotaOptions>): Quota =>
  createQuota({ ...defaultsOf(QUOTA_SETTINGS), clock: systemClock, ...changes });

/** A gate that shows its model everything. */
export const gateWith = (
  changes: Pick<AdversarialGateOptions, 'model' | 'policies'> & Partial<AdversarialGateOptions>,
): AdversarialGate =>
  createAdversarialGate({
    ...defaultsOf(GATE_SETTINGS),
    redact: (value) => value,
    clock: systemClock,
    ...changes,
  });
