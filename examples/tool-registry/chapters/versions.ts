import assert from 'node:assert/strict';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { asJson, codeOf, invoke, overRest, type RegistryParts } from '../registry-story.ts';

/** Euros that one unit is worth. */
const RATES: Readonly<Record<string, number>> = { EUR: 1, USD: 0.5, GBP: 1.25 };
const convert = (amount: unknown, from: unknown, to: unknown): number =>
  (Number(amount) * (RATES[String(from)] ?? 0)) / (RATES[String(to)] ?? 1);

const OPERATOR = { roles: ['operator' as const] };
const ID = 'convert-currency';
const currency = (description: string) => ({ type: 'string', enum: Object.keys(RATES), description });
const AMOUNT = { amount: { type: 'number', description: 'How much.' } };
const OLD: ToolManifest = {
  tool_id: ID,
  tool_name: 'Convert currency',
  version: '1.0.0',
  description: 'Converts an amount from one currency into another.',
  category: 'computation',
  tags: ['finance'],
  side_effect_policy: 'pure',
  parameters_schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { ...AMOUNT, from: currency('From.'), to: currency('Into.') },
    required: ['amount', 'from', 'to'],
    additionalProperties: false,
  },
  executor: { kind: 'native' },
};
const NEW: ToolManifest = {
  ...OLD,
  version: '2.0.0',
  parameters_schema: {
    ...OLD.parameters_schema,
    properties: { ...AMOUNT, from_currency: currency('From.'), to_currency: currency('Into.') },
    required: ['amount', 'from_currency', 'to_currency'],
  },
};
const OLD_CALL = { amount: 10, from: 'USD', to: 'EUR' };
const NEW_CALL = { amount: 10, from_currency: 'USD', to_currency: 'EUR' };

/** Two versions of one tool, from registration to the end of the older one. */
export async function versionsChapter(parts: RegistryParts): Promise<void> {
  parts.story.step('Two versions of a tool');
  await registered(parts);
  await compared(parts);
  parts.story.step('How a version leaves');
  await warned(parts);
  await removed(parts);
  parts.story.step('How well a tool is described');
  await judged(parts);
}

async function registered(parts: RegistryParts): Promise<void> {
  const { story, layer } = parts;
  const first = await layer.registerFunction(OLD, ({ amount, from, to }) => convert(amount, from, to));
  const second = await overRest(parts, '/v1/tools', OPERATOR, { manifest: NEW });
  await layer.bindFunction(
    ID,
    (given) => convert(given['amount'], given['from_currency'], given['to_currency']),
    '2.0.0',
  );
  story.holds('one comes from the program, the other over REST', () => {
    assert.deepEqual([first.outcome, second.status, second.body['outcome']], ['created', 201, 'created']);
  });
  const again = await overRest(parts, '/v1/tools', OPERATOR, { manifest: NEW });
  const other = await overRest(parts, '/v1/tools', OPERATOR, { manifest: { ...NEW, description: 'Something else.' } });
  story.holds('the same again changes nothing, and other content under one version is refused', () => {
    assert.deepEqual([again.body['outcome'], other.status, codeOf(other)], ['unchanged', 409, 'E3007']);
  });
  const ranged = await invoke(parts, ID, OLD_CALL, { tool_version: '^1.0.0' });
  const newest = await invoke(parts, ID, NEW_CALL);
  story.holds('a range picks the version that runs, and no range the newest', () => {
    assert.partialDeepStrictEqual(ranged.body, { status: 'success', tool_version: '1.0.0', result: 5 });
    assert.partialDeepStrictEqual(newest.body, { status: 'success', tool_version: '2.0.0', result: 5 });
  });
}

async function compared(parts: RegistryParts): Promise<void> {
  const diff = await asJson(parts, 'tools', 'diff', ID, '1.0.0', '2.0.0');
  const { changes } = diff as { changes: readonly { path: string; severity: string }[] };
  parts.story.holds('tools diff says that it breaks callers, where, and that the number admits it', () => {
    assert.partialDeepStrictEqual(diff, { breaking: true, step: 'major', step_honoured: true });
    const breaking = changes.filter(({ severity }) => severity === 'breaking').map(({ path }) => path);
    const schema = '/parameters_schema';
    assert.deepEqual(
      new Set(breaking),
      new Set([`${schema}/properties/from`, `${schema}/properties/to`, `${schema}/required`]),
    );
  });
}

async function warned(parts: RegistryParts): Promise<void> {
  const { story, sallyport } = parts;
  const words = ['--in-favor-of', '2.0.0', '--guide', 'from is called from_currency now', '--reason', 'Clearer names'];
  await asJson(parts, 'tools', 'deprecate', ID, '--version', '1.0.0', ...words);
  const call = () => invoke(parts, ID, OLD_CALL, { tool_version: '1.0.0' });
  const { body } = await call();
  const { warnings = [] } = body as { warnings?: readonly { code: string; details?: object }[] };
  story.holds('a deprecated version works, and its warning says what to use instead and how', () => {
    assert.equal(body['result'], 5);
    const details = { deprecated_in_favor_of: '2.0.0', migration_guide: 'from is called from_currency now' };
    assert.partialDeepStrictEqual(warnings.find(({ code }) => code === 'E3003')?.details, details);
  });
  await overRest(parts, `/v1/tools/${ID}/sunset`, OPERATOR, {});
  const early = await sallyport('tools', 'remove', ID, '--version', '1.0.0');
  const still = await call();
  story.holds('its end is announced, but before its days of warning are over it cannot be removed', () => {
    assert.equal(early.code, 1, early.stdout);
    assert.match(early.stderr, /E3814 state_conflict/);
    assert.equal(still.body['status'], 'success');
  });
}

async function removed(parts: RegistryParts): Promise<void> {
  const request = { tool_id: ID, version: '1.0.0', force: true, reason: 'Nobody calls it' };
  await parts.layer.ask('tools.remove', request, LOCAL_CALLER);
  const refused = await invoke(parts, ID, OLD_CALL, { tool_version: '1.0.0' });
  parts.story.holds('unless it is forced: then a call of it is refused, and says that it was removed', () => {
    assert.deepEqual([refused.status, codeOf(refused)], [410, 'E3004']);
  });
  const { versions } = await asJson(parts, 'tools', 'history', ID);
  const [, old] = versions as readonly { state: string; changes: readonly { state: string }[] }[];
  parts.story.holds('tools history has every state that it was in', () => {
    const states = old?.changes.map(({ state }) => state).filter((state) => state !== 'active');
    assert.deepEqual([old?.state, states], ['removed', ['deprecated', 'sunset', 'removed']]);
  });
}

async function judged(parts: RegistryParts): Promise<void> {
  const { story, sallyport, here } = parts;
  const checked = await sallyport('tools', 'check', here('inputs/faulty-tool.json'), '--json');
  const [check] = (JSON.parse(checked.stdout) as { checks: { valid: boolean; faults: { path: string }[] }[] }).checks;
  story.holds('tools check names every fault of a manifest at once, and registers nothing', () => {
    const schema = '/parameters_schema/properties';
    const paths = ['/tool_id', '/version', `${schema}/person/$ref`, `${schema}/code/pattern`];
    assert.deepEqual([checked.code, check?.valid], [1, false]);
    assert.deepEqual(check?.faults.map(({ path }) => path).sort(), paths.sort());
  });
  const { body } = await overRest(parts, `/v1/tools/${ID}/compliance`, {});
  story.holds('the schemas of a tool are scored: nothing is missing in a tool that is described well', () => {
    assert.partialDeepStrictEqual(body['compliance'], { score: 100, findings: [] });
  });
}
