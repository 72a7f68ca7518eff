import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Authorized } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';

/**
 * The reason why a call cannot wait on record: it needs a credential made from its caller's own token, and tokens are
 * not kept (PRM-11). Checked before anybody waits or is asked in vain. Undefined when it can wait.
 * @param what what it would wait for, in words for the caller
 */
export function cannotWait(
  { secrets }: Pick<PipelineParts, 'secrets'>,
  { grant: { credentials } }: Authorized,
  what: string,
): Failure | undefined {
  const own = credentials.length === 0 ? [] : (secrets.ofCaller?.(credentials) ?? []);
  if (own.length === 0) return undefined;
  return failure(
    'E3302',
    `The tool needs ${own.join(', ')}, made from the caller's own token, and no token is kept while a call waits ${what}. ` +
      'Nothing was run. Call in a way that does not wait: without async_mode, and where no approval is needed.',
    { details: { missing: own, waits: true } },
  );
}
