import type { Command } from 'commander';
import type { Revocation, TokenRevokeRequest } from '../../../../../api/schemas/identity/revocation.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { count } from '../../input/option-values.ts';
import { readCredential } from './read-credential.ts';

interface RevokeOptions {
  readonly jti?: string;
  readonly agent?: string;
  readonly wholeTenant?: true;
  readonly issuedBefore?: string;
  readonly reason?: string;
}

/** `token revoke|revocations|restore`. */
export function addRevokeCommands(token: Command, kit: CommandKit): void {
  addRevokeCommand(token, kit);
  const list = token
    .command('revocations')
    .description('what is revoked, the latest first')
    .option('--page <number>', 'page of fifty; the first when absent', count);
  kit.asking<{ readonly page?: number }>(list, async ({ layer, caller, print }, _args, { page }) => {
    const answer = await layer.ask('revocations.list', page === undefined ? {} : { page }, caller);
    if (print.json) print.value(answer);
    else if (answer.revocations.length === 0) print.note('Nothing is revoked.');
    else {
      print.table(
        ['REVOCATION', 'KIND', 'SUBJECT', 'ISSUED BEFORE', 'REVOKED', 'REASON'],
        answer.revocations.map(rowOf),
      );
    }
    return EXIT.ok;
  });
  const restore = token.command('restore').description('take a revocation back').argument('<revocation>', 'its id');
  kit.asking(restore, async ({ layer, caller, print }, [id]) => {
    const lifted = await layer.ask('revocations.lift', { revocation_id: String(id) }, caller);
    if (print.json) print.value(lifted);
    else print.line(`Took back: ${said(lifted)}`);
    return EXIT.ok;
  });
}

function addRevokeCommand(token: Command, kit: CommandKit): void {
  const revoke = token
    .command('revoke')
    .description('revoke one token or API key, or the tokens of an agent or of the tenant')
    .argument('[token]', 'the token; standard input when absent or -, unless an option says what to revoke')
    .option('--jti <id>', 'the token with this id')
    .option('--agent <did>', 'every token of this agent, those to come too')
    .option('--whole-tenant', 'every token of the tenant that was issued until now')
    .option('--issued-before <time>', 'with --agent or --whole-tenant: only tokens issued before, in ISO 8601')
    .option('--reason <text>', 'why, for people');
  kit.asking<RevokeOptions>(revoke, async ({ layer, caller, print, parts }, [given], options) => {
    const { jti, agent, wholeTenant, issuedBefore, reason } = options;
    const isNamed = jti !== undefined || agent !== undefined || wholeTenant !== undefined;
    const credential = isNamed && given === undefined ? undefined : await readCredential(given, parts.io);
    const request = {
      token: credential,
      jti,
      agent_did: agent,
      whole_tenant: wholeTenant,
      issued_before: issuedBefore,
      reason,
    };
    const answer = await layer.ask('tokens.revoke', withoutAbsent(request), caller);
    if (print.json) print.value(answer);
    else print.line(`Revoked ${said(answer)} (${answer.revocation_id})`);
    return EXIT.ok;
  });
}

function withoutAbsent(request: { [K in keyof TokenRevokeRequest]-?: TokenRevokeRequest[K] | undefined } | object) {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as TokenRevokeRequest;
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
