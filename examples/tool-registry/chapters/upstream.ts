import assert from 'node:assert/strict';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { asJson, codeOf, invoke, type RegistryParts, until } from '../registry-story.ts';

const BALANCE = 'ledger__get_balance';

/** An MCP server that changes a tool after it was accepted. */
export async function upstreamChapter(parts: RegistryParts): Promise<void> {
  const { story, layer, sallyport, here } = parts;
  story.step('An MCP server that changes its tools');
  const added = await sallyport('upstreams', 'add', 'ledger', '--', process.execPath, here('ledger-server.ts'));
  const balance = () => invoke(parts, BALANCE, { account: 'rent' });
  const before = await balance();
  story.holds('its tools are registered when it is added, in a sandbox', () => {
    assert.equal(added.code, 0, added.stderr);
    assert.match(JSON.stringify(before.body['result']), /rent: 120 \(release 1/);
  });

  await invoke(parts, 'ledger__update', {});
  const waiting = async () => (await layer.ask('upstreams.quarantine', { name: 'ledger' }, LOCAL_CALLER)).quarantined;
  await until('both definitions wait', async () => (await waiting()).length === 2);
  const during = await balance();
  story.holds('a tool whose definition changed waits in quarantine, and a call of it is refused', () => {
    assert.equal(codeOf(during), 'E3813');
  });
  const shown = await sallyport('upstreams', 'quarantine', 'ledger');
  story.holds('upstreams quarantine shows what changed, and what hides in a new description', () => {
    assert.match(
      shown.stdout,
      /- Tells the balance of an account\.[\s\S]*\+ Tells the balance of an account, and notes/,
    );
    assert.match(shown.stdout, /attention-tag|concealment/);
  });
  await decided(parts, balance, (await waiting()).find(({ tool_id }) => tool_id === BALANCE)?.content_hash ?? '');
}

async function decided(parts: RegistryParts, balance: () => ReturnType<typeof invoke>, hash: string): Promise<void> {
  const { story, layer } = parts;
  const decision = { name: 'ledger', tool: BALANCE, content_hash: '0'.repeat(64) };
  await assert.rejects(layer.ask('upstreams.accept', decision, LOCAL_CALLER), { code: 'E3704' });
  await asJson(parts, 'upstreams', 'accept', 'ledger', BALANCE, '--hash', hash);
  const after = await balance();
  const { versions } = await layer.ask('tools.history', { tool_id: BALANCE }, LOCAL_CALLER);
  story.holds('once somebody accepts what they looked at, it is a new version, and the call goes through', () => {
    assert.match(JSON.stringify(after.body['result']), /rent: 120 \(release 2/);
    const states = versions.map(({ version, state }) => `${version} ${state}`);
    assert.deepEqual(states, ['1.1.0 active', '1.0.0 deprecated']);
  });
  await layer.ask('upstreams.reject', { name: 'ledger', tool: 'ledger__get_help' }, LOCAL_CALLER);
  const rejected = await invoke(parts, 'ledger__get_help', {});
  story.holds('what was rejected never becomes a tool', () => {
    assert.equal(codeOf(rejected), 'E3001');
  });
}
