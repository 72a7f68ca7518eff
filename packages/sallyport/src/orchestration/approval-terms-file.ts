import { readSmallText } from '@sallyport/std/files/read-small-text';
import { type Static, Type } from 'typebox';
import { SideEffectPolicy } from '../../api/schemas/tool-manifest.ts';
import { type FileFault, fileFault, parseTomlAs } from '../domain/settings/toml-file.ts';
import { type ApprovalLevel, type ApprovalTerms, DEFAULT_TERMS } from './approval-terms.ts';

const RULES_MAX = 200;
const APPROVERS_MAX = 100;
const LEVELS_MAX = 20;
/** Longest time that a call may wait for a person. */
const EXPIRY_MS_MAX = 30 * 24 * 3_600_000;
const EXPIRY_MS_MIN = 1000;
const NAMES_MAX = 100;

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: NAMES_MAX });
// Empty lists pass here, since they get an error message of their own.
const Approvers = Type.Array(Type.String({ maxLength: 255 }), { maxItems: APPROVERS_MAX });
const Duration = Type.String({ pattern: '^[0-9]{1,9}(?:ms|s|m|h|d)$' });
const Rule = Type.Object(
  {
    tools: Type.Optional(Names),
    tags: Type.Optional(Names),
    categories: Type.Optional(Names),
    side_effects: Type.Optional(Type.Array(SideEffectPolicy, { minItems: 1 })),
    reasons: Type.Optional(
      Type.Array(
        Type.Enum(['requires_approval', 'require_approval', 'requires_confirmation', 'policy', 'trust', 'executor']),
        { minItems: 1 },
      ),
    ),
    approvers: Type.Optional(Approvers),
    quorum: Type.Optional(Type.Integer({ minimum: 1, maximum: APPROVERS_MAX })),
    expires_after: Type.Optional(Duration),
    escalation: Type.Optional(
      Type.Array(
        Type.Object({ after: Duration, approvers: Type.Optional(Approvers) }, { additionalProperties: false }),
        {
          maxItems: LEVELS_MAX,
        },
      ),
    ),
    on_timeout: Type.Optional(Type.String()),
    four_eyes: Type.Optional(Type.Boolean()),
    at_client: Type.Optional(Type.Boolean()),
    remember: Type.Optional(Type.Enum(['never', 'exact_arguments', 'tool'])),
  },
  { additionalProperties: false },
);
type Rule = Static<typeof Rule>;
const File = Type.Object(
  { rule: Type.Optional(Type.Array(Rule, { maxItems: RULES_MAX })) },
  { additionalProperties: false },
);

/** Defaults for rules that omit a member. */
export interface TermDefaults {
  readonly fourEyes: boolean;
}

/**
 * Reads the `[[rule]]` tables of a file, in their order: the first rule that matches a tool counts.
 * @returns none when there is no such file
 * @throws ToolLayerError E3801 with the file and the fault; an empty list of approvers is a fault (ORC-05)
 */
export async function readApprovalTerms(path: string, defaults: TermDefaults): Promise<readonly ApprovalTerms[]> {
  const text = await readSmallText(path, faultOf(path));
  return text === undefined ? [] : parseApprovalTerms(text, path, defaults);
}

/** Same as `readApprovalTerms`, for a text. */
export function parseApprovalTerms(text: string, path: string, defaults: TermDefaults): readonly ApprovalTerms[] {
  const fault = faultOf(path);
  const { rule: rules = [] } = parseTomlAs(text, File, fault);
  return rules.map((rule, at) => termsOf(rule, `rule ${at + 1}`, defaults, fault));
}

const faultOf = (path: string): FileFault => fileFault('file of approvals', path);

