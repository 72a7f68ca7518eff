import { join } from 'node:path';
import {
  type CedarPolicyEngine,
  createCedarPolicyEngine,
} from '../../permission/policy-engines/cedar/cedar-policy-engine.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';

/** Policies are made ready at once: the database, which starts meanwhile, leaves this process time for it. */
export async function openPolicies(settings: Settings, log: Log): Promise<CedarPolicyEngine> {
  const policies = await createCedarPolicyEngine({ folder: join(settings['data_folder'], 'policies') });
  policies.warm().catch((cause: unknown) => log.error('policies-not-warm', { reason: String(cause) }));
  return policies;
}
