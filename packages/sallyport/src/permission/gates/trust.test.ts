import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { createTrustRules } from '../trust.ts';

const LEVELS = ['untrusted', 'provisional', 'trusted'] as const;
const EFFECTS = ['pure', 'idempotent', 'compensatable', 'irreversible'] as const;

const tool = (tool_id: string) => ({ tool_id }) as ToolManifest;

describe('the trust of a call', () => {
  test('PRM-06 is the least of what the agent and the source of the tool are trusted', () => {
    const rules = createTrustRules({ sources: ['odd__=untrusted', 'known__=provisional'] });
    const effective = (id: string) => LEVELS.map((level) => rules.effective(level, tool(id)));
    expect(effective('odd__tool')).toEqual(['untrusted', 'untrusted', 'untrusted']);
    expect(effective('known__tool')).toEqual(['untrusted', 'provisional', 'provisional']);
    expect(effective('own')).toEqual(['untrusted', 'provisional', 'trusted']);
  });

  test('of a source goes by the longest prefix, and a star is every tool', () => {
    const rules = createTrustRules({ sources: ['*=untrusted', 'a__*=provisional', 'a__safe=trusted'] });
    const levels = ['b__x', 'a__x', 'a__safe', 'a__safer'].map((id) => rules.effective('trusted', tool(id)));
    expect(levels).toEqual(['untrusted', 'provisional', 'trusted', 'trusted']);
  });

  test('PRM-06 of an agent of whom nothing is said is none', () => {
    expect(createTrustRules().effective(undefined, tool('x'))).toBe('untrusted');
  });
});

describe('what runs without confirmation', () => {
  test('PRM-06.1 goes by level and side effect', () => {
    const rules = createTrustRules();
    const runs = LEVELS.map((level) => EFFECTS.filter((effect) => rules.runsUnconfirmed(level, effect)));
    expect(runs).toEqual([['pure'], ['pure', 'idempotent'], EFFECTS]);
  });

  test('can be set for each level', () => {
    const rules = createTrustRules({ unconfirmed: ['untrusted=', 'provisional=pure + compensatable'] });
    const runs = LEVELS.map((level) => EFFECTS.filter((effect) => rules.runsUnconfirmed(level, effect)));
    expect(runs).toEqual([[], ['pure', 'compensatable'], EFFECTS]);
  });
});

test.each([
  [{ sources: ['github__'] }, 'github__=provisional'],
  [{ sources: ['=trusted'] }, 'not written like'],
  [{ sources: ['a__=friend'] }, 'untrusted, provisional, trusted'],
  [{ sources: ['a__=trusted', 'a__*=untrusted'] }, 'twice'],
  [{ unconfirmed: ['trusted=harmless'] }, 'irreversible'],
  [{ unconfirmed: ['friend=pure'] }, 'untrusted'],
])('%j is refused and says what to write', (settings, said) => {
  expect(() => createTrustRules(settings)).toThrow(said);
});
