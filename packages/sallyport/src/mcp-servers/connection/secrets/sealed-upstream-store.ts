import { isSealed, openText, sealText } from '@sallyport/std/text/sealed-text';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { StoredUpstream, UpstreamStore } from '../../upstream-store.port.ts';
import { referenceFor, secretArgument } from './literal-secrets.ts';

/** Changes one text of a definition; `place` names its position. */
type Change = (text: string, place: string) => string;

const REFERENCE = /^[^{}]{0,32}\{\{[A-Za-z0-9_.-]+\}\}$/;

/**
 * Encrypts possible secrets in the row of their upstream, so that they are deleted with it (EXT-01): every value of
 * `env` and `headers` that is no reference to a secret, arguments that look like one, and a URL with a query or a user.
 * Rows from before encryption are encrypted when loaded. A value that this key cannot decrypt is looked up in the
 * secret store as `UPSTREAM.NAME` from then on.
 */
export function sealedUpstreamStore(store: UpstreamStore, key: Uint8Array, log: Log): UpstreamStore {
  const put: UpstreamStore['put'] = ({ tenantId, definition }, events) => {
    const sealed = changed(definition, (text, place) => sealText(key, text, placeOf(tenantId, definition, place)));
    return store.put({ tenantId, definition: sealed }, events);
  };
  return {
    ...store,
    put,
    async find(tenantId, name) {
      const definition = await store.find(tenantId, name);
      return definition && openOne({ tenantId, definition }, key, log).upstream.definition;
    },
    async loadAll() {
      const stored = await store.loadAll();
      const opened: StoredUpstream[] = [];
      for (const each of stored) {
        const { upstream, isPlain } = openOne(each, key, log);
        if (isPlain) await put(upstream);
        opened.push(upstream);
      }
      return opened;
    },
  };
}

function openOne(
  { tenantId, definition }: StoredUpstream,
  key: Uint8Array,
  log: Log,
): { readonly upstream: StoredUpstream; readonly isPlain: boolean } {
  const closed: string[] = [];
  let isPlain = false;
  const opened = changed(definition, (text, place) => {
    if (!isSealed(text)) {
      isPlain = true;
      return text;
    }
    const value = openText(key, text, placeOf(tenantId, definition, place));
    if (value !== undefined) return value;
    closed.push(place);
    return referenceFor(definition.name, place);
  });
  if (closed.length > 0) log.error('upstream-secrets-unreadable', { upstream: definition.name, names: closed });
  return { upstream: { tenantId, definition: opened }, isPlain: isPlain && closed.length === 0 };
}

const placeOf = (tenantId: string, { name }: UpstreamDefinition, place: string): string =>
  JSON.stringify([tenantId, name, place]);

/** The definition with every encrypted text changed. */
function changed(definition: UpstreamDefinition, change: Change): UpstreamDefinition {
  const values = (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, REFERENCE.test(value) ? value : change(value, name)]),
    );
  const { transport } = definition;
  if (transport.type === 'embedded') return definition;
  if (transport.type !== 'stdio') {
    const { url, headers } = transport;
    const isPrivate = isSealed(url) || (URL.canParse(url) && /[?@]/.test(url));
    return {
      ...definition,
      transport: {
        ...transport,
        url: isPrivate ? change(url, 'url') : url,
        ...(headers === undefined ? {} : { headers: values(headers) }),
      },
    };
  }
  const { env, args } = transport;
  return {
    ...definition,
    transport: {
      ...transport,
      ...(args === undefined
        ? {}
        : {
            args: args.map((arg, at) =>
              isSealed(arg) || secretArgument(args, at) !== undefined ? change(arg, `args.${at}`) : arg,
            ),
          }),
      ...(env === undefined ? {} : { env: values(env) }),
    },
  };
}
