import { KiB } from '@sallyport/std/bytes';
import { visibleText } from '@sallyport/std/text/visible-text';
import type { Offer } from '../../../../api/schemas/offers.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { UI_EXTENSION, UI_MIME_TYPE } from '../../../domain/tool/mcp-apps.ts';
import type { Params } from '../../json-rpc.ts';
import type { Introduction } from '../../mcp-server.ts';
import { withTaskCapabilities } from '../tasks/task-capabilities.ts';
import type { SeenOffers } from './seen-offers.ts';

/** Longest instructions of one upstream beside those of others, and of all together, in characters. */
const EACH_CHARS_MAX = 4 * KiB;
const ALL_CHARS_MAX = 32 * KiB;
const LIST_CHANGED = { listChanged: true };
/** User interfaces of tools are passed on (MCP Apps). */
const EXTENSIONS = { [UI_EXTENSION]: { mimeTypes: [UI_MIME_TYPE] } };

/** The capabilities of the gateway to all upstreams beside its tools. */
export const ALL_OFFERS: Params = {
  resources: { subscribe: true, ...LIST_CHANGED },
  prompts: LIST_CHANGED,
  completions: {},
  extensions: EXTENSIONS,
};

/**
 * The introduction at the address of one upstream: what its server says, as far as the token may use it.
 * @param hasTasks true when calls can be tasks
 */
export function introduceServer({ listed, tools }: Offer, hasTasks: boolean): Introduction {
  const { instructions, capabilities } = listed;
  const offered = isObject(capabilities) ? capabilities : {};
  const { resources } = offered;
  const shared = {
    tools: LIST_CHANGED,
    ...(tools['resources/read'] === undefined
      ? {}
      : {
          resources: {
            ...LIST_CHANGED,
            ...(isObject(resources) && resources['subscribe'] === true ? { subscribe: true } : {}),
          },
        }),
    ...(tools['prompts/get'] === undefined ? {} : { prompts: LIST_CHANGED }),
    ...(tools['completion/complete'] === undefined ? {} : { completions: {} }),
    extensions: EXTENSIONS,
  };
  const all = { ...shared, logging: {} };
  const eras = { legacy: all, modern: all };
  return {
    capabilities: hasTasks ? withTaskCapabilities(eras) : eras,
    instructions: typeof instructions === 'string' ? visibleText(instructions, ALL_CHARS_MAX) : undefined,
  };
}

/** What each upstream says of its use, marked as its words: each line begins with a sign that no line of ours has. */
export function instructionsOfAll({ servers }: Pick<SeenOffers, 'servers'>): string {
  let left = ALL_CHARS_MAX;
  const parts = servers.flatMap(({ upstream, listed: { instructions } }) => {
    if (typeof instructions !== 'string' || left <= 0) return [];
    const text = visibleText(instructions.trim(), Math.min(EACH_CHARS_MAX, left));
    left -= text.length;
    return [`The server ${upstream} says of its tools:\n${text.replaceAll(/^/gm, '> ')}`];
  });
  return parts.length === 0 ? '' : `\n\n${parts.join('\n\n')}`;
}
