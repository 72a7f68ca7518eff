import { expect, test } from 'vitest';
import type { HttpParameter } from '../../../registry/http-operation.ts';
import { callOf } from '../../conformance/executor-call.fixture.ts';
import { planOf } from '../request/plan.ts';
import { type Pagination, paginationOf } from './pagination.ts';

const query = (name: string): HttpParameter => ({
  property: `the_${name}`,
  name,
  in: 'query',
  style: 'form',
  explode: true,
});

function hint(body: unknown, headers: Record<string, string> = {}, names = ['page', 'size']): Pagination | undefined {
  const config = { base_url: 'https://api.example.com', method: 'GET', path: '/pets', parameters: names.map(query) };
  const properties = { the_page: { type: 'integer' }, the_size: { type: 'integer' }, the_cursor: { type: 'string' } };
  const call = callOf({ executor: { kind: 'http', config }, parameters_schema: { type: 'object', properties } });
  return paginationOf({
    answer: { status: 200, headers },
    body,
    url: new URL('https://api.example.com/pets?size=10'),
    plan: planOf(call.tool, 'test'),
    call,
    hide: (text) => text.replaceAll('s3cret', '[hidden]'),
  });
}

const NEXT = 'https://api.example.com/pets?size=10&page=2';

test.each([
  [`<${NEXT}>; rel="next", <${NEXT}0>; rel="last"`, true],
  [`<${NEXT}0>; rel=last, </pets?size=10&page=2>; title="a, b"; rel="prev next"`, true],
  [`<${NEXT}>; rel="prev"`, false],
  [`<${NEXT}>`, false],
  ['garbage', false],
])('EXE-06 the link %s', (link, isNext) => {
  expect(hint([], { link })).toEqual(isNext ? { next_url: NEXT, next_arguments: { the_page: 2 } } : undefined);
});

test.each([
  [{ next: NEXT }, { next_url: NEXT, next_arguments: { the_page: 2 } }],
  [{ '@odata.nextLink': NEXT }, { next_url: NEXT, next_arguments: { the_page: 2 } }],
  [{ _links: { next: { href: '/pets?size=10&page=2' } } }, { next_url: NEXT, next_arguments: { the_page: 2 } }],
  [{ next: 'https://other.example.com/pets?page=2' }, { next_url: 'https://other.example.com/pets?page=2' }],
  [{ meta: { next_page: 3, total_count: 99 } }, { next_cursor: '3', next_arguments: { the_page: 3 }, total: 99 }],
  [{ has_more: true }, { has_more: true }],
  [{ has_more: false, next_cursor: 'abc' }, { has_more: false }],
  [{ data: [{ next: NEXT }] }, undefined],
  [{ next: null, next_cursor: '' }, undefined],
  [{ next: 'x'.repeat(3000) }, undefined],
  [{ total: 5 }, undefined],
  ['text', undefined],
  [undefined, undefined],
])('EXE-06 the body %j', (body, expected) => expect(hint(body)).toEqual(expected));

test.each([
  [
    { response_metadata: { next_cursor: 'abc=' } },
    ['cursor'],
    { next_cursor: 'abc=', next_arguments: { the_cursor: 'abc=' } },
  ],
  [
    { pageInfo: { hasNextPage: true, endCursor: 'e' } },
    ['after'],
    { has_more: true, next_cursor: 'e', next_arguments: { the_after: 'e' } },
  ],
  [{ pageInfo: { hasNextPage: false, endCursor: 'e' } }, ['after'], { has_more: false }],
  [{ nextPageToken: 't' }, ['pageToken', 'size'], { next_cursor: 't', next_arguments: { the_pageToken: 't' } }],
  [{ paging: { cursors: { after: 'c' } } }, ['after'], { next_cursor: 'c', next_arguments: { the_after: 'c' } }],
  [{ next_token: 't' }, ['cursor', 'marker'], { next_cursor: 't' }],
] as const)('EXE-06 the cursor in %j with parameters %j', (body, names, expected) => {
  expect(hint(body, {}, [...names])).toEqual(expected);
});

test('a secret in a link is hidden', () => {
  expect(JSON.stringify(hint([], { link: `<${NEXT}&key=s3cret>; rel=next` }))).not.toContain('s3cret');
});
