import type { ContextServerCalls } from '../../../bridges/context/context-server.port.ts';
import { CONTEXT_SETTINGS } from '../../../bridges/context/settings.ts';
import { type ContextBridge, createContextBridge } from '../../../bridges/context.ts';
import { valuesOf } from '../../../domain/settings/setting.ts';
import type { Upstreams } from '../../../mcp-servers/upstreams.ts';
import type { Ingredients } from '../ingredients.ts';

/** No credential of a caller reaches a context server: it is the operator who chose it. */
const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The client of the context servers, which are upstreams. */
export function contextBridgeOf(
  { settings, clock, log }: Pick<Ingredients, 'settings' | 'clock' | 'log'>,
  upstreams: () => Pick<Upstreams, 'current' | 'call'>,
): ContextBridge {
  const own = valuesOf(CONTEXT_SETTINGS, settings);
  const tenants = { catalog: settings['tenant.catalog'], name: own.upstream };
  return createContextBridge({ server: { call: callsOf(upstreams, tenants) }, settings: own, clock, log });
}

/** The upstream of the tenant, else the one of the catalogue. */
function callsOf(
  upstreams: () => Pick<Upstreams, 'current' | 'call'>,
  { catalog, name }: { readonly catalog: string; readonly name: string },
): ContextServerCalls['call'] {
  return async (owner, tool, args, options) => {
    if (name === '') return undefined;
    const known = upstreams();
    const holder = [owner.tenantId, catalog].find((tenantId) => known.current(tenantId, name) !== undefined);
    if (holder === undefined || known.current(holder, name)?.definition.disabled === true) return undefined;
    const { userDid } = owner;
    const principal = {
      tenantId: owner.tenantId,
      agentDid: owner.agentDid,
      ...(userDid === undefined ? {} : { userDid }),
    };
    return known.call(holder, name, tool, args, { ...options, caller: { principal, secrets: NO_SECRETS } });
  };
}
