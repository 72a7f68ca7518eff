import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Link, UpstreamCallResult } from '../link.ts';
import { inMidCall, type ListingWait, unchecked } from '../listing/fresh-listing.ts';
import { callRequestOptionsOf, type SupervisedParts, type UpstreamCallOptions } from '../supervised-parts.ts';

/** The connection of a call, and the tools as its server lists them there. */
export interface ListedLink {
  readonly link: Link;
  /** Hash of a tool's definition in the last listing; undefined when it is not listed. */
  hashOf(tool: string): string | undefined;
  /** Lists the tools anew. */
  listFresh(wait: ListingWait): Promise<void>;
}

/**
 * Calls a tool, unless it differs from the accepted definition; the server is asked for its tools again right before a
 * tool with side effects runs.
 */
export async function callChecked(
  { definition, clock, refusal }: Pick<SupervisedParts, 'definition' | 'clock' | 'refusal'>,
  { link, hashOf, listFresh }: ListedLink,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  options: UpstreamCallOptions,
): Promise<UpstreamCallResult> {
  const startedAt = clock.monotonic();
  const compare = (): void => {
    const refused = refusal(tool, hashOf(tool));
    if (refused !== undefined) throw ToolLayerError.of(refused);
  };
  const check = (): Promise<void> | undefined => {
    if (options.leavesTraces !== true) return void compare();
    return listFresh(options).then(compare, (thrown: unknown) => {
      throw unchecked(definition.name, thrown, options, link.hide);
    });
  };
  // Fast path: a tool without side effects waits for nothing.
  const checking = check();
  if (checking !== undefined) await checking;
  const passed = clock.monotonic() - startedAt;
  const timeoutMs = options.timeoutMs === undefined ? undefined : Math.max(1, options.timeoutMs - passed);
  const asked = callRequestOptionsOf(options, definition);
  return link.call(tool, args, { ...asked, timeoutMs, beforeAgain: () => inMidCall(check) });
}
