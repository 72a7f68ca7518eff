import { systemClock } from '@sallyport/std/clock';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ToolView } from '../../api/schemas/visibility.ts';
import { memoryVisibilityStore } from '../../test/stores/memory-visibility-store.ts';
import { type Log, silentLog } from '../telemetry/log.ts';
import { activationFor, createVisibility, RULES_MAX, VIEWS_MAX, type Visibility, viewOf } from './visibility.ts';
import type { StoredRule, VisibilityStore } from './visibility-store.port.ts';

async function started(store: VisibilityStore, refreshMs = 5, log: Log = silentLog): Promise<Visibility> {
  const visibility = createVisibility({ store, clock: systemClock, log, refreshMs });
  onTestFinished(() => visibility.close());
  await visibility.start();
  return visibility;
}

const view = (name: string, agents: readonly string[]): ToolView => ({
  name,
  agents: [...agents],
  conflict: 'prefix',
  sources: [{ source: 'up' }],
});

const off = (agent_did: string, tool_id: string) => ({ agent_did, tool_id, enabled: false, policy_overrides: {} });

test('a tenant without rules has none, and rules of one tenant are not those of another', async () => {
  const visibility = await started(memoryVisibilityStore());
  expect(visibility.rulesOf('acme')).toBeUndefined();
  await visibility.setActivation('acme', off('did:a', 'send'));
  expect(visibility.rulesOf('acme')?.byAgent.get('did:a')?.get('send')?.enabled).toBe(false);
  expect(visibility.rulesOf('globex')).toBeUndefined();
});

test('what was said is replaced as a whole, and forgotten when it is removed', async () => {
  const visibility = await started(memoryVisibilityStore());
  await visibility.setActivation('acme', { ...off('did:a', 'send'), reason: 'trial' });
  await visibility.setActivation('acme', { ...off('did:a', 'send'), enabled: true });
  expect([...(visibility.rulesOf('acme')?.activations.values() ?? [])]).toMatchObject([{ enabled: true }]);
  expect(visibility.rulesOf('acme')?.byAgent.get('did:a')?.get('send')).not.toHaveProperty('reason');
  expect(await visibility.removeActivation('acme', { agent_did: 'did:a', tool_id: 'send' })).toBe(true);
  expect(await visibility.removeActivation('acme', { agent_did: 'did:a', tool_id: 'send' })).toBe(false);
  expect(visibility.rulesOf('acme')?.byAgent.size).toBe(0);
});

test('VIS-01 the activation for a user goes before that for all users of the agent, and neither removes the other', async () => {
  const visibility = await started(memoryVisibilityStore());
  const of = { agent_did: 'did:a', tool_id: 'send' };
  const ofUser = { ...of, user_did: 'did:u' };
  const enabled = () =>
    ['did:u', 'did:v', undefined].map((userDid) => {
      const rules = visibility.rulesOf('acme');
      return rules && activationFor(rules, { agentDid: 'did:a', userDid }, 'send')?.enabled;
    });
  await visibility.setActivation('acme', { ...off('did:a', 'send'), ...ofUser });
  expect(enabled()).toEqual([false, undefined, undefined]);
  await visibility.setActivation('acme', { ...off('did:a', 'send'), enabled: true });
  expect(enabled()).toEqual([false, true, true]);
  expect(await visibility.removeActivation('acme', ofUser)).toBe(true);
  expect(enabled()).toEqual([true, true, true]);
  await visibility.setActivation('acme', { ...off('did:a', 'send'), ...ofUser });
  expect(await visibility.removeActivation('acme', of)).toBe(true);
  expect(enabled()).toEqual([false, undefined, undefined]);
});

test('an agent and a tool are kept apart however their names run together', async () => {
  const visibility = await started(memoryVisibilityStore());
  await visibility.setActivation('acme', off('did:a","b', 'c'));
  await visibility.setActivation('acme', off('did:a', 'b","c'));
  expect(visibility.rulesOf('acme')?.activations.size).toBe(2);
});

test("REG-13.3 an agent's own view goes before the one for every agent, and comes back to it", async () => {
  const visibility = await started(memoryVisibilityStore());
  await visibility.putView('acme', view('all', ['*']));
  await visibility.putView('acme', view('mail', ['did:a']));
  const nameFor = (agent: string): string | undefined => {
    const rules = visibility.rulesOf('acme');
    return rules === undefined ? undefined : viewOf(rules, agent)?.view.name;
  };
  expect([nameFor('did:a'), nameFor('did:b')]).toEqual(['mail', 'all']);
  await visibility.removeView('acme', 'mail');
  expect(nameFor('did:a')).toBe('all');
  await visibility.removeView('acme', 'all');
  expect(nameFor('did:a')).toBeUndefined();
});

