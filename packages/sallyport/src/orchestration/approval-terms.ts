import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import type { ConfirmationReason } from '../domain/invocation/waiting-call.ts';
import { boolean, someOf } from '../domain/settings/rows.ts';
import { sideEffectOf, type ToolVersion } from '../domain/tool/tool-version.ts';

/** Defaults of approvals for which no rule of the file says otherwise. */
export const APPROVAL_SETTINGS = {
  fourEyes: boolean('approvals.four_eyes', {
    default: true,
    sentence: 'The person who asked for a call cannot decide on it, where no rule of the file says otherwise.',
  }),
  clientReasons: someOf('approvals.client_reasons', ['requires_confirmation', 'trust', 'policy', 'executor'], {
    default: ['requires_confirmation'],
    sentence:
      'Reasons for which the user whom the credential names may confirm a call at the own MCP client; for any other reason it waits for an approver.',
  }),
};

/** The people who are asked from a certain time on. */
export interface ApprovalLevel {
  /** Ms after the question; 0 for the first level. */
  readonly afterMs: number;
  /** Who is notified: DIDs, addresses, `role:approver` or `role:admin`. Never empty. */
  readonly notified: readonly string[];
  /** Who may answer: everybody notified at this level or an earlier one. */
  readonly eligible: readonly string[];
}

/** How the approvals of some tools are decided. */
export interface ApprovalTerms {
  /** Name of the file's rule, for people. */
  readonly name: string;
  /** What the terms apply to; an absent member matches everything. */
  readonly match: {
    /** Tool ids; `*` matches any run of characters. */
    readonly tools?: readonly string[];
    readonly tags?: readonly string[];
    readonly categories?: readonly string[];
    readonly sideEffects?: readonly SideEffectPolicy[];
    readonly reasons?: readonly ConfirmationReason[];
  };
  /** In ascending order of `afterMs`; the first at 0. */
  readonly levels: readonly [ApprovalLevel, ...ApprovalLevel[]];
  /** Number of people who have to approve. */
  readonly quorum: number;
  /** Ms after the question; then nobody can approve any more, and the call ends with E3808. */
  readonly expiresAfterMs: number;
  /** True when the person who asked for the call cannot approve it. */
  readonly fourEyes: boolean;
  /** True when the user at the agent's client may confirm; never for what needs an approver. */
  readonly atClient: boolean;
  /** Which standing rules an approver may make. */
  readonly remember: 'never' | 'exact_arguments' | 'tool';
}

const HOUR_MS = 3_600_000;
/** Every holder of the role approver, by whatever name. */
export const ANY_APPROVER = 'role:approver';
/** Every admin. */
export const ANY_ADMIN = 'role:admin';

/** Defaults: approvers at once, admins too after one hour and after four, expiry after a day (003 G-022). */
export const DEFAULT_TERMS: ApprovalTerms = {
  name: 'default',
  match: {},
  levels: [
    { afterMs: 0, notified: [ANY_APPROVER], eligible: [ANY_APPROVER] },
    { afterMs: HOUR_MS, notified: [ANY_APPROVER, ANY_ADMIN], eligible: [ANY_APPROVER, ANY_ADMIN] },
    { afterMs: 4 * HOUR_MS, notified: [ANY_ADMIN], eligible: [ANY_APPROVER, ANY_ADMIN] },
  ],
  quorum: 1,
  expiresAfterMs: 24 * HOUR_MS,
  fourEyes: APPROVAL_SETTINGS.fourEyes.default,
  atClient: true,
  remember: 'tool',
};

/** The first terms that match a tool; else the default terms. */
export function termsFor(
  all: readonly ApprovalTerms[],
  { manifest }: Pick<ToolVersion, 'manifest'>,
  reason: ConfirmationReason,
): ApprovalTerms {
  const { tool_id, tags = [], category } = manifest;
  const matches = ({ match }: ApprovalTerms): boolean =>
    (match.tools?.some((pattern) => wildcardMatcher(pattern)(tool_id)) ?? true) &&
    (match.tags?.some((tag) => tags.includes(tag)) ?? true) &&
    (match.categories?.some((each) => each === category) ?? true) &&
    (match.sideEffects?.includes(sideEffectOf(manifest)) ?? true) &&
    (match.reasons?.includes(reason) ?? true);
  return all.find(matches) ?? DEFAULT_TERMS;
}

/** Number of the level reached this long after the question; 0 when the clock went back. */
export function levelAt({ levels }: ApprovalTerms, elapsedMs: number): number {
  return Math.max(
    0,
    levels.findLastIndex(({ afterMs }) => afterMs <= elapsedMs),
  );
}

/** A level by its number; the last level for a larger number. */
export function levelOf({ levels }: ApprovalTerms, level: number): ApprovalLevel {
  return levels[Math.min(level, levels.length - 1)] ?? levels[0];
}
