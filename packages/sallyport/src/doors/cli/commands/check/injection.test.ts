import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

describe('check injection', () => {
  let cli: CliBench;
  beforeEach(async () => {
    cli = await createCliBench();
  });
  afterEach(() => cli.remove());

  test('ends with 0 for a clean text and with 1 for an attack', async () => {
    expect(await cli.run(['check', 'injection'], { stdin: "Rock 'n' Roll" })).toMatchObject({ code: 0 });
    const { code, out } = await cli.run(['check', 'injection'], { stdin: "x' or 1=1--" });
    expect(code).toBe(1);
    expect(out).toContain('sql_injection');
  });

  test('names the place within JSON', async () => {
    const stdin = JSON.stringify({ rows: [{ note: 'a <script>' }] });
    const { code, out } = await cli.run(['check', 'injection', '--json'], { stdin });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      clean: false,
      findings: [{ threat: 'xss', rule: 'active_element', start: 2, end: 9, path: '/rows/0/note', text: '<script' }],
    });
  });

  test('takes what is no JSON as text, and a profile', async () => {
    expect(await cli.run(['check', 'injection'], { stdin: '{not json' })).toMatchObject({ code: 0 });
    const strict = ['check', 'injection', '--profile', 'strict'];
    expect(await cli.run(strict, { stdin: '<b>two</b>' })).toMatchObject({ code: 1 });
    expect(await cli.run(['check', 'injection', '--profile', 'odd'], { stdin: '' })).toMatchObject({ code: 2 });
  });
});
