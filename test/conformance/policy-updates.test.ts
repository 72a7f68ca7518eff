import { test } from 'vitest';
import { policyUpdatesConformance } from '../../packages/sallyport/src/permission/policies/policy-updates.conformance.ts';
import { memoryPolicyUpdates } from '../../packages/sallyport/src/storage/memory/memory-policy-updates.ts';

policyUpdatesConformance(test, 'memory', async () => ({ store: memoryPolicyUpdates(), close: async () => undefined }));
