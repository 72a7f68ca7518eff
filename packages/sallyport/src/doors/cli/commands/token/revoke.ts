import type { Revocation } from '../../../../../api/schemas/identity/revocation.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import { list } from '../../output/templates.ts';
import { readCredential } from './read-credential.ts';

/** `token revoke|revocations|restore`. */
export function addRevokeCommands(operation: AddOperation): void {
  operation('tokens.revoke', {
    command: 'revoke',
    help: 'revoke one token or API key, or the tokens of an agent or of the tenant',
    args: ['token'],
    members: {
      token: { help: 'the token; standard input when absent or -, unless an option says what to revoke' },
      issued_before: { help: 'with --agent or --whole-tenant: only tokens issued before, in ISO 8601' },
      expires_at: false,
    },
    input: async ({ token, ...given }, { parts }) => {
      const isNamed = [given.jti, given.agent_did, given.whole_tenant].some((each) => each !== undefined);
      return isNamed && token === undefined ? given : { ...given, token: await readCredential(token, parts.io) };
    },
    print: (answer, print) => print.line(`Revoked ${said(answer)} (${answer.revocation_id})`),
  });
  operation('revocations.list', {
    command: 'revocations',
    help: 'what is revoked, the latest first',
    print: list({
      head: ['REVOCATION', 'KIND', 'SUBJECT', 'ISSUED BEFORE', 'REVOKED', 'REASON'],
      rows: ({ revocations }) => revocations.map(rowOf),
      empty: 'Nothing is revoked.',
    }),
  });
  operation('revocations.lift', {
    command: 'restore',
    print: (lifted, print) => print.line(`Took back: ${said(lifted)}`),
  });
}

function said({ kind, subject, tenant_id, issued_before: before }: Revocation): string {
  const until = before === undefined ? '' : ` issued before ${before}`;
  if (kind === 'token') return `the token ${subject}`;
  if (kind === 'api_key') return `the API key ${subject}`;
  return kind === 'agent' ? `the tokens of ${subject}${until}` : `the tokens of the tenant ${tenant_id}${until}`;
}

function rowOf({ revocation_id, kind, subject, issued_before, revoked_at, reason }: Revocation): string[] {
  return [revocation_id, kind, subject, issued_before ?? '', revoked_at, reason ?? ''];
}
