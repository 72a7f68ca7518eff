/** A call of a server's tool. */
export interface ServerCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A published server: its entry in a desktop configuration, and three calls. */
export interface PublishedServer {
  /** Path of the server's program below the installed packages. */
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly calls: readonly [ServerCall, ServerCall, ServerCall];
}

const call = (tool: string, args: ServerCall['args'] = {}): ServerCall => ({ tool, args });
const OFFICIAL = '@modelcontextprotocol/server';
const ENTITY = { name: 'Ada', entityType: 'person', observations: ['wrote programs', 'knew Babbage'] };
const KNOWS = { from: 'Ada', to: 'Babbage', relationType: 'knows' };
const SCENARIO = { startingMRR: 1000, monthlyGrowthRate: 5, monthlyChurnRate: 2, grossMargin: 80, fixedCosts: 500 };
const THOUGHT = { thought: 'First look, then act.', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true };
const TOOLS_THOUGHT = {
  available_mcp_tools: ['search'],
  thought: 'First look, then act.',
  thought_number: 1,
  total_thoughts: 2,
  next_thought_needed: true,
};

/**
 * Twenty servers of the npm registry that need neither a network nor credentials, written with five different
 * libraries, for protocols from 2024-11-05 on. They write only to the scratch space of their sandbox.
 * @param folder folder with files that the servers read
 */
export function publishedServers(folder: string): Readonly<Record<string, PublishedServer>> {
  return {
    everything: {
      program: `${OFFICIAL}-everything/dist/index.js`,
      calls: [
        call('get-structured-content', { location: 'Chicago' }),
        call('get-annotated-message', { messageType: 'error', includeImage: true }),
        call('get-resource-links', { count: 3 }),
      ],
    },
    filesystem: {
      program: `${OFFICIAL}-filesystem/dist/index.js`,
      args: [folder],
      calls: [
        call('read_text_file', { path: `${folder}/page.html` }),
        call('list_directory', { path: folder }),
        call('read_text_file', { path: `${folder}/missing` }),
      ],
    },
    memory: {
      program: `${OFFICIAL}-memory/dist/index.js`,
      env: { MEMORY_FILE_PATH: '/tmp/memory.jsonl' },
      calls: [
        call('create_entities', { entities: [ENTITY] }),
        call('search_nodes', { query: 'babbage' }),
        call('read_graph'),
      ],
    },
    'sequential-thinking': {
      program: `${OFFICIAL}-sequential-thinking/dist/index.js`,
      calls: [
        call('sequentialthinking', THOUGHT),
        call('sequentialthinking', { ...THOUGHT, thoughtNumber: 2, nextThoughtNeeded: false }),
        call('sequentialthinking', { ...THOUGHT, branchFromThought: 1, branchId: 'b' }),
      ],
    },
    ...appServers(),
    ...developerServers(folder),
    ...noteServers(),
  };
}

/** Servers with user interfaces (MCP Apps): their tools carry `_meta`. */
function appServers(): Readonly<Record<string, PublishedServer>> {
  const app = (name: string, ...calls: PublishedServer['calls']): PublishedServer => ({
    program: `${OFFICIAL}-${name}/dist/index.js`,
    args: ['--stdio'],
    calls,
  });
  const score = 'X:1\nT:Scale\nM:4/4\nL:1/4\nK:C\nC D E F | G A B c |';
  const shader =
    'void mainImage(out vec4 fragColor, in vec2 fragCoord) {\n  fragColor = vec4(fragCoord / iResolution.xy, 0.0, 1.0);\n}';
  return {
    budget: app('budget-allocator', call('get-budget-data'), call('get-budget-data'), call('get-budget-data', {})),
    customers: app(
      'customer-segmentation',
      call('get-customer-data', { segment: 'Nobody' }),
      call('get-customer-data', { segment: 1 }),
      call('get-customer-data', { segment: null }),
    ),
    scenario: app(
      'scenario-modeler',
      call('get-scenario-data'),
      call('get-scenario-data', { customInputs: SCENARIO }),
      call('get-scenario-data', { customInputs: {} }),
    ),
    shadertoy: app(
      'shadertoy',
      call('render-shadertoy'),
      call('render-shadertoy', { fragmentShader: shader }),
      call('render-shadertoy', { fragmentShader: shader, common: '#define PI 3.14159' }),
    ),
    'sheet-music': app(
      'sheet-music',
      call('play-sheet-music'),
      call('play-sheet-music', { abcNotation: score }),
      call('play-sheet-music', { abcNotation: '' }),
    ),
    vanillajs: app('basic-vanillajs', call('get-time'), call('get-time', {}), call('get-time', { zone: 'UTC' })),
    video: app(
      'video-resource',
      call('play_video'),
      call('play_video', { videoId: 'bunny-5mb' }),
      call('play_video', { videoId: 'none' }),
    ),
  };
}

