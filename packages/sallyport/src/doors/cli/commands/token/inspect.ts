import type { TokenExplanation } from '../../../../../api/schemas/capability-token.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { wordsOf } from '../../output/templates.ts';
import { readCredential } from './read-credential.ts';

/** `token inspect`: 0 when the token is accepted, 1 when it is not. */
export function addInspectCommand(operation: AddOperation): void {
  operation('tokens.explain', {
    command: 'inspect',
    help: 'explain a token or API key claim by claim, and why it would be refused',
    args: ['token'],
    members: {
      token: {
        required: false,
        help: 'the token; standard input when absent or -, which keeps it out of the list of processes',
      },
    },
    input: async ({ token }, { parts }) => ({ token: await readCredential(token, parts.io) }),
    succeeded: ({ accepted }) => accepted,
    print: printToken,
  });
}

const KINDS: Readonly<Record<TokenExplanation['kind'], string>> = {
  capability_token: 'A capability token',
  access_token: 'An access token of the authorization server',
  api_key: 'An API key',
  unreadable: 'Not a token or API key that can be read',
};

function printToken({ kind, accepted, header, claims, reasons }: TokenExplanation, print: Printer): void {
  print.line(`${KINDS[kind]}, ${accepted ? 'accepted' : 'refused'}`, accepted ? 'good' : 'bad');
  if (header !== undefined) {
    const { alg, kid, typ } = header;
    print.line(
      `signed with ${alg}${kid === undefined ? '' : `, key ${kid}`}${typ === undefined ? '' : `, type ${typ}`}`,
    );
  }
  for (const { e_code, message } of reasons) print.note(`${e_code}: ${message}`);
  if (claims.length === 0) return;
  print.table(
    ['CLAIM', 'VALUE', 'MEANS'],
    claims.map(({ name, value, means }) => [name, shown(name, value), means ?? 'nothing to this layer']),
  );
}

const TIMES = new Set(['exp', 'iat', 'nbf']);
/** Latest second that Date can write. */
const SECOND_MAX = 8.64e12;

function shown(name: string, value: unknown): string {
  if (TIMES.has(name) && typeof value === 'number' && Math.abs(value) <= SECOND_MAX)
    return new Date(value * 1000).toISOString();
  return wordsOf(value);
}
