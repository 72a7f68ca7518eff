import { KiB } from '@sallyport/std/bytes';
import { visibleLine, visibleText } from '@sallyport/std/text/visible-text';
import type { ConfirmationReason } from '../../domain/invocation/waiting-call.ts';
import type { ApprovalNotice } from '../notifier.port.ts';

const NAME_CHARACTERS_MAX = 255;
const PROMPT_CHARACTERS_MAX = 2 * KiB;
const ARGUMENTS_CHARACTERS_MAX = 4 * KiB;
/** Approvers that are named; others are only counted. */
const APPROVERS_SHOWN = 20;

const BECAUSE: Readonly<Record<ConfirmationReason, string>> = {
  requires_approval: 'its tool runs with an approval only',
  require_approval: 'the call asks for an approval',
  requires_confirmation: 'its tool runs with a confirmation only',
  policy: 'a policy asks for it',
  trust: 'what it may leave behind is beyond the trust in it',
  executor: 'what it would do is for a person to decide',
};

const SUBJECT: Readonly<Record<ApprovalNotice['kind'], string>> = {
  asked: 'Approval asked',
  escalated: 'Approval still open',
  decided: 'Approval decided',
  expired: 'Approval expired',
};

const name = (text: string): string => visibleLine(text, NAME_CHARACTERS_MAX);
const prose = (text: string): string => visibleLine(text, PROMPT_CHARACTERS_MAX);

/**
 * The notice with its untrusted text made safe to show: cut, on one line except for arguments, nothing hidden in it.
 */
export function visibleNotice(notice: ApprovalNotice): ApprovalNotice {
  const { userDid, question, prompt, decision } = notice;
  const argumentsText = visibleArguments(notice);
  return {
    ...notice,
    toolId: name(notice.toolId),
    toolVersion: name(notice.toolVersion),
    agentDid: name(notice.agentDid),
    ...(userDid === undefined ? {} : { userDid: name(userDid) }),
    ...(question === undefined ? {} : { question: prose(question) }),
    ...(prompt === undefined ? {} : { prompt: prose(prompt) }),
    ...(argumentsText === undefined ? {} : { argumentsText }),
    ...(decision === undefined
      ? {}
      : {
          decision: {
            outcome: decision.outcome,
            by: name(decision.by),
            ...(decision.reason === undefined ? {} : { reason: prose(decision.reason) }),
          },
        }),
  };
}

function visibleArguments({ argumentsText: text, argumentsLength }: ApprovalNotice): string | undefined {
  if (text === undefined) return undefined;
  const seen = visibleText(text, ARGUMENTS_CHARACTERS_MAX);
  if (argumentsLength === undefined || argumentsLength <= text.length) return seen;
  return `${seen}… (cut: these are ${text.length} of ${argumentsLength} characters; look at the approval for all of them)`;
}

/** The subject of a notice, on one line. */
export function noticeSubject(notice: ApprovalNotice): string {
  const { kind, toolId, agentDid, decision } = visibleNotice(notice);
  const what = decision === undefined || kind !== 'decided' ? SUBJECT[kind] : `Approval ${decision.outcome}`;
  return `${what}: ${toolId} for ${agentDid}`;
}

/**
 * A notice as plain text for people. Untrusted text cannot move a cursor, hide itself or begin a line of its own: every
 * line of the arguments is indented. It contains no answer tokens.
 */
export function noticeText(given: ApprovalNotice): string {
  const notice = visibleNotice(given);
  const { kind, decision, question, prompt, argumentsText, userDid, sideEffect } = notice;
  const isOpen = kind === 'asked' || kind === 'escalated';
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['approval', notice.approvalId],
    ['call', `${notice.invocationId} of tenant ${notice.tenantId}`],
    ['tool', `${notice.toolId} ${notice.toolVersion}${sideEffect === undefined ? '' : ` (${sideEffect})`}`],
    ['agent', `${notice.agentDid}${userDid === undefined ? '' : ` for ${userDid}`}`],
    ['because', BECAUSE[notice.reason]],
    ['question', question],
    ['the tool says', prompt],
    ['arguments', argumentsText?.replaceAll('\n', '\n    ')],
    ['escalation', kind === 'escalated' ? String(notice.level) : undefined],
    ['outcome', decision === undefined ? undefined : `${decision.outcome}, by ${decision.by}`],
    ['reason given', decision?.reason],
    ['may answer', isOpen ? approversIn(notice) : undefined],
    ['until', isOpen ? new Date(notice.expiresAt).toISOString() : undefined],
    ['bound to', isOpen ? notice.bindingDigest : undefined],
    ['answer', isOpen ? `sallyport approvals approve|deny ${notice.approvalId}` : undefined],
  ];
  const shown = lines.filter(([, text]) => text !== undefined).map(([label, text]) => `  ${label}: ${text}`);
  return [noticeSubject(given), ...shown].join('\n');
}

function approversIn({ approvers }: ApprovalNotice): string {
  const named = approvers.slice(0, APPROVERS_SHOWN).map(({ id }) => name(id));
  return approvers.length > named.length
    ? `${named.join(', ')} and ${approvers.length - named.length} more`
    : named.join(', ');
}