function developerServers(folder: string): Readonly<Record<string, PublishedServer>> {
  return {
    eslint: {
      program: '@eslint/mcp/src/mcp-cli.js',
      calls: [
        call('lint-files', { filePaths: [`${folder}/missing.js`] }),
        call('lint-files', { filePaths: [] }),
        call('lint-files', { filePaths: ['/tmp/none.ts', '/tmp/none.js'] }),
      ],
    },
    knip: {
      program: '@knip/mcp/src/cli.js',
      calls: [
        call('knip-docs', { topic: 'explanations/plugins' }),
        call('knip-docs', { topic: 'nothing' }),
        call('knip-run', { cwd: '/tmp/none' }),
      ],
    },
    calc: {
      program: '@coo-quack/calc-mcp/dist/index.js',
      calls: [
        call('math', { expression: '12345679 * 9 / 0.3' }),
        call('hash', { input: 'Ünïcode ✓ <b>&amp;</b>', algorithm: 'sha256' }),
        call('regex', { pattern: '(\\w+)@(\\w+)', text: 'a@b, c@d', action: 'matchAll' }),
      ],
    },
    time: {
      program: 'time-mcp/dist/index.js',
      calls: [
        call('days_in_month', { date: '2024-02-10' }),
        call('get_week_year', { date: '2025-03-23' }),
        call('convert_time', { sourceTimezone: 'Asia/Tokyo', targetTimezone: 'UTC', time: '2025-03-23 12:00:00' }),
      ],
    },
    git: {
      program: '@cyanheads/git-mcp-server/dist/index.js',
      calls: [
        call('git_init', { path: '/tmp/repository' }),
        call('git_branch', { path: '/tmp/repository', mode: 'list' }),
        call('git_log', { path: '/tmp/repository' }),
      ],
    },
  };
}

function noteServers(): Readonly<Record<string, PublishedServer>> {
  const note = { projectName: 'p', fileName: 'n.md', content: '# Title\n\n- "quoted" & <b>bold</b> `code` $HOME\n' };
  const plan = { originalRequest: 'Cook', tasks: [{ title: 'Shop', description: 'Buy <fresh> things & more.' }] };
  return {
    tasks: {
      program: '@kazuph/mcp-taskmanager/dist/index.js',
      env: { TASK_MANAGER_FILE_PATH: '/tmp/tasks.json' },
      calls: [
        call('request_planning', plan),
        call('get_next_task', { requestId: 'req-1' }),
        call('get_next_task', { requestId: 'req-9' }),
      ],
    },
    graph: {
      program: '@itseasy21/mcp-knowledge-graph/dist/index.js',
      args: ['--memory-path', '/tmp/graph.jsonl'],
      calls: [
        call('create_entities', { entities: [ENTITY] }),
        call('create_relations', { relations: [KNOWS] }),
        call('open_nodes', { names: ['Ada'] }),
      ],
    },
    bank: {
      program: '@allpepper/memory-bank-mcp/dist/main/index.js',
      env: { MEMORY_BANK_ROOT: '/tmp/bank' },
      calls: [
        call('memory_bank_write', note),
        call('memory_bank_read', { projectName: 'p', fileName: 'n.md' }),
        call('memory_bank_read', { projectName: 'none', fileName: 'n.md' }),
      ],
    },
    'thinking-tools': {
      program: 'mcp-sequentialthinking-tools/dist/index.js',
      calls: [
        call('sequentialthinking_tools', TOOLS_THOUGHT),
        call('sequentialthinking_tools', { ...TOOLS_THOUGHT, thought_number: 2, next_thought_needed: false }),
        call('sequentialthinking_tools', { ...TOOLS_THOUGHT, is_revision: true, revises_thought: 1 }),
      ],
    },
  };
}
