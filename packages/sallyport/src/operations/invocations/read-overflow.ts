import { setImmediate } from 'node:timers/promises';
import { scanOutputInTurns } from '@sallyport/guards';
import { KiB } from '@sallyport/std/bytes';
import { failure } from '@sallyport/std/error/failure';
import { OverflowPage, OverflowRequest } from '../../../api/schemas/calls/overflow.ts';
import { taintedWarning } from '../../model-facing/tainted-warning.ts';
import { endWithinTokens } from '../../model-facing/token-estimate.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayReach } from './may-reach.ts';

/** Tokens of a page whose reader names no number. */
const TOKENS_DEFAULT = 10_000;
/** UTF-16 units of a page: a run of spaces has few tokens. */
const CHARACTERS_MAX = 512 * KiB;

/**
 * The whole text of a result that was shortened, page by page; `read_overflow` of MCP clients is this operation. Each page
 * is judged anew: of a long result only the first part was, and its reader may see this page alone.
 */
export const readOverflow = operation({
  name: 'invocations.overflow',
  summary: 'Read the whole text of a result that was shortened, page by page',
  method: 'GET',
  path: '/v1/invocations/{invocation_id}/overflow',
  status: 200,
  access: 'token',
  input: OverflowRequest,
  output: OverflowPage,
  run:
    ({ overflows }: Pick<OperationParts, 'overflows'>) =>
    async ({ invocation_id, offset = 0, tokens_max = TOKENS_DEFAULT, own = false }, asker) => {
      const found = await overflows.find(asker.principal.tenantId, invocation_id);
      if (found === undefined || !mayReach(asker, found, own ? undefined : 'viewer')) return noOverflow(invocation_id);
      const { text } = found;
      if (offset > text.length) return noPage(offset, text.length);
      const end = endWithinTokens(text.slice(0, offset + CHARACTERS_MAX), offset, tokens_max);
      // A page holds at least one character, or nobody would reach the end.
      const next = end > offset ? end : Math.min(text.length, offset + 2);
      const page = text.slice(offset, next);
      const warning = taintedWarning(await scanOutputInTurns(page, setImmediate));
      return {
        invocation_id,
        text: page,
        offset,
        ...(next < text.length ? { next_offset: next } : {}),
        characters: text.length,
        ...(warning === undefined ? {} : { warnings: [warning] }),
      };
    },
});

/** The same answer for a call that does not exist, one that is not the asker's, and a result that was whole. */
const noOverflow = (invocationId: string) =>
  failure(
    'E3809',
    `There is no overflow of invocation ${invocationId} that you may see: its result was whole, or the time to read more is over. Make the call again, and ask for less.`,
  );

const noPage = (offset: number, characters: number) =>
  failure('E3509', `The offset ${offset} is beyond the end: the text has ${characters} characters.`);