function termsOf(rule: Rule, name: string, { fourEyes }: TermDefaults, fault: FileFault): ApprovalTerms {
  if (rule.on_timeout !== undefined && rule.on_timeout !== 'deny')
    throw fault(
      `says on_timeout = "${rule.on_timeout}" in ${name}: a call that nobody answered never runs; write "deny"`,
    );
  const { levels, expiresAfterMs } = levelsOf(rule, name, fault);
  const quorum = rule.quorum ?? 1;
  const possible = new Set(levels.flatMap(({ eligible }) => eligible));
  const isBounded = ![...possible].some((approver) => approver.startsWith('role:'));
  if (isBounded && quorum > possible.size)
    throw fault(`asks for ${quorum} people in ${name} and names ${possible.size}: nobody could ever approve`);
  const { tools, tags, categories, side_effects: sideEffects, reasons } = rule;
  return {
    name,
    match: {
      ...(tools === undefined ? {} : { tools }),
      ...(tags === undefined ? {} : { tags }),
      ...(categories === undefined ? {} : { categories }),
      ...(sideEffects === undefined ? {} : { sideEffects }),
      ...(reasons === undefined ? {} : { reasons }),
    },
    levels,
    quorum,
    expiresAfterMs,
    fourEyes: rule.four_eyes ?? fourEyes,
    atClient: rule.at_client ?? DEFAULT_TERMS.atClient,
    remember: rule.remember ?? DEFAULT_TERMS.remember,
  };
}

type Levels = Pick<ApprovalTerms, 'levels' | 'expiresAfterMs'>;

/** A last step without approvers may set the expiry; all other steps come before it. */
function levelsOf(rule: Rule, name: string, fault: FileFault): Levels {
  const { approvers, escalation, expires_after: expires } = rule;
  const first = approvers === undefined ? DEFAULT_TERMS.levels[0].notified : checked(approvers, name, fault);
  const steps = (escalation ?? []).map(({ after, approvers: more }) => ({
    afterMs: msOf(after),
    notified: more === undefined ? undefined : checked(more, `the escalation of ${name}`, fault),
  }));
  const last = steps.at(-1);
  const end = expires === undefined && last?.notified === undefined ? last?.afterMs : undefined;
  const expiresAfterMs = expires === undefined ? (end ?? DEFAULT_TERMS.expiresAfterMs) : msOf(expires);
  if (expiresAfterMs < EXPIRY_MS_MIN || expiresAfterMs > EXPIRY_MS_MAX)
    throw fault(`lets ${name} expire after ${expiresAfterMs} ms; between a second and 30 days is possible`);
  const inner = steps.filter(({ afterMs, notified }) => notified !== undefined || afterMs !== expiresAfterMs);
  if (escalation === undefined && approvers === undefined) {
    const own = DEFAULT_TERMS.levels.slice(1).filter(({ afterMs }) => afterMs < expiresAfterMs);
    return { levels: [DEFAULT_TERMS.levels[0], ...own], expiresAfterMs };
  }
  const levels: [ApprovalLevel, ...ApprovalLevel[]] = [{ afterMs: 0, notified: first, eligible: first }];
  for (const { afterMs, notified } of inner) {
    const before = levels.at(-1) ?? levels[0];
    if (afterMs <= before.afterMs)
      throw fault(`escalates ${name} after ${afterMs} ms and before that later: write the steps in ascending order`);
    if (afterMs >= expiresAfterMs)
      throw fault(`escalates ${name} after ${afterMs} ms, when it has expired already after ${expiresAfterMs} ms`);
    levels.push({
      afterMs,
      notified: notified ?? before.notified,
      eligible: [...new Set([...before.eligible, ...(notified ?? [])])],
    });
  }
  return { levels, expiresAfterMs };
}

const ROLES = ['role:approver', 'role:admin'];

function checked(approvers: readonly string[], where: string, fault: FileFault): readonly string[] {
  if (approvers.length === 0)
    throw fault(
      `names no approvers in ${where}: nobody could answer. Name somebody, or leave the list out for the role approver`,
    );
  for (const approver of approvers) {
    if (approver.trim() !== approver || approver === '') throw fault(`names an approver in ${where} that is blank`);
    if (approver.startsWith('role:') && !ROLES.includes(approver))
      throw fault(`names ${approver} in ${where}: the roles that may decide are ${ROLES.join(' and ')}`);
  }
  return [...new Set(approvers)];
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function msOf(duration: string): number {
  const [, count = '0', unit = 'ms'] = /^([0-9]+)([a-z]+)$/.exec(duration) ?? [];
  return Number(count) * (UNITS[unit] ?? 1);
}
