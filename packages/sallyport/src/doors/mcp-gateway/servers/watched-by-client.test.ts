import { expect, test } from 'vitest';
import { createOpenRegister } from '../../../domain/principal/open-register.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { seenOffers } from './seen-offers.ts';
import { watchedByClient } from './watched-by-client.ts';

const CALLER: Caller = { door: 'mcp', token: 'token' };
const SEEN = seenOffers({
  servers: [{ upstream: 'notes', listed: {}, tools: { 'resources/read': 'notes__resources-read' } }],
  resources: [],
  templates: [],
  prompts: [],
});

/** What one client watches; offers are there once the test says so. @param mayRead whether a policy lets it read */
function client(mayRead = true) {
  const there = Promise.withResolvers<typeof SEEN>();
  const register = createOpenRegister('resources', { max: 9, perTenantMax: 9, perHolderMax: 9 });
  let watching = 0;
  const ask = async (operation: string): Promise<unknown> => {
    if (operation === 'tokens.inspect') return { tenant_id: 'acme', agent_did: 'did:agent:a' };
    return mayRead ? { would: 'run' } : { would: 'refuse', error: { e_code: 'E3209', message: 'No.' } };
  };
  const watched = watchedByClient({
    layer: { ask } as unknown as ToolLayer,
    log: silentLog,
    offers: { of: () => there.promise },
    updates: {
      async watch() {
        watching += 1;
        return {
          [Symbol.dispose]() {
            watching -= 1;
          },
        };
      },
    },
    register,
    upstream: undefined,
    notify: () => {},
  });
  const held = () => ({ watching, places: register.size });
  return { watched, held, appear: () => there.resolve(SEEN) };
}

test('API-03.21 a resource that a client asks for twice at once is watched once, and takes one place', async () => {
  const { watched, held, appear } = client();
  const both = [watched.add('note://a', CALLER), watched.add('note://a', CALLER)];
  appear();
  expect(await Promise.all(both)).toEqual([true, true]);
  expect(held()).toEqual({ watching: 1, places: 1 });
  watched.remove('note://a');
  expect(held()).toEqual({ watching: 0, places: 0 });
});

test('API-03.21 both requests for a resource that may not be read are refused', async () => {
  const { watched, held, appear } = client(false);
  const both = [watched.add('note://a', CALLER), watched.add('note://a', CALLER)];
  appear();
  expect(await Promise.allSettled(both)).toMatchObject([{ reason: { code: 'E3209' } }, { reason: { code: 'E3209' } }]);
  expect(held()).toEqual({ watching: 0, places: 0 });
});

test('API-03.26 nothing is watched for a client that left while it subscribed', async () => {
  const { watched, held, appear } = client();
  const asked = watched.add('note://a', CALLER);
  watched[Symbol.dispose]();
  appear();
  expect(await asked).toBe(false);
  expect(held()).toEqual({ watching: 0, places: 0 });
});
