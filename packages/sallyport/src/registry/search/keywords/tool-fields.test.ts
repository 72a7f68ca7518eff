import { expect, test } from 'vitest';
import { tool } from '../search.fixture.ts';
import { keywordFields, parametersOf } from './tool-fields.ts';

test('REG-05 id, name, description, tags and parameters are searched', () => {
  const { manifest } = tool('github__create_issue', 'Opens a ticket.', {
    tool_name: 'Create issue',
    tags: ['bugs'],
    parameters_schema: { type: 'object', properties: { title: { description: 'Headline of it' } } },
  });
  expect(keywordFields(manifest).map(({ text }) => text)).toEqual([
    'github__create_issue',
    'Create issue',
    'Opens a ticket.',
    'bugs',
    'title',
    'Headline of it',
  ]);
});

test('nested parameters are found, however they are nested', () => {
  const inner = { type: 'object', properties: { deep: { description: 'd' } } };
  const schema = (property: unknown) =>
    ({ type: 'object', properties: { outer: property } }) as Record<string, unknown>;
  for (const property of [inner, { type: 'array', items: inner }, { anyOf: [{ type: 'null' }, inner] }]) {
    const names = parametersOf({ parameters_schema: schema(property) }).map(({ name }) => name);
    expect(names).toEqual(['outer', 'deep']);
  }
});

test('a schema that is large, deep or no schema costs little and breaks nothing', () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, {}]));
  expect(parametersOf({ parameters_schema: { properties: wide } })).toHaveLength(128);
  let deep: Record<string, unknown> = {};
  for (let at = 0; at < 1000; at += 1) deep = { properties: { inner: deep } };
  expect(parametersOf({ parameters_schema: deep })).toHaveLength(6);
  for (const odd of [{ properties: null }, { properties: [1] }, { items: 7 }, { properties: { a: true } }]) {
    expect(parametersOf({ parameters_schema: odd }).every(({ description }) => description === '')).toBe(true);
  }
});

test('of a long text only the beginning is read', () => {
  const { manifest } = tool('a', 'word '.repeat(1_000_000));
  for (const { text } of keywordFields(manifest)) expect(text.length).toBeLessThanOrEqual(4096);
});
