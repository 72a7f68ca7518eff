import { setTimeout as sleep } from 'node:timers/promises';
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';
import { PNG, WAV } from './media.ts';
import SCHEMA_2020_12 from './schema-2020-12.json' with { type: 'json' };

const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const embedded = (uri: string, mimeType: string, said: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: said } }) as const;

/** Registers the tools that return fixed content of each kind. */
export function registerContentTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Returns a text.' }, () => ({
    content: [text('This is a simple text response for testing.')],
  }));
  server.registerTool('test_image_content', { description: 'Returns an image.' }, () => ({ content: [IMAGE] }));
  server.registerTool('test_audio_content', { description: 'Returns a sound.' }, () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }));
  server.registerTool('test_embedded_resource', { description: 'Returns a resource.' }, () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  server.registerTool('test_multiple_content_types', { description: 'Returns content of several kinds.' }, () => ({
    content: [
      text('Multiple content types test:'),
      IMAGE,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }));
  server.registerTool('test_error_handling', { description: 'Always fails.' }, () => ({
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  }));
}

const PAUSE_MS = 50;

/** Registers the tool that reports its progress. */
export function registerProgressTool(server: McpServer): void {
  server.registerTool('test_tool_with_progress', { description: 'Reports its progress.' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
        });
      }
      await sleep(PAUSE_MS);
    }
    return { content: [text('Done.')] };
  });
}

/** Registers the tools that send log messages. */
export function registerLoggingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs what it does.' }, async ({ mcpReq }) => {
    for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', step);
      await sleep(PAUSE_MS);
    }
    return { content: [text('Logged.')] };
  });
  server.registerTool('test_logging_tool', { description: 'Logs to nobody.' }, async ({ mcpReq }) => {
    await mcpReq.log('emergency', 'Nobody may see this.');
    return { content: [text('Logged.')] };
  });
}

let changes = 0;

/** Registers the tools that change what the server lists. */
export function registerChangingTools(server: McpServer): void {
  server.registerTool('test_trigger_tool_change', { description: 'Adds a tool.' }, () => {
    changes += 1;
    server.registerTool(`test_added_${changes}`, { description: 'Was added.' }, () => ({ content: [text('Added.')] }));
    return { content: [text('Changed.')] };
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Adds a prompt.' }, () => {
    changes += 1;
    server.registerPrompt(`test_added_${changes}`, { description: 'Was added.' }, () => ({ messages: [] }));
    return { content: [text('Changed.')] };
  });
}

/** Registers the tool whose schema uses what JSON Schema 2020-12 added. */
export function registerSchemaTool(server: McpServer): void {
  const description = 'Tool with JSON Schema 2020-12 features';
  const inputSchema = fromJsonSchema<Record<string, unknown>>(SCHEMA_2020_12);
  server.registerTool('json_schema_2020_12_tool', { description, inputSchema }, (given) => ({
    content: [text(JSON.stringify(given))],
  }));
}
