import { ProtocolError } from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type HideSecrets, hideInValue, hidingLogs } from '../../../external/hide-secrets.ts';
import type { Link } from '../link.ts';
import type { RequestOptions } from '../request-table.ts';

/**
 * The same connection for callers who do not know its secrets: results, progress and errors of the server do not reveal
 * them (PRM-11). The same object when it has no secrets.
 */
export function withoutSecrets(link: Link): Link {
  const { hide } = link;
  if (hide === undefined) return link;
  return {
    ...link,
    async call(tool, args, options) {
      try {
        return hideInValue(await link.call(tool, args, watched(options, hide)), hide);
      } catch (thrown) {
        throw hidden(thrown, hide);
      }
    },
    async follow(task, options) {
      try {
        return hideInValue(await link.follow(task, watched(options, hide)), hide);
      } catch (thrown) {
        throw hidden(thrown, hide);
      }
    },
  };
}

function watched<Options extends RequestOptions>(options: Options, hide: HideSecrets): Options {
  const { onProgress, onCheckpoint, asker } = options;
  return {
    ...options,
    ...(asker?.logs === undefined ? {} : { asker: { ...asker, logs: hidingLogs(asker.logs, hide) } }),
    ...(onCheckpoint === undefined
      ? {}
      : { onCheckpoint: (given) => onCheckpoint(isWithout(given, hide) ? given : undefined) }),
    ...(onProgress === undefined
      ? {}
      : {
          onProgress: ({ message, ...progress }) =>
            onProgress(message === undefined ? progress : { ...progress, message: hide(message) }),
        }),
  };
}

/** False also for what is nested too deeply to be searched. */
function isWithout(given: unknown, hide: HideSecrets): boolean {
  try {
    return hideInValue(given, hide) === given;
  } catch {
    return false;
  }
}

/** The same error when its text contains no secret. */
function hidden(thrown: unknown, hide: HideSecrets): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const message = hide(thrown.message);
  if (thrown instanceof ProtocolError) return new ProtocolError(thrown.code, message, hideInValue(thrown.data, hide));
  if (message === thrown.message) return thrown;
  return thrown instanceof ToolLayerError ? new ToolLayerError(thrown.code, message, thrown.failure) : thrown;
}
