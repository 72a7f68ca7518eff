import { expect, test } from 'vitest';
import { cutText, releaseOf, TOOL_ID_CHARS_MAX, toolIdOf } from './tool-ids.ts';

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9_])?$/;

test('a name becomes an id that is the same each time and fits every door', () => {
  for (const name of [
    'add',
    'brave-search',
    'a/b',
    '../../etc/passwd',
    '🙂',
    'é',
    'x.',
    '',
    '_',
    'Größe (cm)',
    '__proto__',
  ]) {
    expect(toolIdOf('src', name), name).toMatch(ID);
    expect(toolIdOf(undefined, name), name).toMatch(ID);
    expect(toolIdOf('src', name)).toBe(toolIdOf('src', name));
  }
  expect(toolIdOf('src', 'brave-search')).toBe('src__brave-search');
  expect(toolIdOf(undefined, 'a/b')).toBe('a_b');
  expect(toolIdOf('src', `--a${'-'.repeat(1_000_000)}`)).toBe('src__a');
});

test('names without a single usable character stay apart, long ones too', () => {
  expect(toolIdOf('src', '🙂')).not.toBe(toolIdOf('src', '🙃'));
  const long = 'x'.repeat(100);
  expect(toolIdOf('src', `${long}a`)).toHaveLength(TOOL_ID_CHARS_MAX);
  expect(toolIdOf('src', `${long}a`)).not.toBe(toolIdOf('src', `${long}b`));
  expect(toolIdOf(undefined, long)).toHaveLength(64);
  for (const chars of [30, 36, 37, 38, 40]) {
    const [one, other] = [`${long}a`, `${long}b`].map((name) => toolIdOf('s'.repeat(chars), name));
    expect(one).toMatch(new RegExp(`^s{${chars}}__`));
    expect(one?.length).toBeLessThanOrEqual(TOOL_ID_CHARS_MAX);
    expect(one).not.toBe(other);
  }
});

test('REG-02 an id fits what providers take of a name behind the prefix that a client puts before it', () => {
  for (const prefix of ['mcp__sallyport__', 'sallyport:']) {
    expect(`${prefix}${toolIdOf('some-service', 'x'.repeat(200))}`.length).toBeLessThanOrEqual(64);
  }
});

test('REG-02 a longer id of an earlier release is kept where a tool is registered under it', () => {
  const name = 'create_a_pull_request_review_comment_thread';
  const former = `github__${name}`;
  expect(toolIdOf('github', name, (id) => id === former)).toBe(former);
  expect(toolIdOf('github', name, () => false)).toMatch(/^github__create_a_pull_request_rev.*_[0-9a-f]{8}$/);
  expect(toolIdOf('github', 'short', () => true)).toBe('github__short');
});

test('any version becomes SemVer', () => {
  expect(['1.2.3', 'v2', '2024-05-01', '1.0', 'beta', ''].map(releaseOf)).toEqual([
    '1.2.3',
    '2.0.0',
    '2024.5.1',
    '1.0.0',
    '1.0.0',
    '1.0.0',
  ]);
});

test('a text is cut between characters', () => {
  expect(cutText('abc', 3)).toBe('abc');
  expect(cutText('ab🙂d', 4)).toBe('ab…');
});
