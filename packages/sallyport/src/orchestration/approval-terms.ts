import { wildcardMatcher } from '@sallyport/std/text/wildcard';
import type { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import type { ConfirmationReason } from '../domain/invocation/waiting-call.ts';
import { boolean, someOf } from '../domain/settings/rows.ts';
import { sideEffectOf, type ToolVersion } from '../domain/tool/tool-version.ts';

/** What holds of approvals where no rule of the file says otherwise. */
export const APPROVAL_SETTINGS = {
  fourEyes: boolean('approvals.four_eyes', {
    default: true,
    sentence: 'Whoever asked for a call cannot decide on it, where no rule of the file says otherwise.',
  }),
  clientReasons: someOf('approvals.client_reasons', ['requires_confirmation', 'trust', 'policy', 'executor'], {
    default: ['requires_confirmation'],
    sentence:
      'Reasons for which the user whom the credential names may confirm a call at the own MCP client; for any other reason it waits for an approver.',
  }),
};

/** Those who are asked from one time on. */
export interface ApprovalLevel {
  /** After the question, in ms; 0 for the first level. */
  readonly afterMs: number;
  /** Who is told: DIDs, addresses, `role:approver` or `role:admin`. Never empty. */
  readonly told: readonly string[];
  /** Who may answer: those who are told at this level and at those before. */
  readonly eligible: readonly string[];
}

/** How the approvals of some tools are decided. */
export interface ApprovalTerms {
  /** Which rule of the file it is, for people. */
  readonly name: string;
  /** What they hold for; a member that is absent matches everything. */
  readonly match: {
    /** Tool ids; `*` stands for any run of characters. */
    readonly tools?: readonly string[];
    readonly tags?: readonly string[];
    readonly categories?: readonly string[];
    readonly sideEffects?: readonly SideEffectPolicy[];
    readonly reasons?: readonly ConfirmationReason[];
  };
  /** In ascending order of `afterMs`; the first at 0. */
  readonly levels: readonly [ApprovalLevel, ...ApprovalLevel[]];
  /** How many people have to say yes. */
  readonly quorum: number;
  /** After the question, in ms: then nobody can say yes any more, and the call ends with E3808. */
  readonly expiresAfterMs: number;
  /** Whoever asked cannot say yes. */
  readonly fourEyes: boolean;
  /** The user who sits with the agent may confirm at the client; never what needs an approver. */
  readonly atClient: boolean;
  /** Which standing rules an approver may make. */
  readonly remember: 'never' | 'exact_arguments' | 'tool';
}

const HOUR_MS = 3_600_000;
/** Every holder of the role, whichever it is called. */
export const ANY_APPROVER = 'role:approver';
/** Every admin. */
export const ANY_ADMIN = 'role:admin';

/** Where no rule says otherwise: approvers at once, admins beside them after an hour and after four, the end after a day (003 G-022). */
export const DEFAULT_TERMS: ApprovalTerms = {
  name: 'default',
  match: {},
  levels: [
    { afterMs: 0, told: [ANY_APPROVER], eligible: [ANY_APPROVER] },
    { afterMs: HOUR_MS, told: [ANY_APPROVER, ANY_ADMIN], eligible: [ANY_APPROVER, ANY_ADMIN] },
    { afterMs: 4 * HOUR_MS, told: [ANY_ADMIN], eligible: [ANY_APPROVER, ANY_ADMIN] },
  ],
  quorum: 1,
  expiresAfterMs: 24 * HOUR_MS,
  fourEyes: APPROVAL_SETTINGS.fourEyes.default,
  atClient: true,
  remember: 'tool',
};

/** The first terms that match a tool, or the last resort. */
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

/** Number of the level that is reached so long after the question; 0 for a clock that went back. */
export function levelAt({ levels }: ApprovalTerms, elapsedMs: number): number {
  return Math.max(
    0,
    levels.findLastIndex(({ afterMs }) => afterMs <= elapsedMs),
  );
}

/** A level by its number; the last for a number beyond. */
export function levelOf({ levels }: ApprovalTerms, level: number): ApprovalLevel {
  return levels[Math.min(level, levels.length - 1)] ?? levels[0];
}
