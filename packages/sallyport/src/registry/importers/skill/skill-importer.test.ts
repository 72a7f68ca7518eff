import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import type { SkillFile } from '../../importer.port.ts';
import { checkManifest } from '../../manifests/check-manifest.ts';
import { SkillPackage } from '../../skill-package.ts';
import { wireCheck } from '../../wire-faults.ts';
import { importSkills } from './skill-importer.ts';

const file = (path: string, content: string | Uint8Array = '', more: Partial<SkillFile> = {}): SkillFile => ({
  path,
  bytes: typeof content === 'string' ? Buffer.from(content) : content,
  ...more,
});
const skill = (front: string, body = 'Do it.'): string => `---\n${front}\n---\n${body}`;
const GOOD = skill('name: pdf\ndescription: Reads PDF files.');
const configOf = (files: SkillFile[]): SkillPackage =>
  importSkills(files).manifests[0]?.executor.config as unknown as SkillPackage;
const refusal = (files: SkillFile[]): ToolLayerError => {
  try {
    importSkills(files);
  } catch (thrown) {
    return thrown as ToolLayerError;
  }
  return expect.unreachable('the skill must be refused');
};
const faultsIn = ({ failure }: ToolLayerError): Fault[] => failure.details?.['faults'] as Fault[];

test('REG-02.15 a folder with SKILL.md becomes one manifest with everything that it says', () => {
  const front = [
    'name: PDF forms',
    'description: >',
    '  Fills forms.',
    'version: "1.2"',
    'license: MIT',
    'allowed-tools: Read, Bash(git add:*) Write',
    'tags: [documents]',
    'argument-hint: a file',
    'metadata:',
    '  author: someone',
  ].join('\n');
  const body = '# How\n\n---\nUse `scripts/fill.py`.\n';
  const script = '#!/usr/bin/env python3\n';
  const files = [
    file('scripts/fill.py', script),
    file('SKILL.md', skill(front, body)),
    file('form.pdf', Uint8Array.of(0, 255)),
    file('run', '', { executable: true }),
  ];
  const { manifests, skipped, source } = importSkills(files);
  expect([source, skipped]).toEqual(['skill', []]);
  const [manifest] = manifests;
  expect(manifest).toMatchObject({
    tool_id: 'skill__PDF_forms',
    tool_name: 'PDF forms',
    version: '1.2.0',
    description: 'Fills forms.',
    tags: ['skill', 'documents'],
    side_effect_policy: 'irreversible',
    executor: { kind: 'skill' },
  });
  expect(manifest?.executor.config).toEqual({
    entry: 'SKILL.md',
    instructions: body,
    files: [
      { path: 'SKILL.md', sha256: sha256(skill(front, body)), bytes: Buffer.byteLength(skill(front, body)) },
      { path: 'form.pdf', sha256: sha256(Uint8Array.of(0, 255)), bytes: 2 },
      { path: 'run', sha256: sha256(''), bytes: 0 },
      { path: 'scripts/fill.py', sha256: sha256(script), bytes: script.length },
    ],
    scripts: ['run', 'scripts/fill.py'],
    allowed_tools: ['Read', 'Bash(git add:*)', 'Write'],
    license: 'MIT',
    metadata: { 'argument-hint': 'a file', author: 'someone' },
  });
  expect(manifest?.parameters_schema['properties']).toMatchObject({ script: { enum: ['run', 'scripts/fill.py'] } });
  const schemas = createSchemaValidator();
  const checkPackage = wireCheck(SkillPackage, 'E3008', '/executor/config');
  const checks = {
    compileSchema: schemas.inspect,
    configFaults: ({ executor }: ToolManifest) => checkPackage(executor.config ?? {}),
  };
  expect(checkManifest(manifest, checks)).toEqual(JSON.parse(JSON.stringify(manifest)));
});

test('the same files give the same manifest, in whatever order, and a changed file another', () => {
  const files = [file('SKILL.md', GOOD), file('a.sh', 'ls'), file('b.sh', 'ls')];
  const text = (given: SkillFile[]): string => JSON.stringify(importSkills(given).manifests);
  expect(text(files.toReversed())).toBe(text(files));
  expect(text([...files.slice(0, 2), file('b.sh', 'cat')])).not.toBe(text(files));
});

