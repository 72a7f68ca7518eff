import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decisionsOf } from '../../../packages/sallyport/src/permission/gates/gates.fixture.ts';
import type { PolicyDecisions } from '../../../packages/sallyport/src/permission/policy-decisions.ts';
import type { PolicyEngine } from '../../../packages/sallyport/src/permission/policy-engine.port.ts';
import { ALL_ATTRIBUTES } from '../../../packages/sallyport/src/permission/policy-engines/cedar/attributes-used.ts';
import { createCedarPolicyEngine } from '../../../packages/sallyport/src/permission/policy-engines/cedar/cedar-policy-engine.ts';
import { cedarRequest } from '../../../packages/sallyport/src/permission/policy-engines/cedar/cedar-request.ts';
import { createRulesPolicyEngine } from '../../../packages/sallyport/src/permission/policy-engines/rules/rules-policy-engine.ts';
import { temporaryFolder } from '../../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';
import { median } from '../../report/statistics.ts';
import { policyText, QUESTIONS } from './policy-texts.ts';

const PEER = 'Cedar alone';
/** Questions that are asked before anything is measured. */
const WARM_UP = 3000;

/** Decisions with and without the memory of earlier ones, beside Cedar asked directly, and how long a reload takes. */
export async function runPolicy({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const ms = (seconds * 1000) / ROUNDS;
  const figures: Figure[] = [];
  for (const count of [1, 100, 1000]) {
    report(`${count} policies`);
    figures.push(await measureUncached(count, ms));
  }
  report('remembered decisions, static rules, reload');
  figures.push(await measureCached(ms), await measureRules(ms));
  for (const count of [100, 1000]) figures.push(await measureReload(count));
  return figures;
}

async function measureUncached(count: number, ms: number): Promise<Figure> {
  const engine = await createCedarPolicyEngine({ files: [{ name: 'a.cedar', text: policyText(count) }] });
  await engine.warm();
  const ours = askInTurn(engine);
  const peer = await cedarAlone(count);
  for (let at = 0; at < WARM_UP; at += 1) ours();
  const times: { own: number; peer: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push({ own: cpuUs(ours, ms), peer: cpuUs(peer, ms) });
  const bound = count === 1 ? undefined : { atMost: 0.4 };
  const own = figureOf(
    `decision with ${count} policies, not remembered, CPU`,
    'ms',
    inMs(times.map((time) => time.own)),
    bound,
  );
  return besidePeer(own, PEER, inMs(times.map((time) => time.peer)));
}

/** The module asked with everything there is to say, ready made. */
async function cedarAlone(count: number): Promise<() => unknown> {
  const cedar = await import('@cedar-policy/cedar-wasm/nodejs');
  const preparsedPolicySetId = `peer-${count}`;
  cedar.preparsePolicySet(preparsedPolicySetId, { staticPolicies: policyText(count) });
  const requests = QUESTIONS.map((question) => cedarRequest(question, ALL_ATTRIBUTES));
  let at = 0;
  return () => {
    at = (at + 1) % requests.length;
    const request = requests[at];
    if (request === undefined) return undefined;
    return cedar.statefulIsAuthorized({ ...request, preparsedPolicySetId, validateRequest: false });
  };
}

async function measureCached(ms: number): Promise<Figure> {
  const engine = await createCedarPolicyEngine({ files: [{ name: 'a.cedar', text: policyText(100) }] });
  const decisions = decisionsOf(engine);
  for (const question of QUESTIONS) await decisions.decide(question);
  const ask = askInTurn(decisions);
  return figureOf('decision, remembered, CPU', 'us', median(rounds(() => cpuUs(ask, ms))), { atMost: 2 });
}

async function measureRules(ms: number): Promise<Figure> {
  const rules = Array.from(
    { length: 100 },
    (_, at) => `[[tools.policy]]\neffect = "deny"\nagent = "did:x${at}"\ntool = "*${at}"\n`,
  );
  const text = `${rules.join('')}[[tools.policy]]\neffect = "allow"\n`;
  const engine = await createRulesPolicyEngine({ files: [{ name: 'rules.toml', text }] });
  return figureOf(
    'decision of the last of 100 static rules, CPU',
    'us',
    median(rounds(() => cpuUs(askInTurn(engine), ms))),
  );
}

async function measureReload(count: number): Promise<Figure> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'a.cedar');
  await writeFile(path, policyText(count));
  const engine = await createCedarPolicyEngine({ folder: folder.path });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await engine.warm();
    await writeFile(path, `${policyText(count)}\n// ${round}\n`);
    const started = performance.now();
    await engine.reload();
    times.push(performance.now() - started);
  }
  await rm(path);
  return figureOf(`reload of ${count} policies until they are in force`, 'ms', median(times), { atMost: 1000 });
}

function askInTurn({ decide }: Pick<PolicyEngine, 'decide'> | PolicyDecisions): () => unknown {
  let at = 0;
  return () => {
    at = (at + 1) % QUESTIONS.length;
    const question = QUESTIONS[at];
    return question === undefined ? undefined : decide(question);
  };
}

/** Median of microseconds, in ms. */
const inMs = (us: readonly number[]): number | undefined => median(us.map((each) => each / 1000));

const rounds = (measure: () => number): number[] => Array.from({ length: ROUNDS }, measure);

/** CPU time of one call, in microseconds, over a time. */
function cpuUs(work: () => unknown, ms: number): number {
  const end = performance.now() + ms;
  const before = process.cpuUsage();
  let count = 0;
  while (performance.now() < end) {
    for (let at = 0; at < 100; at += 1) work();
    count += 100;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
