import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { trustWith } from './gates.fixture.ts';

const LEVELS = ['untrusted', 'provisional', 'trusted'] as const;
const EFFECTS = ['pure', 'idempotent', 'compensatable', 'irreversible'] as const;

const tool = (tool_id: string) => ({ tool_id }) as ToolManifest;

describe('the trust of a call', () => {
  test('PRM-06 is the least of what the agent and the source of the tool are trusted', () => {
    const rules = trustWith({ sources: ['odd__=untrusted', 'known__=provisional'] });
    const effective = (id: string) => LEVELS.map((level) => rules.effective(level, tool(id)));
    expect(effective('odd__tool')).toEqual(['untrusted', 'untrusted', 'untrusted']);
    expect(effective('known__tool')).toEqual(['untrusted', 'provisional', 'provisional']);
    expect(effective('own')).toEqual(['untrusted', 'provisional', 'trusted']);
  });

  test('of a source goes by the longest prefix, and a star is every tool', () => {
    const rules = trustWith({ sources: ['*=untrusted', 'a__*=provisional', 'a__safe=trusted'] });
    const levels = ['b__x', 'a__x', 'a__safe', 'a__safer'].map((id) => rules.effective('trusted', tool(id)));
    expect(levels).toEqual(['untrusted', 'provisional', 'trusted', 'trusted']);
  });

  test('PRM-06 of a call is never more than the call asks for', () => {
    for (const rules of [trustWith(), trustWith({ sources: ['a__=provisional'] })])
      expect(LEVELS.map((asked) => rules.effective('provisional', tool('a__x'), asked))).toEqual([
        'untrusted',
        'provisional',
        'provisional',
      ]);
  });

  test('PRM-06 of a source is written with or without spaces, and a name may have an equals sign', () => {
    const rules = trustWith({ sources: [' a__ = provisional ', 'b=c__=untrusted'] });
    const levels = ['a__x', 'b=c__x', 'b'].map((id) => rules.effective('trusted', tool(id)));
    expect(levels).toEqual(['provisional', 'untrusted', 'trusted']);
    const known = tool('a__x');
    expect([1, 2].map(() => rules.effective('trusted', known))).toEqual(['provisional', 'provisional']);
  });

  test('PRM-06 of an agent of whom nothing is said is none', () => {
    expect(trustWith().effective(undefined, tool('x'))).toBe('untrusted');
  });
});

describe('what runs without confirmation', () => {
  test('PRM-06.1 goes by level and side effect', () => {
    const rules = trustWith();
    const runs = LEVELS.map((level) => EFFECTS.filter((effect) => rules.runsUnconfirmed(level, effect)));
    expect(runs).toEqual([['pure'], ['pure', 'idempotent'], EFFECTS]);
  });

  test('can be set for each level', () => {
    const rules = trustWith({ unconfirmed: ['untrusted=', 'provisional=pure + compensatable'] });
    const runs = LEVELS.map((level) => EFFECTS.filter((effect) => rules.runsUnconfirmed(level, effect)));
    expect(runs).toEqual([[], ['pure', 'compensatable'], EFFECTS]);
  });
});

test('PRM-09 what becomes of an autonomous call that needs a confirmation is a setting', () => {
  expect(trustWith().autonomous).toBe('refuse');
  expect(trustWith({ autonomous: 'allow' }).autonomous).toBe('allow');
});

const SOURCE = 'is not written like github__=provisional';
const LEVEL = 'there are untrusted, provisional, trusted';
const EFFECT = 'there are pure, idempotent, compensatable, irreversible';
test.each([
  ['sources', ['github__'], 'github__', SOURCE],
  ['sources', ['=trusted'], '=trusted', SOURCE],
  ['sources', ['a__=friend'], 'a__=friend', `holds "friend"; ${LEVEL}`],
  ['sources', ['a__=trusted', 'a__*=untrusted'], 'a__*=untrusted', 'says twice how far this source is trusted'],
  ['unconfirmed', ['trusted'], 'trusted', 'is not written like provisional=pure+idempotent'],
  ['unconfirmed', ['trusted=pure+harmless'], 'trusted=pure+harmless', `holds "harmless"; ${EFFECT}`],
  ['unconfirmed', ['friend=pure'], 'friend=pure', `holds "friend"; ${LEVEL}`],
])('PRM-06 trust.%s %j is refused and says what to write', (setting, entries, entry, what) => {
  expect(() => trustWith({ [setting]: entries })).toThrow(
    expect.objectContaining({ code: 'E3801', message: `The entry "${entry}" of trust.${setting} ${what}.` }),
  );
});
