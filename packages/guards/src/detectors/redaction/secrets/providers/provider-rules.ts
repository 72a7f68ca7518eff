import { CLOUD_RULES } from './cloud-rules.ts';
import { CODE_RULES } from './code-rules.ts';
import { MODEL_RULES } from './model-rules.ts';
import type { ProviderRule } from './provider-rule.ts';
import { SAAS_RULES } from './saas-rules.ts';

/** Keys and tokens with published prefixes. No entropy is required: nothing else looks like them. */
export const PROVIDER_RULES: readonly ProviderRule[] = [...CLOUD_RULES, ...CODE_RULES, ...SAAS_RULES, ...MODEL_RULES];