test('of two views that name one agent every instance chooses the same', async () => {
  const store = memoryVisibilityStore();
  const one = await started(store);
  await one.putView('acme', view('b', ['did:a']));
  await one.putView('acme', view('a', ['did:a']));
  const other = await started(store);
  for (const { rulesOf } of [one, other]) expect(rulesOf('acme')?.viewByAgent.get('did:a')?.view.name).toBe('a');
});

test('another instance follows, and tells of it', async () => {
  const store = memoryVisibilityStore();
  const [one, other] = [await started(store), await started(store)];
  const told = vi.fn();
  other.onChanged(told);
  await one.setAvailability('acme', { tool_id: 'send', available: false });
  await expect.poll(() => other.rulesOf('acme')?.availability.get('send')?.available).toBe(false);
  expect(told).toHaveBeenCalled();
});

test('changes of two instances at the same time are all there in both', async () => {
  const store = memoryVisibilityStore();
  const [one, other] = [await started(store), await started(store)];
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other).setActivation('acme', off('did:a', `t${i}`))),
  );
  for (const { rulesOf } of [one, other]) await expect.poll(() => rulesOf('acme')?.byAgent.get('did:a')?.size).toBe(20);
});

test('rules survive: a new instance starts with them', async () => {
  const store = memoryVisibilityStore();
  const one = await started(store);
  await one.putView('acme', view('mail', ['did:a']));
  await one.setAvailability('acme', { tool_id: 'send', available: true, reason: 'bought' });
  const rules = (await started(store)).rulesOf('acme');
  expect(rules?.views.get('mail')?.view).toEqual(view('mail', ['did:a']));
  expect(rules?.availability.get('send')).toMatchObject({ available: true, reason: 'bought' });
});

test('what the store refuses did not happen', async () => {
  const store = memoryVisibilityStore();
  const broken = { ...store, put: () => Promise.reject(new Error('disk full')) };
  const visibility = await started(broken);
  await expect(visibility.setActivation('acme', off('did:a', 'send'))).rejects.toThrow('disk full');
  expect(visibility.rulesOf('acme')).toBeUndefined();
});

test('a store that is away for a while is asked again', async () => {
  const store = memoryVisibilityStore();
  let away = true;
  const warned = vi.fn();
  const flaky = { ...store, revision: () => (away ? Promise.reject(new Error('away')) : store.revision()) };
  const visibility = await started(flaky, 5, { ...silentLog, warn: warned });
  await store.put({ tenantId: 'acme', kind: 'availability', key: 'send', rule: { tool_id: 'send', available: false } });
  await expect.poll(() => warned.mock.calls.length).toBeGreaterThan(0);
  away = false;
  await expect.poll(() => visibility.rulesOf('acme')?.availability.has('send')).toBe(true);
});

test('listeners hear of each change until they leave, and one that throws stops no other', async () => {
  const visibility = await started(memoryVisibilityStore());
  const heard: string[] = [];
  visibility.onChanged(() => {
    throw new Error('mine');
  });
  const leaving = visibility.onChanged(() => heard.push('leaving'));
  visibility.onChanged(() => heard.push('staying'));
  await visibility.setActivation('acme', off('did:a', 'send'));
  leaving[Symbol.dispose]();
  await visibility.removeActivation('acme', { agent_did: 'did:a', tool_id: 'send' });
  await visibility.removeActivation('acme', { agent_did: 'did:a', tool_id: 'send' });
  expect(heard).toEqual(['leaving', 'staying', 'staying']);
});

test('views and activations of a tenant have a bound, and what is there can still be replaced', async () => {
  const store = memoryVisibilityStore();
  const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const rules: StoredRule[] = [
    ...many(VIEWS_MAX, (i): StoredRule => {
      const rule = { view: view(`v${i}`, []), changed_at: '' };
      return { tenantId: 'acme', kind: 'view', key: `v${i}`, rule };
    }),
    ...many(RULES_MAX, (i): StoredRule => {
      const rule = { ...off('did:a', `t${i}`), changed_at: '' };
      return { tenantId: 'acme', kind: 'activation', key: JSON.stringify(['did:a', `t${i}`]), rule };
    }),
  ];
  const full = { ...store, loadAll: async () => ({ revision: 0, rules }) };
  const visibility = await started(full, 60_000);
  await expect(visibility.putView('acme', view('one-more', []))).rejects.toMatchObject({ code: 'E3810' });
  await expect(visibility.setActivation('acme', off('did:b', 't0'))).rejects.toMatchObject({ code: 'E3810' });
  await expect(visibility.putView('acme', view('v0', ['did:a']))).resolves.toMatchObject({
    view: { agents: ['did:a'] },
  });
  await expect(visibility.putView('globex', view('one-more', []))).resolves.toBeDefined();
});
