import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolSearchResponse } from '../../../../../api/schemas/registry/search.ts';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;

beforeEach(async () => {
  bench = await createCliBench();
});

afterEach(async () => {
  expect(bench.open()).toBe(0);
  await bench.remove();
});

const tool = {
  tool_id: 'mail',
  tool_name: 'Mail',
  description: 'Sends mail.',
  category: '',
  versions: ['1.0.0'],
  latest_version: '1.0.0',
  tags: [],
  requires_approval: false,
  executor: 'native',
} as const;

function answerWith(more: Partial<ToolSearchResponse>): void {
  bench.layer.answers.set('tools.search', () => ({
    results: [{ tool: { ...tool, versions: ['1.0.0'], tags: [] }, score: 1, similarity: 0.834 }],
    pagination: { total_count: 1, page: 1, page_size: 10 },
    mode: 'hybrid',
    warnings: [],
    ...more,
  }));
}

describe('tools search', () => {
  it('shows what was found, best first', async () => {
    answerWith({});
    const { out } = await bench.run(['tools', 'search', 'write', 'a letter', '--tag', 'a', '--threshold', '0.5']);
    expect(out).toBe(
      'TOOL  VERSION  SIMILARITY  EXECUTOR  DESCRIPTION\nmail  1.0.0    0.83        native    Sends mail.\n',
    );
    expect(bench.layer.asked.at(-1)?.input).toEqual({
      query: 'write a letter',
      tags: ['a'],
      threshold: 0.5,
      page: 1,
      page_size: 10,
    });
  });

  it('says when meaning could not be asked for, when tools are still read, and when there is more', async () => {
    answerWith({
      mode: 'keyword',
      warnings: [{ code: 'E3005', message: 'Found by keywords only.' }],
      progress: { indexed: 1, pending: 7, failed: 0 },
      pagination: { total_count: 30, page: 2, page_size: 10 },
    });
    const { err } = await bench.run(['tools', 'search', 'letter', '--page', '2']);
    expect(err).toContain('E3005 Found by keywords only.');
    expect(err).toContain('7 tools are found by words only');
    expect(err).toContain('--page 3 shows more');
  });

  it('says so when nothing was found, and gives everything as JSON', async () => {
    answerWith({ results: [] });
    expect((await bench.run(['tools', 'search', 'x'])).err).toContain('No tool was found');
    expect(JSON.parse((await bench.run(['tools', 'search', 'x', '--json'])).out)).toMatchObject({ results: [] });
  });

  it('refuses a similarity that is none', async () => {
    for (const wrong of ['1.01', '-0.1', 'much', '']) {
      const { code, err } = await bench.run(['tools', 'search', 'x', `--threshold=${wrong}`]);
      expect([code, err.includes('0 to 1')], wrong).toEqual([2, true]);
    }
    answerWith({});
    for (const right of ['0', '1'])
      expect((await bench.run(['tools', 'search', 'x', `--threshold=${right}`])).code).toBe(0);
  });
});
