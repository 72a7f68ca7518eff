import assert from 'node:assert/strict';
import { assertRefused, assertResult, invoke, refusalOf, type TrustParts } from '../trust-story.ts';

interface Fault {
  readonly path: string;
  readonly keyword: string;
  readonly code: string;
  readonly hint: string;
}

/** What becomes of arguments that do not fit, or that would do something where they are put. */
export async function argumentsChapter(parts: TrustParts): Promise<void> {
  parts.story.step('Arguments');
  await faults(parts);
  await conversions(parts);
  await injection(parts);
}

async function faults(parts: TrustParts): Promise<void> {
  const lines = [{ text: 'a' }, { bold: true, size: 3 }];
  const refused = await invoke(parts, 'order', { article: 'pensil', pieces: 0, lines });
  const { faults = [] } = (refusalOf(refused)?.details ?? {}) as { faults?: readonly Fault[] };
  parts.story.holds('every fault is reported at once, with its place and what to change', () => {
    assertRefused(refused, 'E3509');
    assert.deepEqual(
      new Set(faults.map(({ path }) => path)),
      new Set(['/article', '/pieces', '/lines/1/text', '/lines/1/size']),
      JSON.stringify(faults),
    );
    assert.ok(faults.every(({ hint }) => hint.length > 0));
    assert.match(faults.find(({ path }) => path === '/article')?.hint ?? '', /pencil/);
  });
}

async function conversions(parts: TrustParts): Promise<void> {
  const converted = await invoke(parts, 'order', { article: 'pencil', pieces: '12' });
  const lossy = await invoke(parts, 'order', { article: 'pencil', pieces: '12abc' });
  parts.story.holds('"12" is taken for 12, and "12abc" for nothing', () => {
    assertResult(converted, { article: 'pencil', pieces: 12 });
    assertRefused(lossy, 'E3502');
    assert.match(JSON.stringify(refusalOf(lossy)), /\/pieces/);
  });
}

async function injection(parts: TrustParts): Promise<void> {
  const { story, runsOf } = parts;
  const attack = "x' OR '1'='1' UNION SELECT password FROM users --";
  const runs = runsOf('find-rows');
  const plain = await invoke(parts, 'find-rows', { name: attack });
  story.holds('SQL in a field for a name is refused, with its place', () => {
    assertRefused(plain, 'E3503');
    assert.match(JSON.stringify(refusalOf(plain)), /\/name/);
    assert.equal(runsOf('find-rows'), runs);
  });
  const declared = await invoke(parts, 'find-rows', { statement: attack });
  const name = await invoke(parts, 'find-rows', { name: "Rock 'n' Roll: select a union or drop by" });
  story.holds(
    'the same words pass where the schema says that a field holds SQL, and quotes in prose pass anywhere',
    () => {
      assertResult(declared, attack);
      assertResult(name, "Rock 'n' Roll: select a union or drop by");
    },
  );
}
