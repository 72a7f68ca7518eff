import { KEYS_OF_000 } from './keys-of-000.ts';
import { KEYS_OF_000_BRIDGES } from './keys-of-000-bridges.ts';
import { KEYS_OF_001 } from './keys-of-001.ts';
import { KEYS_OF_002 } from './keys-of-002.ts';
import { KEYS_OF_003 } from './keys-of-003.ts';
import { KEYS_OF_004 } from './keys-of-004.ts';
import type { SourceKey } from './source-key.ts';

/** Every configuration key of the five specifications, and what it became (OPS-06). */
export const SOURCE_KEYS: readonly SourceKey[] = [
  ...KEYS_OF_000,
  ...KEYS_OF_000_BRIDGES,
  ...KEYS_OF_001,
  ...KEYS_OF_002,
  ...KEYS_OF_003,
  ...KEYS_OF_004,
];
