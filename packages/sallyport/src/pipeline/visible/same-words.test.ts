import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

const AGENT = 'did:agent:a';
const VIEWED = 'did:agent:viewed';
/** Has as many letters as the names of the hidden tools, so that answers differ in the name only. */
const ABSENT = 'tabsnt';

/** A tenant with tools that an agent may not see, each for another reason. */
async function bench() {
  const layer = await pipeline();
  const { visibility, parts } = layer;
  for (const name of ['switch', 'taken_', 'double', 'secret']) {
    await layer.add(manifest(name), () => name);
    await layer.add(manifest(name, { version: '2.0.0' }), () => name);
  }
  await layer.add(manifest('remove'), () => 'removed');
  await parts.registry.removeAll('acme', ['remove']);
  await parts.registry.register('globex', manifest('others'));
  const disabled = { agent_did: AGENT, tool_id: 'switch', enabled: false, policy_overrides: {} };
  await visibility.setActivation('acme', disabled);
  await visibility.setAvailability('acme', { tool_id: 'taken_', available: false, reason: 'under review' });
  const sources = [{ source: 'local', tools: [{ tool: 'double', name: 'twice_' }] }];
  await visibility.putView('acme', { name: 'mine', agents: [VIEWED], conflict: 'prefix', sources });
  return layer;
}

/** The failure of a call and its record, with the tool's name replaced by that of the absent tool. */
function heard({ failure, state, toolVersion, warnings }: InvocationRecord, name: string): unknown {
  const told = { failure: { ...failure, cause: undefined }, state, toolVersion, warnings };
  return JSON.parse(JSON.stringify(told).replaceAll(name, ABSENT));
}

const RANGES = [undefined, '1.0.0', '9.9.9', '^7', 'no range'];
const ARGUMENTS = [{ n: 1 }, { n: 'wrong' }, { surplus: true }];

test.each([
  ['disabled for the agent', 'switch', AGENT, '*'],
  ['made unavailable to the tenant', 'taken_', AGENT, '*'],
  ["another tenant's", 'others', AGENT, '*'],
  ['not in the view of the agent', 'secret', VIEWED, '*'],
  ['renamed by the view of the agent', 'double', VIEWED, '*'],
  ['not covered by the token', 'secret', AGENT, 'double'],
  ['removed, and not covered by the token', 'remove', AGENT, 'double'],
  ['not covered by the token, under a name of the view', 'twice_', VIEWED, 'secret'],
  ['not covered by the token, under a name of the view that it covers', 'twice_', VIEWED, 't*'],
])(
  'VIS-01 PRM-10 a tool that is %s is refused in the words of one that is absent',
  async (_why, name, agent, covers) => {
    const { call, token, parts } = await bench();
    const capability_token = await token({ agent_did: agent, tool_id: covers });
    const asking = await parts.identify({ door: 'library' }, capability_token);
    if (isFailure(asking)) throw new Error(asking.message);
    for (const range of RANGES) {
      for (const parameters of ARGUMENTS) {
        const ask = async (tool_id: string): Promise<unknown> => {
          const version = range === undefined ? {} : { tool_version: range };
          return heard(await call({ tool_id, parameters, capability_token, ...version }), tool_id);
        };
        expect(await ask(name), `call of ${range}`).toEqual(await ask(ABSENT));
      }
      const read = (tool: string): unknown =>
        JSON.parse(JSON.stringify(parts.visible.read(asking, tool, range)).replaceAll(tool, ABSENT));
      expect(read(name), `read of ${range}`).toEqual(read(ABSENT));
    }
  },
);

test('VIS-01 the store is looked into for a hidden tool as for an absent one, so that neither takes longer', async () => {
  const { call, token, parts } = await bench();
  const capability_token = await token({ agent_did: AGENT });
  const identity = await parts.identify({ door: 'library' }, capability_token);
  if (isFailure(identity)) throw new Error(identity.message);
  const looked = parts.visible.findAnywhere(identity, 'switch');
  expect(looked).toBeInstanceOf(Promise);
  expect(await looked).toMatchObject({ code: 'E3001' });
  expect(parts.visible.findAnywhere(identity, ABSENT)).not.toBeInstanceOf(Promise);
  expect((await call({ tool_id: 'secret', parameters: { n: 1 }, capability_token })).state).toBe('COMPLETED');
});