test('a folder of skills gives each; files belong to the innermost, bad ones and strays are listed', () => {
  const { manifests, skipped } = importSkills([
    file('pdf/SKILL.md', GOOD),
    file('pdf/deep/x.py'),
    file('web/skill.md', skill('name: web\ndescription: W.')),
    file('twice/SKILL.md', GOOD),
    file('bad/SKILL.md', 'no front matter'),
    file('README.md', 'x'),
  ]);
  expect(manifests.map(({ tool_id }) => tool_id)).toEqual(['skill__pdf', 'skill__web']);
  expect(manifests[0]?.executor.config).toMatchObject({ scripts: ['deep/x.py'] });
  expect(skipped.map(({ place }) => place)).toEqual(['twice/SKILL.md', 'bad/SKILL.md', 'README.md']);
  expect(skipped[1]?.reason).toContain('must begin with a front matter');
});

describe('front matter', () => {
  test('may end in CRLF, begin after a byte order mark, and leave the body empty', () => {
    const text = '\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\n';
    expect(configOf([file('SKILL.md', text)]).instructions).toBe('');
  });

  test('every fault is told at once', () => {
    expect(faultsIn(refusal([file('SKILL.md', skill('license: MIT\nname: [1]'))])).map(({ path }) => path)).toEqual([
      '/SKILL.md/name',
      '/SKILL.md/description',
    ]);
  });

  test('that is missing, unfinished, no YAML or no mapping is refused', () => {
    for (const [text, reason] of [
      ['', 'must begin with a front matter'],
      ['# Title\n', 'must begin with a front matter'],
      ['---\nname: a\n', 'must begin with a front matter'],
      [skill('name: [a'), 'is no YAML'],
      [skill('- a'), 'no mapping'],
      [skill('plain text'), 'no mapping'],
      [skill('__proto__: {x: 1}\nname: a\ndescription: b'), '__proto__'],
    ] as const) {
      expect(refusal([file('SKILL.md', text)]).message, text).toContain(reason);
    }
  });

  test('brackets that are never closed belong to no tool', () => {
    const brackets = skill(`name: x\ndescription: y\nallowed-tools: "${'('.repeat(60_000)}Read"`);
    const [manifest] = importSkills([file('SKILL.md', brackets)]).manifests;
    expect(JSON.stringify(manifest?.executor.config)).toContain('["Read"]');
  });

  test('a bomb of aliases and a huge one are refused', () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...Array.from('bcdefgh', (name, index) => {
        const before = 'abcdefg'[index];
        return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`;
      }),
    ].join('\n');
    expect(refusal([file('SKILL.md', skill(`name: x\ndescription: y\n${bomb}`))]).code).toBe('E3008');
    const circle = 'name: x\ndescription: y\nmetadata: &m\n  self: *m';
    expect(refusal([file('SKILL.md', skill(circle))]).message).toContain('leads back');
    expect(refusal([file('SKILL.md', skill(`name: ${'x'.repeat(70_000)}`))]).message).toContain('more than 65536');
  });
});

describe('files', () => {
  test('whose paths lead elsewhere or say the same twice are refused, all of them at once', () => {
    const bad = [
      '../x',
      'a/../../x',
      '/etc/passwd',
      'a\\b',
      'C:x',
      'a//b',
      './a',
      'a/.',
      '',
      'nul\0',
      'SKILL.md/',
      'x'.repeat(513),
    ];
    const faults = faultsIn(refusal([file('SKILL.md', GOOD), ...bad.map((path) => file(path))]));
    expect(faults.map(({ path }) => path)).toEqual(bad.map((_, index) => `/files/${index + 1}/path`));
    expect(refusal([file('SKILL.md', GOOD), file('skill.md', GOOD)]).message).toContain('in the list already');
    expect(importSkills([file('SKILL.md', GOOD), file('..x/...y')]).manifests).toHaveLength(1);
  });

  test('too many or too large are refused, at the bound they pass', () => {
    const many = (count: number) => [
      file('SKILL.md', GOOD),
      ...Array.from({ length: count - 1 }, (_, index) => file(`f${index}`)),
    ];
    expect(importSkills(many(512)).manifests).toHaveLength(1);
    expect(refusal(many(513)).message).toContain('more than 512');
    expect(refusal(many(10_000)).message).toContain('holds 10000 files');
    const large = new Uint8Array(8_388_608 - GOOD.length);
    expect(importSkills([file('SKILL.md', GOOD), file('x', large)]).manifests).toHaveLength(1);
    expect(refusal([file('SKILL.md', GOOD), file('x', large), file('y', 'z')]).message).toContain('more than 8388608');
    expect(refusal([file('SKILL.md', skill('name: a', 'x'.repeat(524_288)))]).message).toContain('more than 524288');
  });

  test('without a SKILL.md, or with one that is no text, are refused', () => {
    expect(refusal([file('README.md')]).message).toContain('holds no SKILL.md');
    expect(refusal([file('SKILL.md', Uint8Array.of(0xff, 0xfe))]).message).toContain('no text in UTF-8');
  });
});
