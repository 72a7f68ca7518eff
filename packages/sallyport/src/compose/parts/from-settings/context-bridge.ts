import type { ContextServerCalls } from '../../../bridges/context/context-server.port.ts';
import { CONTEXT_SETTINGS } from '../../../bridges/context/settings.ts';
import { type ContextBridge, createContextBridge } from '../../../bridges/context.ts';
import { valuesOf } from '../../../domain/settings/setting.ts';
import type { Upstreams } from '../../../mcp-servers/upstreams.ts';
import type { Ingredients } from '../ingredients.ts';
import type { Storage } from '../open-storage.ts';

/** No credential of a caller reaches a context server: it is the operator who chose it. */
const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The client of the context servers, which are upstreams. */
export function contextBridgeOf(
  { settings, clock, log }: Pick<Ingredients, 'settings' | 'clock' | 'log'>,
  { storage: { database }, instanceId }: { readonly storage: Storage; readonly instanceId: string },
  upstreams: () => Pick<Upstreams, 'definition' | 'call'>,
): ContextBridge {
  const own = valuesOf(CONTEXT_SETTINGS, settings);
  const tenants = { catalog: settings['tenant.catalog'], name: own.upstream };
  return createContextBridge({
    server: serverOf(upstreams, tenants),
    ...{ store: database.checkpointStore, instanceId, settings: own, clock, log },
  });
}

/** The upstream of the tenant, else the one of the catalogue. */
function serverOf(
  upstreams: () => Pick<Upstreams, 'definition' | 'call'>,
  { catalog, name }: { readonly catalog: string; readonly name: string },
): ContextServerCalls {
  const holderOf = (tenantId: string): string | undefined => {
    const known = upstreams();
    const holder = [tenantId, catalog].find((each) => known.definition(each, name) !== undefined);
    if (name === '' || holder === undefined) return undefined;
    return known.definition(holder, name)?.disabled === true ? undefined : holder;
  };
  return {
    has: (tenantId) => holderOf(tenantId) !== undefined,
    async call({ tenantId, agentDid, userDid }, tool, args, options) {
      const holder = holderOf(tenantId);
      if (holder === undefined) return undefined;
      const principal = { tenantId, agentDid, ...(userDid === undefined ? {} : { userDid }) };
      return upstreams().call(holder, name, tool, args, { ...options, caller: { principal, secrets: NO_SECRETS } });
    },
  };
}
