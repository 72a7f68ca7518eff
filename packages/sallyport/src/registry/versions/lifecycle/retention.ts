import type { ToolVersion } from '../../../domain/tool/tool-version.ts';

/** How long versions stay (REG-04); every one is a setting. */
export interface Retention {
  /** Versions of one tool that are kept beside each other; default 5. More make the oldest leave. */
  readonly versionsPerToolMax: number;
  /** Days between the deprecation of a version and its removal; default 90. */
  readonly warningDays: number;
  /** A version that was called within this many days is in use and not made to leave; default 30. */
  readonly inUseDays: number;
  /** Whether something beside the registry names exactly this version; nothing does when absent. */
  readonly isPinned?: (version: ToolVersion) => boolean;
}

/** What counts when nobody says otherwise. */
export const RETENTION: Retention = { versionsPerToolMax: 5, warningDays: 90, inUseDays: 30 };

/** One day in ms. */
export const DAY_MS = 86_400_000;
